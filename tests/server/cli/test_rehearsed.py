"""Rehearsals in the commands: no list of runs shows one, and no people are sent or let in there."""

from pathlib import Path

import pytest

from server.cli.installation import transaction
from server.clock import utc_now
from server.config import Settings
from server.db.runs.run_states import open_rehearsal
from server.db.runs.studies import runs_of
from server.study import DEMO
from tests.server.support.commands import Candor, assert_refused
from tests.support.server_process import Server


@pytest.fixture
def data(candor: Candor, tmp_path: Path) -> Path:
    """The data folder of a server with a study that was rehearsed and never opened."""
    folder = tmp_path / "data"
    assert candor("study", "new", "demo", "--demo", "--data", folder).exit_code == 0
    with transaction(Settings(data=folder)) as connection:
        entry = open_rehearsal(connection, DEMO.read_text(encoding="utf-8"), {}, utc_now())
    assert entry.slug == "demo-rehearsal-1"
    return folder


def test_no_list_shows_a_rehearsal(candor: Candor, data: Path) -> None:
    assert "There is no run yet" in candor("run", "list", "--data", data).stdout
    assert "rehearsal" not in candor("study", "list", "--data", data).stdout
    with transaction(Settings(data=data)) as connection:
        assert runs_of(connection) == {}


def test_a_rehearsal_is_not_resumed(candor: Candor, data: Path) -> None:
    assert candor("run", "close", "demo-rehearsal-1", "--data", data).exit_code == 0
    assert_refused(
        candor("run", "resume", "demo-rehearsal-1", "--data", data), "is a rehearsal, which takes no people"
    )


def test_a_study_that_was_rehearsed_is_not_deleted(candor: Candor, data: Path) -> None:
    assert_refused(candor("study", "delete", "demo", "--data", data), "“demo” was rehearsed", "Archive it")


def test_workers_are_sent_to_open_runs_alone(candor: Candor, data: Path) -> None:
    for run in ("pilot", "over"):
        candor("study", "open", DEMO, "--run", run, "--data", data, "--despite-failing-bots")
    assert candor("run", "close", "over", "--data", data).exit_code == 0
    server = Server(data)
    server.start()
    server.stop()
    said = (data / "server.log").read_text(encoding="utf-8").splitlines()
    assert [line.split()[-1] for line in said if "Workers start here" in line] == [f"{server.url}/w/pilot"]
