"""The researcher's API has a schema, the pages' copy of it is this one, and answers follow it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from typer.testing import CliRunner

from server.cli.command_line import cli
from tests.server.support.database import query
from tests.server.support.endpoints import known_schema
from tests.server.support.server import House
from tests.server.support.study import RUN

COPY = Path(__file__).parents[3] / "frontend/src/desk/openapi.json"
STUDIES = Path(__file__).parents[3] / "server/studies"
SCHEMA = known_schema()


def test_the_pages_schema_is_this_apis() -> None:
    """`candor data schema --api` prints it: a difference means that the desk was written for another API."""
    assert json.loads(COPY.read_text(encoding="utf-8")) == SCHEMA


def test_the_command_prints_it() -> None:
    assert json.loads(CliRunner().invoke(cli, ["data", "schema", "--api"]).stdout) == SCHEMA


def test_editors_are_told_what_a_study_file_may_hold() -> None:
    schema = json.loads(CliRunner().invoke(cli, ["data", "schema", "--study"]).stdout)
    fits = jsonschema.validators.validator_for(schema)(schema).is_valid
    demo = yaml.safe_load((STUDIES / "demo.yaml").read_text())
    assert fits(demo)
    assert not fits(demo | {"minimum_input": 3})
    both = CliRunner().invoke(cli, ["data", "schema", "--study", "--api"])
    assert both.exit_code == 2


# What is called by those who have shown no right to anything yet.
WAYS_IN = {
    "/api/account/ways-in",
    "/api/join",
    "/api/account/sign-in",
    "/api/account/link",
    "/api/own-data/download",  # of workers, by the token in the body
    "/api/own-data/withdraw",
    "/api/page-trouble",
}


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in SCHEMA["paths"].items():
        for method, operation in item.items():
            yield path, method, operation


def content(operation: dict[str, Any], status: str) -> dict[str, Any]:
    answers = operation["responses"][status]["content"]
    found: dict[str, Any] = answers.get("application/json", answers.get("text/event-stream"))["schema"]
    return found


@pytest.mark.parametrize(("path", "method", "operation"), list(operations()))
def test_every_call_says_what_it_answers_and_how_it_fails(
    path: str, method: str, operation: dict[str, Any]
) -> None:
    assert content(operation, "default") == {"$ref": "#/components/schemas/ErrorBody"}
    good = next(status for status in operation["responses"] if status != "default")
    if good != "204" and not path.endswith(".csv"):
        assert set(content(operation, good)) == {"$ref"}  # a model, and no free form
    assert path in WAYS_IN or operation["security"] == [{"researcher": []}]


def test_every_call_is_named_once() -> None:
    names = [operation["operationId"] for _, _, operation in operations()]
    assert len(set(names)) == len(names)


def validate(answer: Any, path: str, method: str = "get", status: str = "200") -> None:
    schema = content(SCHEMA["paths"][path][method], status) | {"components": SCHEMA["components"]}
    jsonschema.validate(answer, _closed(schema), format_checker=jsonschema.FormatChecker())


def _closed(node: Any) -> Any:
    """Return a schema that allows no field but those it names, so that none goes undescribed."""
    if isinstance(node, list):
        return [_closed(each) for each in node]
    if not isinstance(node, dict):
        return node
    closed = {key: _closed(value) for key, value in node.items()}
    return closed | {"additionalProperties": False} if "properties" in node else closed


def test_answers_about_runs_follow_it(house: House) -> None:
    with house.page("done") as page:
        page.whole()
    validate(house.desk("/runs").json(), "/api/desk/runs")
    validate(house.desk(f"/runs/{RUN}").json(), "/api/desk/runs/{run}")
    ((assignment,),) = query(house.url, "SELECT id FROM assignment")
    validate(house.desk(f"/assignments/{assignment}").json(), "/api/desk/assignments/{assignment}")
    bearer = {"Authorization": f"Bearer {house.auth.researcher_token}"}
    body = {"run": RUN, "worker": "robot", "simulated": True}
    joined = house.http("POST", "/api/join", json=body, headers=bearer).json()
    validate(joined, "/api/join", "post")
    with house.open(joined["token"]) as page:
        page.agree()
    beliefs = house.desk(f"/assignments/{joined['assignment']}/simulation").json()
    validate(beliefs, "/api/desk/assignments/{assignment}/simulation")


def test_answers_about_bots_follow_it(house: House) -> None:
    endpoint = {"kind": "openai", "urls": ["http://127.0.0.1:1/v1"], "model": "m"}
    made = house.desk("/bots", method="POST", json={"name": "mine", "endpoint": endpoint})
    validate(made.json(), "/api/desk/bots", "post", "201")
    settings = {"headers", "query", "key_header", "stream", "extra_body", "refusals"}  # those with a default
    settings |= {"instructions", "alternating", "parts"}
    assert set(made.json()["endpoint"]) == {*endpoint, "prompt", *settings}  # what was not given is left out
    validate(house.desk("/bots").json(), "/api/desk/bots")
    changed = house.desk("/bots/mine", method="PATCH", json={"enabled": False})
    validate(changed.json(), "/api/desk/bots/{name}", "patch")
    refused = house.desk("/bots/none")
    assert refused.status_code == 404
    validate(refused.json(), "/api/desk/bots/{name}", status="default")


def test_times_are_to_the_second(house: House) -> None:
    (run,) = house.desk("/runs").json()["runs"]
    assert run["created_at"] == "2026-01-01T12:00:00+00:00"  # support.study.AT
