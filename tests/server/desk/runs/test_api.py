"""Runs over the REST API: opened, paused, resumed, closed and replicated while a server serves."""

import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import bots
from server.clock import utc_now
from tests.server.support.answers import error
from tests.server.support.database import execute, make_run, query
from tests.server.support.items import items_text
from tests.server.support.server import House
from tests.server.support.study import RUN, SYSTEMS, study_text
from tests.support.waiting import wait_until

Serve = Callable[..., House]
# Bots that need no download, so that a run can be opened by its text alone.
BUILTIN = [
    {"name": name, "family": family, "bot": "builtin:retrieval", "persona": "none"}
    for name, family in SYSTEMS.items()
]
STUDY = study_text(systems=BUILTIN, corpus="builtin:smalltalk", personas="corpus")


def do(house: House, path: str, status: int = 200, **body: Any) -> dict[str, Any]:
    answer = house.desk(f"/runs{path}", method="POST", json=body)
    assert answer.status_code == status, answer.text
    summary: dict[str, Any] = answer.json()
    return summary


def refused(house: House, path: str, status: int, code: str, **body: Any) -> dict[str, Any]:
    return error(house.desk(f"/runs{path}", method="POST", json=body), status, code)


@pytest.mark.databases("sqlite", in_soak=["postgresql"])
def test_a_run_that_is_paused_and_resumed(house: House) -> None:
    token, reader = house.enrolled("ann"), house.token("reader")
    paused = do(house, f"/{RUN}/pause", reason="A bot is being mended.")
    assert (paused["status"], paused["reason"]) == ("paused", "A bot is being mended.")
    error(house.join("bob"), 409, "run_paused")
    with house.open(reader) as page:  # who had read the instructions by then
        assert page.ask("agree")["code"] == "run_paused"
    with house.open(token) as page:  # who is under way goes on, to the end
        page.finish()
    resumed = do(house, f"/{RUN}/resume")
    assert (resumed["status"], resumed["reason"]) == ("open", "")
    with house.page("bob") as page:
        page.agree()
    with house.open(reader) as page:
        page.agree()


@pytest.mark.databases("sqlite", in_soak=["postgresql"])
def test_a_run_that_is_closed_while_people_chat(house: House) -> None:
    token = house.enrolled("ann")
    closed = do(house, f"/{RUN}/close", reason="Enough for now.")
    assert (closed["status"], closed["cause"], closed["reason"]) == (
        "closed",
        "researcher",
        "Enough for now.",
    )
    error(house.join("bob"), 410, "run_closed")
    with house.open(token) as page:
        page.finish()
    refused(house, f"/{RUN}/pause", 409, "wrong_run_status")
    do(house, f"/{RUN}/resume")
    house.enrolled("bob")


@pytest.mark.databases("sqlite", "postgresql")
def test_a_replication_is_of_the_same_study_for_other_workers(url: str, serve: Serve) -> None:
    house = serve(url, make_run(url, STUDY))
    house.enrolled("ann")
    second = do(house, f"/{RUN}/replicate", 201)
    assert (second["run"], second["status"]) == (f"{RUN}-2", "open")
    assert do(house, f"/{RUN}-2/replicate", 201, run="third")["run"] == "third"
    assert do(house, f"/{RUN}/replicate", 201, run="again", same_workers=True)["run"] == "again"
    wait_until(lambda: house.join("bob", run="again").status_code == 200, "the runs to be served")
    error(house.join("ann", run=f"{RUN}-2"), 403, "took_part")
    error(house.join("ann", run="third"), 403, "took_part")
    assert house.join("ann", run="again").status_code == 200
    studies = query(url, "SELECT count(DISTINCT study_id), count(DISTINCT seed), count(*) FROM run")
    assert studies == [(1, 4, 4)]
    refused(house, f"/{RUN}/replicate", 409, "run_exists", run="third")


def test_who_agrees_in_the_first_run_meanwhile_may_not_come(url: str, serve: Serve) -> None:
    house = serve(url, make_run(url, STUDY))
    do(house, f"/{RUN}/replicate", 201)
    wait_until(lambda: house.join("x", run=f"{RUN}-2").status_code == 200, "the run to be served")
    ticket = str(house.join("ann", run=f"{RUN}-2").json()["token"])
    house.enrolled("ann")
    with house.open(ticket) as page:
        assert page.ask("agree")["code"] == "took_part"


