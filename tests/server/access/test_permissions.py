"""Every endpoint, and who may call it: each role, in its own study and in another one.

An endpoint that is missing in the table fails `test_every_endpoint_is_in_the_table`: give it `Allowed`,
and a line here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from server.access import tokens
from server.access.actor import Allowed
from server.access.roles import ROLES
from server.db.engine import open_engine
from tests.server.support.database import make_run
from tests.server.support.endpoints import OPEN, TABLE, endpoints
from tests.server.support.server import House
from tests.server.support.study import AT, study_text
from tests.support.waiting import PATIENCE

OWN, OTHER = "lighthouse", "tidepool"


@dataclass(frozen=True)
class Studies:
    """A server with a run of each of two studies, and who has which role in the first."""

    client: httpx2.Client
    tokens: dict[tuple[str, str], str]
    assignments: dict[str, str]

    def status(self, endpoint: str, study: str, who: tuple[str, str] | None) -> int:
        method, path = endpoint.split(" ")
        run = {OWN: "own", OTHER: "other"}[study]
        named = {"study": study, "run": run, "assignment": self.assignments[study], "name": "nobody"}
        bearer = {"Authorization": f"Bearer {self.tokens[who]}"} if who is not None else {}
        # A stream of events would not end.
        with self.client.stream(method, path.format_map(_Named(named)), headers=bearer) as answer:
            return answer.status_code


class _Named(dict[str, str]):
    """What stands in a path; of a name that only its endpoint knows, something that is not there."""

    def __missing__(self, _key: str) -> str:
        return "0"


@pytest.fixture(scope="module")
def studies(migrated: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studies]:
    folder = tmp_path_factory.mktemp("studies")
    (folder / "candor.db").write_bytes(migrated.read_bytes())
    url = f"sqlite:///{folder / 'candor.db'}"
    runs = [make_run(url, slug="own"), make_run(url, study_text(name=OTHER), slug="other")]
    made: dict[tuple[str, str], str] = {}
    engine = open_engine(url, begin="BEGIN IMMEDIATE")
    with engine.begin() as connection:
        for scope in tokens.SCOPES:
            made[scope, "all"] = tokens.new(connection, f"{scope}-all", scope, AT)
            if scope != "host":
                made[scope, OWN] = tokens.new(connection, f"{scope}-own", scope, AT, OWN)
    engine.dispose()
    house = House(url, runs, folder)
    house.start()
    made["owner", "all"] = house.auth.researcher_token
    assignments = {}
    for study, slug in ((OWN, "own"), (OTHER, "other")):
        joined = house.join("ann", run=slug).json()
        with house.open(joined["token"]) as page:
            page.agree()
        assignments[study] = joined["assignment"]
    with httpx2.Client(base_url=f"http://127.0.0.1:{house.port}", timeout=PATIENCE) as client:
        yield Studies(client, made, assignments)
    house.stop()


def test_every_endpoint_is_in_the_table() -> None:
    assert set(endpoints()) == set(TABLE) | OPEN


@pytest.mark.parametrize("endpoint", TABLE)
def test_an_endpoint_names_its_permission(endpoint: str) -> None:
    calls = [dependant.call for dependant in endpoints()[endpoint].dependant.dependencies]
    assert sum(isinstance(call, Allowed) for call in calls) == 1


@pytest.mark.parametrize("endpoint", TABLE)
def test_who_may_call_it(studies: Studies, endpoint: str) -> None:
    *of_all, least = TABLE[endpoint].split(" ")
    names_study = any(name in endpoint for name in ("{study}", "{run}", "{assignment}"))
    refused = {401, 403}
    for who in studies.tokens:
        role, where = who
        for study in (OWN, OTHER):
            reaches = role in ROLES and ROLES.index(role) >= ROLES.index(least)
            reaches &= where == "all" or (not of_all and (study == OWN or not names_study))
            status = studies.status(endpoint, study, who)
            if reaches:
                # A person's assignment has no simulation, and a token no password, whoever asks.
                assert status not in refused or endpoint.endswith(("/simulation", "/password")), (who, study)
            else:
                assert status == 403, (who, study)
    assert studies.status(endpoint, OWN, None) == 401


def test_a_list_shows_what_is_in_ones_own_studies(studies: Studies) -> None:
    def listed(who: tuple[str, str]) -> set[str]:
        bearer = {"Authorization": f"Bearer {studies.tokens[who]}"}
        return {run["run"] for run in studies.client.get("/api/desk/runs", headers=bearer).json()["runs"]}

    shown = listed(("viewer", OWN))  # with the replications that the table's calls have opened
    assert "own" in shown
    assert not any(run.startswith("other") for run in shown)
    assert {"own", "other"} <= listed(("viewer", "all"))


def test_workers_are_found_in_ones_own_studies_only(studies: Studies) -> None:
    def found(who: tuple[str, str]) -> dict[str, str]:
        bearer = {"Authorization": f"Bearer {studies.tokens[who]}"}
        answer = studies.client.get("/api/desk/workers", params={"text": "w"}, headers=bearer)
        return {hit["run"]: hit["assignment"] for hit in answer.json()["workers"]}

    assert found(("viewer", OWN)) == {"own": studies.assignments[OWN]}
    assert found(("viewer", "all")) == {"own": studies.assignments[OWN], "other": studies.assignments[OTHER]}


def test_what_there_is_not_looks_like_what_one_may_not_see(studies: Studies) -> None:
    bearer = {"Authorization": f"Bearer {studies.tokens['viewer', OWN]}"}
    unknown, others = (studies.client.get(f"/api/desk/runs/{run}", headers=bearer) for run in ("x", "other"))
    assert unknown.status_code == others.status_code == 403
    assert unknown.json() == others.json()


@pytest.mark.parametrize(
    ("scope", "study", "where"),
    [
        ("viewer", "all", set()),
        ("analyst", "all", set()),
        ("researcher", "all", {"own", "other"}),
        ("researcher", OWN, {"own"}),
    ],
)
def test_who_may_let_simulated_workers_in(studies: Studies, scope: str, study: str, where: set[str]) -> None:
    bearer = {"Authorization": f"Bearer {studies.tokens[scope, study]}"}
    for run in ("own", "other"):
        body = {"run": run, "worker": f"robot-{scope}-{study}", "simulated": True}
        status = studies.client.post("/api/join", json=body, headers=bearer).status_code
        # A run that the table's calls have closed is closed to them too.
        assert status in ({200, 410} if run in where else {403})
