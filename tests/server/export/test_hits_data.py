"""A run as a file, and what a reader finds in it and in the database: the same, whatever the database."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qc.loading import load
from server.bots.lineup import OpenRun
from tests.qc.support.same import same_frame
from tests.server.support.commands import Candor
from tests.server.support.database import execute, make_run, query
from tests.server.support.server import House
from tests.server.support.study import RUN, SYSTEMS, study_text
from tests.support.waiting import ENOUGH

pytestmark = pytest.mark.databases("sqlite", "postgresql")


@pytest.fixture
def exported(url: str, run: OpenRun, serve: Callable[..., House], candor: Candor, tmp_path: Path) -> Path:
    """The file of a run with three completed assignments, and one that is under way."""
    house = serve(url, run)
    for worker in ("ann", "bob", "Åsa"):
        with house.page(worker) as page:
            page.whole()
    with house.page("under way") as page:
        page.agree()
        page.converse()
    file = tmp_path / "hits_data.json"
    done = candor("data", "export", "--run", RUN, "--out", file, "--data", tmp_path, CANDOR_DATABASE_URL=url)
    assert done.exit_code == 0, done.output
    assert "holds none" not in done.stderr
    return file


def test_a_file_has_every_completed_assignment_in_an_order_of_its_own(exported: Path) -> None:
    content: dict[str, Any] = json.loads(exported.read_text())
    assert content["metadata"]["model"] == sorted(SYSTEMS)
    assert [len(assignment["result"]) for assignment in content["data"]] == [4, 4, 4]
    for assignment in content["data"]:
        for conversation in assignment["result"]:
            assert conversation["score"] == {"robotic": 10, "fun": 0, "fluent": 100}
            assert [line["user"] for line in conversation["dialogue"]] == ["line 0", "line 1"]


def test_what_is_read_of_the_database_is_what_is_read_of_the_file(exported: Path, url: str) -> None:
    from_database = load(url)
    assert len(from_database.assignments) == 3
    assert from_database.words is not None
    assert len(from_database.words.exchanges) == 24
    from_file = load(exported)
    assert from_file.words is not None
    same_frame(from_database.ratings, from_file.ratings)
    same_frame(
        from_database.conversations[["worker", "system"]], from_file.conversations[["worker", "system"]]
    )
    same_frame(from_database.words.exchanges, from_file.words.exchanges)


@pytest.mark.databases("sqlite")
def test_systems_that_are_people_are_marked_in_the_file(
    exported: Path, url: str, candor: Candor, tmp_path: Path
) -> None:
    assert "people" not in json.loads(exported.read_text())["metadata"]
    system = next(iter(SYSTEMS))
    execute(
        url,
        "INSERT INTO human_conversation (conversation_id, run_id, waiting_since) SELECT conversation_id, "
        "run_id, started_at FROM v1_conversation WHERE system = ? AND status = 'rated'",
        system,
    )
    file = tmp_path / "with_people.json"
    done = candor("data", "export", "--run", RUN, "--out", file, "--data", tmp_path, CANDOR_DATABASE_URL=url)
    assert done.exit_code == 0, done.output
    assert json.loads(file.read_text())["metadata"]["people"] == [system]
    from_file, from_database = load(file), load(url)
    assert from_file.people == from_database.people == {system}
    (note,) = (note for note in from_file.notes if note.startswith("Human, the ceiling"))
    assert note in from_database.notes


def test_the_report_reads_the_database(exported: Path, url: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "qc.report", url, "--out", str(tmp_path / "report")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=ENOUGH)
    assert done.returncode == 0, done.stderr
    said = json.loads((tmp_path / "report" / "report.json").read_text())
    assert said
    assert "p%40ss" not in done.stdout + done.stderr + json.dumps(said)


@pytest.mark.databases("sqlite")
def test_conversations_left_unrated_are_no_failures(url: str, serve: Callable[..., House]) -> None:
    house = serve(url, make_run(url, study_text(rate_share=0.5)))
    for number in range(6):
        with house.page(f"worker {number}") as page:
            page.whole_unless_unrated()
    statuses = dict(query(url, "SELECT status, count(*) FROM v1_conversation GROUP BY status"))
    assert statuses.keys() == {"rated", "unrated"}  # of 18 with systems; all rated, or none: twice 0.5 ** 18
    run = load(url)
    assert len(run.conversations) == statuses["rated"]
    assert run.incidents is not None
    assert run.incidents["failed"].sum() == 0
    assert not any("could not carry on" in note for note in run.notes)


@pytest.mark.databases("sqlite")
def test_what_a_worker_consented_to_is_in_the_file(
    url: str, serve: Callable[..., House], candor: Candor, tmp_path: Path
) -> None:
    boxes = [{"label": "data", "text": "You may."}, {"label": "publish", "text": "And that."}]
    consent = {"version": "1.2", "text": "We store what you write.", "boxes": boxes}
    house = serve(url, make_run(url, study_text(texts={"consent": consent})))
    with house.page("ann") as page:
        page.whole(consent="1.2", ticked=["data", "publish"])
    file = tmp_path / "hits_data.json"
    done = candor("data", "export", "--run", RUN, "--out", file, "--data", tmp_path, CANDOR_DATABASE_URL=url)
    assert done.exit_code == 0, done.output
    (assignment,) = json.loads(file.read_text())["data"]
    assert assignment["consent"] == {"version": "1.2", "ticked": ["data", "publish"]}
    assert len(load(file).assignments) == 1  # a reader that does not know of it reads on
