"""Runs over the REST API: opened, paused, resumed, closed and replicated while a server serves."""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from server.clock import utc_now
from tests.server.support.answers import error
from tests.server.support.database import execute, make_run, query
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


@pytest.mark.databases("sqlite", "postgresql")
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


@pytest.mark.databases("sqlite", "postgresql")
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
        "The run has what it was to gather: 1 assignment.",
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
    assert "it is closed" in again.stderr
    assert "candor run resume pilot" in again.stderr
