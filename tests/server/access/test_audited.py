"""Whatever changes something, over HTTP or as a command, writes what it did into the audit log.

An endpoint or a command that is missing here fails the tests of the lists: give it a row of the log and a
step, or a line with the reason why it has none.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from server.access.auth import load_auth, token_file
from server.bots.opened_bots import OpenedBots
from server.cli.command_line import COMMANDS
from server.cli.serve import prepare
from server.clock import utc_now
from server.config import Settings
from tests.server.support.bots import Echo
from tests.server.support.commands import Candor
from tests.server.support.database import execute, make_run, query
from tests.server.support.endpoints import OPEN, TABLE
from tests.server.support.recruiting import RECRUIT_COMMANDS, RECRUITING_ROWS
from tests.server.support.server import House
from tests.server.support.study import RUN, SYSTEMS, study_text
from tests.support.waiting import wait_until

# Bots that need no download, so that a run can be opened by its text alone; few enough to be quick.
BUILTIN = [
    {"name": name, "family": family, "bot": "builtin:retrieval", "persona": "none"}
    for name, family in SYSTEMS.items()
]
STUDY = study_text(systems=BUILTIN, corpus="builtin:smalltalk", personas="corpus")
AT = {"kind": "http", "urls": ["http://127.0.0.1:9/bot"]}
SECOND = "http://127.0.0.1:9/second"
PASSWORD, OTHER_PASSWORD = "seven small tides", "eight small tides"


@dataclass(frozen=True)
class Step:
    """A call, and the rows that it writes. `{ann}` and the like stand for what earlier steps have made."""

    endpoint: str
    path: str
    writes: str
    body: dict[str, Any] | None = None


# In an order in which each of them can be done.
STEPS = [
    Step("POST /api/desk/studies", "/studies", "study.create", {"name": "tidepool", "begin_with": "demo"}),
    Step("POST /api/desk/studies/{study}/copy", "/studies/tidepool/copy", "study.copy", {"name": "reef"}),
    Step(
        "PUT /api/desk/studies/{study}",
        "/studies/tidepool",
        "study.save",
        {"yaml": STUDY.replace("name: lighthouse", "name: tidepool"), "based_on": 1},
    ),
    Step(
        "POST /api/desk/studies/{study}/trial",
        "/studies/reef/trial",
        "bot.try",
        {"yaml": STUDY, "bot": "builtin:reflect", "turns": [{"author": "worker", "text": "Hello!"}]},
    ),
    Step(
        "POST /api/desk/studies/{study}/bot-check",
        "/studies/reef/bot-check",
        "bot.check",
        {"yaml": f"bots: {{far: {json.dumps(AT)}}}", "bot": "far"},
    ),
    Step("PATCH /api/desk/studies/{study}", "/studies/reef", "study.archive", {"archived": True}),
    Step("DELETE /api/desk/studies/{study}", "/studies/reef", "study.delete"),
    Step(
        "POST /api/desk/runs",
        "/runs",
        "run.open",
        {"run": "low-tide", "study": "tidepool", "despite_failing_bots": True},
    ),
    Step("PUT /api/desk/runs/{run}/rules", "/runs/low-tide/rules", "run.rules", {"most_at_once": 3}),
    Step("POST /api/desk/runs/{run}/pause", "/runs/low-tide/pause", "run.pause"),
    Step("POST /api/desk/runs/{run}/resume", "/runs/low-tide/resume", "run.resume"),
    Step("POST /api/desk/runs/{run}/close", "/runs/low-tide/close", "run.close"),
    Step("POST /api/desk/runs/{run}/replicate", "/runs/low-tide/replicate", "run.open", {}),
    Step("POST /api/desk/runs/{run}/reports", "/runs/low-tide/reports", "run.report", {}),
    Step("POST /api/desk/runs/{run}/jobs/{job}/cancel", "/runs/low-tide/jobs/{job}/cancel", "report.cancel"),
    Step("POST /api/desk/runs/{run}/exports", "/runs/low-tide/exports", "run.export", {"format": "csv"}),
    Step(
        "POST /api/desk/runs/{run}/rehearsals", "/runs/low-tide/rehearsals", "study.rehearse", {"workers": 8}
    ),
    Step("POST /api/desk/rehearsals", "/rehearsals", "study.rehearse", {"yaml": STUDY, "workers": 8}),
    Step("POST /api/desk/runs/{run}/credits/again", f"/runs/{RUN}/credits/again", "run.credits_again"),
    Step("POST /api/desk/runs/{run}/message", f"/runs/{RUN}/message", "run.message", {"text": "Hello."}),
    Step(
        "POST /api/desk/assignments/{assignment}/message",
        "/assignments/{ann}/message",
        "assignment.message",
        {"text": "Hello."},
    ),
    Step(
        "POST /api/desk/assignments/{assignment}/end-conversation",
        "/assignments/{ann}/end-conversation",
        "assignment.end_conversation",
        {"why": "It hangs."},
    ),
    Step(
        "POST /api/desk/assignments/{assignment}/message-reports/{report}/seen",
        "/assignments/{ann}/message-reports/1/seen",
        "message_report.seen",
    ),
    Step(
        "POST /api/desk/assignments/{assignment}/flagged-lines/{position}/{attempt}/{line}/seen",
        "/assignments/{ann}/flagged-lines/1/1/0/seen",
        "flagged_line.seen",
    ),
    Step(
        "PUT /api/desk/assignments/{assignment}/exclusion",
        "/assignments/{ann}/exclusion",
        "assignment.exclude",
        {"reason": "A colleague."},
    ),
    Step(
        "DELETE /api/desk/assignments/{assignment}/exclusion",
        "/assignments/{ann}/exclusion",
        "assignment.include",
    ),
    Step(
        "POST /api/desk/assignments/{assignment}/release", "/assignments/{ann}/release", "assignment.release"
    ),
    Step("POST /api/desk/bots", "/bots", "bot.register", {"name": "far", "endpoint": AT}),
    Step("POST /api/desk/bots/{name}/replicas", "/bots/far/replicas", "bot.add_replica", {"url": SECOND}),
    Step("DELETE /api/desk/bots/{name}/replicas", f"/bots/far/replicas?url={SECOND}", "bot.remove_replica"),
    Step("POST /api/desk/bots/{name}/check", "/bots/far/check", "bot.check"),
    Step("PATCH /api/desk/bots/{name}", "/bots/far", "bot.disable", {"enabled": False}),
    Step("PATCH /api/desk/bots/{name}", "/bots/far", "bot.enable", {"enabled": True}),
    Step("DELETE /api/desk/bots/{name}", "/bots/far", "bot.delete"),
    Step(
        "POST /api/desk/studies/{study}/people",
        "/studies/tidepool/people",
        "person.add",
        {"name": "cay", "role": "viewer"},
    ),
    Step(
        "POST /api/desk/studies/{study}/people/{person}/link",
        "/studies/tidepool/people/cay/link",
        "person.link",
    ),
    Step(
        "DELETE /api/desk/studies/{study}/people/{person}/link",
        "/studies/tidepool/people/cay/link",
        "person.revoke_link",
    ),
    Step("DELETE /api/desk/studies/{study}/people/{person}", "/studies/tidepool/people/cay", "person.role"),
    Step("POST /api/desk/people", "/people", "person.add", {"name": "bea", "role": "viewer"}),
    Step("PUT /api/desk/people/{person}/role", "/people/bea/role", "person.role", {"role": "analyst"}),
    Step("DELETE /api/desk/people/{person}/link", "/people/bea/link", "person.revoke_link"),
    Step("POST /api/desk/people/{person}/link", "/people/bea/link", "person.link"),
    Step(
        "PUT /api/account/link",
        "/api/account/link",
        "person.password person.sign_in",
        {"link": "{link}", "password": PASSWORD},
    ),
    Step(
        "POST /api/account/sign-in",
        "/api/account/sign-in",
        "person.sign_in",
        {"name": "bea", "password": PASSWORD},
    ),
    Step(
        "PUT /api/account/password",
        "/api/account/password",
        "person.password",
        {"old": PASSWORD, "new": OTHER_PASSWORD},
    ),
    Step("POST /api/account/sign-out", "/api/account/sign-out", "person.sign_out"),
    Step(
        "POST /api/account/sign-in",
        "/api/account/sign-in",
        "person.sign_in",
        {"name": "bea", "password": OTHER_PASSWORD},
    ),
    Step("POST /api/account/sign-out-everywhere", "/api/account/sign-out-everywhere", "person.sign_out"),
    Step("DELETE /api/desk/people/{person}", "/people/bea", "person.remove"),
    Step("POST /api/desk/tokens", "/tokens", "token.new", {"name": "gpu", "scope": "host"}),
    Step("DELETE /api/desk/tokens/{token}", "/tokens/gpu", "token.revoke"),
    Step("POST /api/desk/workers/holdings", "/workers/holdings", "worker_ids.read", {"worker": "ann"}),
    Step("POST /api/desk/workers/forget", "/workers/forget", "worker.forget", {"worker": "ann"}),
]
# What is sent to be answered only, and what workers do, who have a record of their own.
WITHOUT_A_ROW = {
    "POST /api/desk/study-check": "nothing is stored",
    "POST /api/desk/runs/{run}/links.csv": "nothing is stored: the same list gives the same links",
    "POST /api/desk/study-preview": "nothing is stored",
    "POST /api/account/link": "says whom a link is for",
    "POST /api/desk/runs/{run}/wizard": "each line is stored with who said it",
    "POST /api/desk/runs/{run}/recruitment/refresh": "stores what the platform says, as polling does",
    "POST /api/recruitment/{kind}/events": "the platform tells of something, which is read",
    "POST /api/own-data/download": "a worker reads what they gave",
    "POST /api/page-trouble": "by a worker's page, which changes nothing that is theirs",
    "POST /api/own-data/withdraw": "by a worker, who has no role: test_own_data.py reads its row",
    "POST /api/join": "a worker arrives: their assignment is the record",
}
COMMANDS_WITH_A_ROW = {
    "serve": "run.open",
    "study new": "study.create",
    "study copy": "study.copy",
    "study edit": "study.save",
    "study archive": "study.archive",
    "study delete": "study.delete",
    "study open": "run.open",
    "study preregister": "run.preregister",
    "run open": "run.open",
    "run rules": "run.rules",
    "run pause": "run.pause",
    "run resume": "run.resume",
    "run close": "run.close",
    "run replicate": "run.open",
    "demo transcripts": "run.open",
    "demo questions": "run.open",
    "demo answers": "run.open",
    "demo correctness": "run.open",
    "worker show": "worker_ids.read",
    "worker forget": "worker.forget",
    "people add": "person.add",
    "people role": "person.role",
    "people link": "person.link",
    "people remove": "person.remove",
    "token new": "token.new",
    "token revoke": "token.revoke",
    "data export": "worker_ids.read",
    "data new-secrets": "secrets.replace",
}
COMMANDS_WITHOUT_A_ROW = {
    "study list": "reads",
    "study show": "reads",
    "study check": "reads",
    "run list": "reads",
    "people list": "reads",
    "token list": "reads",
    "recruit credits": "reads; with --again it writes a row that test_credits.py reads",
    "recruit links": "prints what anybody with the secret can compute; nothing is stored",
    "data audit": "reads",
    "data schema": "reads",
    "data backup": "leaves the database as it is",
    "demo prolific": "in a folder of its own, over the API",
    "data restore": "makes another installation, with the log that the backup has",
}


@pytest.fixture(scope="module")
def house(migrated: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("audited")
    (folder / "candor.db").write_bytes(migrated.read_bytes())
    url = f"sqlite:///{folder / 'candor.db'}"
    house = House(url, [make_run(url, bots=Echo())], folder)
    house.start()
    yield house
    house.stop()


def test_every_endpoint_that_changes_something_is_here() -> None:
    changing = {endpoint for endpoint in {*TABLE, *OPEN} if not endpoint.startswith("GET ")}
    assert {step.endpoint for step in STEPS} | set(WITHOUT_A_ROW) | set(RECRUITING_ROWS) == changing


def test_every_endpoint_that_changes_something_writes_a_row(house: House) -> None:
    made = {"ann": in_a_conversation(house)}
    cookies: dict[str, str] = {}
    for step in STEPS:
        method, template = step.endpoint.split(" ")
        before = rows(house)
        path, body = filled(step.path, made), filled(step.body, made)
        if template.startswith("/api/account"):
            origin = f"http://127.0.0.1:{house.port}"
            answer = house.http(method, path, headers={"Origin": origin}, json=body, cookies=cookies)
            cookies |= dict(answer.cookies)
        else:
            answer = house.desk(path, method=method, **({} if body is None else {"json": body}))
        assert answer.is_success, (step.endpoint, answer.text)
        assert rows(house)[len(before) :] == step.writes.split(), step.endpoint
        if answer.headers.get("content-type", "").startswith("application/json"):
            made |= noted(answer.json())
        if step.writes == "study.rehearse":
            give_up(house, made)


def test_every_command_that_changes_something_is_here() -> None:
    named: set[str] = set()
    for name, entry in COMMANDS.items():
        if not entry.module.startswith("server."):
            continue  # the bots' commands go over the API, the analysis' only read
        command = get_command(getattr(import_module(entry.module), entry.app))
        inner = list(command.commands) if isinstance(command, TyperGroup) else []
        named |= {f"{name} {one}" for one in inner} or {name}
    recruit = {f"recruit {name}" for name in RECRUIT_COMMANDS}
    assert set(COMMANDS_WITH_A_ROW) | set(COMMANDS_WITHOUT_A_ROW) | recruit == named


def test_every_command_that_changes_something_writes_a_row(candor: Candor, tmp_path: Path) -> None:
    data, study, rules = tmp_path / "data", tmp_path / "study.yaml", tmp_path / "rules.yaml"
    url = f"sqlite:///{data / 'candor.db'}"
    study.write_text(STUDY.replace("name: lighthouse", "name: tidepool"))
    changed = tmp_path / "changed.yaml"
    changed.write_text(study.read_text().replace("A few chats", "Some chats"))
    rules.write_text("most_at_once: 3")
    prepare(Settings(data=data), OpenedBots(refuse_private=False))  # as `serve` does before it serves
    assert query(url, "SELECT action, subject FROM audit_entry") == [("run.open", "demo")]
    ann = load_auth(data, 7).ids.encrypted("ann")
    query(url, "INSERT INTO worker (platform, external_id, pseudonym) VALUES ('link', ?, 'W1')", ann)
    steps: list[tuple[str, list[str | Path]]] = [
        ("study new", ["tidepool", "--from", study]),
        ("study copy", ["tidepool", "reef"]),
        ("study edit", ["tidepool", changed]),
        ("study archive", ["reef"]),
        ("study delete", ["reef"]),
        ("study open", ["tidepool", "--run", "low-tide"]),
        ("study preregister", ["tidepool", "--run", "low-tide", "--out", tmp_path / "plan.yaml"]),
        ("run rules", ["low-tide", rules]),
        ("run pause", ["low-tide"]),
        ("run resume", ["low-tide"]),
        ("run close", ["low-tide"]),
        ("run open", [study, "--run", "high-tide", "--rules", rules]),
        ("run replicate", ["low-tide"]),
        ("people add", ["bea"]),
        ("people role", ["bea", "analyst"]),
        ("people link", ["bea"]),
        ("people remove", ["bea"]),
        ("worker show", ["ann"]),
        ("worker forget", ["ann", "--yes"]),
        ("token new", ["--name", "gpu", "--for", "host"]),
        ("token revoke", ["gpu"]),
        ("data export", ["--run", "low-tide", "--worker-ids", "--out", tmp_path / "ids.csv"]),
        ("demo questions", []),
        ("demo answers", []),
        ("demo correctness", []),
        ("data new-secrets", []),
    ]
    assert {name for name, _ in steps} == set(COMMANDS_WITH_A_ROW) - {"serve", "demo transcripts"}
    for name, arguments in steps:
        before = len(query(url, "SELECT id FROM audit_entry"))
        if name == "data new-secrets":
            token_file(data).unlink()  # it replaces none
        done = candor(*name.split(), *arguments, "--data", data)
        assert done.exit_code == 0, (name, done.output)
        written = query(url, "SELECT kind, action FROM audit_entry ORDER BY id")[before:]
        assert written == [("command", COMMANDS_WITH_A_ROW[name])], name


def in_a_conversation(house: House) -> str:
    """Return the assignment of a worker who has had a reply, and whose first line is flagged."""
    joined = house.join("ann").json()
    with house.open(joined["token"]) as page:
        page.agree()
        page.open_topic()
        page.say("Hello there.")
        page.ask("report", turn=1, reason="offensive")
    flagged = (
        "INSERT INTO moderated_line (conversation_id, turn_index, flagged, categories, judged_at) "
        "SELECT conversation_id, 0, ?, '', ? FROM turn WHERE turn_index = 0"
    )
    execute(house.url, flagged, True, utc_now())
    return str(joined["assignment"])


def rows(house: House) -> list[str]:
    """Return what the log has, but for what comes by itself later: the end of a rehearsal or of a report."""
    return [action for (action,) in query(house.url, "SELECT action FROM audit_entry ORDER BY id")]


def filled(content: Any, made: dict[str, str]) -> Any:
    """Return a path or a body with the names in braces replaced."""
    if isinstance(content, dict):
        return {name: filled(value, made) for name, value in content.items()}
    if not isinstance(content, str) or "\n" in content:
        return content
    return re.sub(r"{(\w+)}", lambda found: made[found[1]], content)


def noted(answer: dict[str, Any]) -> dict[str, str]:
    """Return what later steps need of an answer."""
    link = str(answer.get("link", "")).partition("#link=")[2]
    return ({"job": answer["job"], "run": answer["run"]} if "job" in answer else {}) | (
        {"link": link} if link else {}
    )


def give_up(house: House, made: dict[str, str]) -> None:
    """Cancel a rehearsal, so that its crowd does not come."""
    where = f"/runs/{made['run']}/jobs/{made['job']}"
    assert house.desk(f"{where}/cancel", method="POST").status_code == 200
    wait_until(lambda: house.desk(f"/runs/{made['run']}").json()["status"] == "closed", "the close")