def test_a_run_is_opened_and_served_without_a_restart(house: House, url: str) -> None:
    opened = do(house, "", 201, run="fresh", yaml=STUDY)
    assert (opened["run"], opened["status"]) == ("fresh", "open")
    wait_until(lambda: house.join("ann", run="fresh").status_code == 200, "the run to be served")
    assert do(house, "", 201, run="by-name", study="lighthouse")["study"] == "lighthouse"
    hashes = query(url, "SELECT DISTINCT study_id FROM run WHERE slug IN ('fresh', 'by-name')")
    assert len(hashes) == 1
    refused(house, "", 409, "run_exists", run="fresh", yaml=STUDY)


@pytest.mark.parametrize(
    ("body", "code", "status"),
    [
        ({"run": "x"}, "invalid_request", 422),
        ({"run": "x", "yaml": STUDY, "study": "lighthouse"}, "invalid_request", 422),
        ({"run": "a b", "yaml": STUDY}, "study_invalid", 422),
        ({"run": "x", "study": "nothing"}, "study_not_found", 404),
        ({"run": "x", "yaml": "name: x"}, "study_invalid", 422),
        ({"run": "x", "yaml": study_text()}, "study_invalid", 422),  # bots that nobody has registered
    ],
)
def test_a_run_that_cannot_be_opened(shared: House, body: dict[str, Any], code: str, status: int) -> None:
    refused(shared, "", status, code, **body)


def test_rules_over_the_api(house: House) -> None:
    rules = {
        "target": {"assignments": 4},
        "budget": {"total": "10", "pay": "2.00", "fee_share": "0.25", "currency": "GBP"},
        "most_at_once": 3,
        "excluded_workers": ["eve"],
    }
    changed = house.desk(f"/runs/{RUN}/rules", method="PUT", json=rules)
    assert changed.status_code == 200, changed.text
    with house.page("ann") as page:
        page.whole()
    house.enrolled("bob")
    summary = house.desk("/runs").json()["runs"][0]
    assert summary["limits"] == {
        "target": "4 assignments",
        "places_open": 2,  # three are still needed and one is under way; three may be at once
        "opens_at": None,
        "spent": 2.5,
        "budget": 10.0,
        "currency": "GBP",
        "retention": "",
    }
    assert (summary["places"], summary["minutes_to_go"]) == (4, None)
    assert house.desk(f"/runs/{RUN}").json()["limits"] == summary["limits"]
    error(house.join("eve"), 403, "not_invited")
    shown = house.desk(f"/runs/{RUN}/rules").json()
    assert (shown["excluded_workers"], shown["budget"]["pay"]) == (["eve"], "2.00")
    wrong = house.desk(f"/runs/{RUN}/rules", method="PUT", json={"target": {}})
    error(wrong, 422, "invalid_request")
    unknown = house.desk(f"/runs/{RUN}/rules", method="PUT", json={"excluded_runs": ["nowhere"]})
    error(unknown, 404, "run_not_found")
    logged = query(house.url, "SELECT subject, detail FROM audit_entry WHERE action = 'run.rules'")
    assert [subject for subject, _ in logged] == [RUN]
    assert "eve" not in logged[0][1]  # ids of workers are not for the log


def test_a_long_list_of_workers_may_not_come(house: House) -> None:
    rules = {"excluded_workers": [f"participant-{number:012}" for number in range(20_000)]}
    changed = house.desk(f"/runs/{RUN}/rules", method="PUT", json=rules)
    assert changed.status_code == 200, changed.text
    error(house.join("participant-000000000000"), 403, "not_invited")
    assert house.desk(f"/runs/{RUN}/rules").json()["excluded_workers"] == rules["excluded_workers"]
    longer = {"excluded_workers": ["x" * 150] * 20_000}
    error(house.desk(f"/runs/{RUN}/rules", method="PUT", json=longer), 413, "too_long")


def test_a_run_says_when_its_hours_begin_again(house: House) -> None:
    begins = utc_now().replace(minute=0, second=0, microsecond=0) + timedelta(hours=6)
    hours = [{"opens": f"{begins:%H}:00", "closes": f"{begins:%H}:30"}]
    rules = {"opening_hours": {"time_zone": "UTC", "hours": hours}}
    house.desk(f"/runs/{RUN}/rules", method="PUT", json=rules)
    shown = house.desk(f"/runs/{RUN}").json()["limits"]["opens_at"]
    assert datetime.fromisoformat(shown) == begins


def test_a_run_that_has_enough_stops_by_itself(house: House) -> None:
    house.desk(f"/runs/{RUN}/rules", method="PUT", json={"target": {"assignments": 1}})
    with house.page("ann") as page:
        page.whole()
    wait_until(lambda: house.desk(f"/runs/{RUN}").json()["status"] == "closed", "the run to stop")
    stopped = house.desk(f"/runs/{RUN}").json()
    assert (stopped["cause"], stopped["reason"]) == (
        "target",
        "The run reached its target: 1 assignment.",
    )
    error(house.join("bob"), 410, "run_complete")
    refused(house, f"/{RUN}/resume", 409, "run_has_enough")


@pytest.mark.parametrize("change", ["pause", "resume", "close", "replicate"])
def test_changes_are_for_researchers_and_for_runs_that_are_there(shared: House, change: str) -> None:
    error(shared.http("POST", f"/api/desk/runs/{RUN}/{change}"), 401, "token_missing")
    refused(shared, f"/nowhere/{change}", 404, "run_not_found")


def test_an_open_run_that_is_not_served_yet_has_not_ended(house: House, url: str) -> None:
    """It said "This study has ended" until the server was started again."""
    make_run(url, slug="waiting")  # its bots are registered nowhere
    error(house.join("ann", run="waiting"), 503, "run_not_ready")
    execute(url, "UPDATE run SET status = 'closed' WHERE slug = 'waiting'")
    error(house.join("ann", run="waiting"), 410, "run_closed")


# ---- the command line ------------------------------------------------------------------------


@pytest.fixture
def study_file(tmp_path: Path) -> Path:
    path = tmp_path / "study.yaml"
    path.write_text(STUDY)
    return path


def test_a_run_on_the_command_line(candor: Callable[..., Any], study_file: Path, tmp_path: Path) -> None:
    data = ("--data", tmp_path / "data")

    def run(*arguments: str | Path) -> str:
        done = candor("run", *arguments, *data)
        assert done.exit_code == 0, done.output
        return str(done.stdout)

    assert "pilot is open" in run("open", study_file, "--run", "pilot")
    assert "pilot is paused" in run("pause", "pilot", "--why", "Lunch.")
    assert "Lunch." in run("list")
    assert "pilot is open" in run("resume", "pilot")
    assert "pilot-2 replicates pilot" in run("replicate", "pilot")
    rules = tmp_path / "rules.yaml"
    rules.write_text("target: {assignments: 12}\nbudget: {total: 60, pay: 2.5, currency: EUR}\n")
    assert "Nothing limits" in run("rules", "pilot")
    assert "assignments: 12" in run("rules", "pilot", rules)
    assert "excluded_runs" in run("rules", "pilot-2")
    assert "third is open" in run("open", study_file, "--run", "third", "--rules", rules)
    assert "total: '60'" in run("rules", "third")
    assert "pilot is closed" in run("close", "pilot")
    # It said that the run was open, and it was not.
    again = candor("study", "open", study_file, "--run", "pilot", *data)
    assert again.exit_code == 2
    assert "exists already and is closed" in again.stderr
    assert "candor run resume pilot" in again.stderr


# ---- what a study that comes over the API may reach -------------------------------------------


def opened(house: House, token: str, **body: Any) -> Any:
    return house.desk("/runs", token, method="POST", json={"run": "theirs", **body})


@pytest.fixture
def listener() -> Iterator[tuple[str, list[str]]]:
    """The address of a server of somebody's own, and what it was sent in its `Authorization` headers."""
    heard: list[str] = []

    class Hears(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append(self.headers.get("Authorization", ""))
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hears)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1", heard
    server.shutdown()
    server.server_close()


def test_no_study_has_a_key_of_the_servers_sent_to_an_address_of_its_own(
    house: House, listener: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANDOR_PROLIFIC_HOOK_SECRET", "hush-hush")
    address, heard = listener
    endpoint = {"kind": "openai", "urls": [address], "model": "m", "key": "CANDOR_PROLIFIC_HOOK_SECRET"}
    systems = [*BUILTIN[:-1], BUILTIN[-1] | {"bot": "evil"}]
    text = study_text(
        name="tidepool",
        systems=systems,
        corpus="builtin:smalltalk",
        personas="corpus",
        bots={"evil": endpoint},
    )
    token = house.token_in("tidepool", "researcher")
    said = error(opened(house, token, yaml=text), 422, "bot_unusable")
    assert said["message"].startswith("Bot “evil”: ")
    assert "CANDOR_BOT_KEYS" in said["hint"]
    rehearsed = house.desk("/rehearsals", token, method="POST", json={"yaml": text, "workers": 5})
    error(rehearsed, 422, "bot_unusable")
    assert heard == []


@pytest.mark.parametrize("corpus", ["/dev/zero", "/etc/passwd", "../outside.txt", "candor.db", "\0"])
def test_no_study_has_a_file_of_the_servers_read(house: House, corpus: str) -> None:
    text = study_text(name="tidepool", systems=BUILTIN, corpus=corpus, personas="corpus")
    token = house.token_in("tidepool", "researcher")
    said = error(opened(house, token, yaml=text), 422, "study_invalid")
    assert "is not in the folder “corpora”" in said["message"]
    seen = house.desk("/study-preview", token, method="POST", json={"yaml": text})
    assert "is not in the folder “corpora”" in error(seen, 422, "study_invalid")["message"]
    rehearsed = house.desk("/rehearsals", token, method="POST", json={"yaml": text, "workers": 5})
    error(rehearsed, 422, "study_invalid")


def test_a_study_learns_from_the_corpora_that_the_operator_has_put_there(
    house: House, tmp_path: Path
) -> None:
    folder = tmp_path / "corpora"
    folder.mkdir()
    shipped = Path(bots.__file__).parent / "data/smalltalk.jsonl"
    (folder / "own.jsonl").write_bytes(shipped.read_bytes())
    text = study_text(name="tidepool", systems=BUILTIN, corpus=str(folder / "own.jsonl"), personas="corpus")
    answer = opened(house, house.token_in("tidepool", "researcher"), yaml=text)
    assert answer.status_code == 201, answer.text


def test_what_workers_said_in_another_study_is_not_taken_as_items(house: House) -> None:
    token = house.token_in("tidepool", "researcher")
    for run in (RUN, "nowhere"):
        text = items_text(name="tidepool", items={"run": run}, simulate=None)
        error(opened(house, token, yaml=text), 403, "not_allowed")


def test_nobody_finds_out_by_rules_who_took_part_in_another_study(house: House) -> None:
    token = house.token_in("tidepool", "researcher")
    text = study_text(name="tidepool", systems=BUILTIN, corpus="builtin:smalltalk", personas="corpus")
    excluding = {"excluded_runs": [RUN]}
    error(opened(house, token, yaml=text, rules=excluding), 403, "not_allowed")
    assert opened(house, token, yaml=text).status_code == 201
    changed = house.desk("/runs/theirs/rules", token, method="PUT", json=excluding)
    error(changed, 403, "not_allowed")
    # Whoever may see both sets it; it stays when somebody of the one study changes another rule.
    assert house.desk("/runs/theirs/rules", method="PUT", json=excluding).status_code == 200
    again = house.desk("/runs/theirs/rules", token, method="PUT", json=excluding | {"most_at_once": 3})
    assert again.status_code == 200, again.text


def test_a_study_of_others_is_opened_by_nobody_else_and_nothing_is_said_of_it(house: House) -> None:
    token = house.token_in("tidepool", "researcher")
    body = {"name": "broken", "yaml": "name: broken\nminimum_inputs: secret\n"}
    assert house.desk("/studies", method="POST", json=body).status_code == 201
    for study in ("lighthouse", "broken", "nothing"):
        error(opened(house, token, study=study), 403, "not_allowed")
        rehearsed = house.desk("/rehearsals", token, method="POST", json={"study": study, "workers": 5})
        error(rehearsed, 403, "not_allowed")
