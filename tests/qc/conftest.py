"""Data sets for the tests of qc: one small enough to work out by hand, and the published one."""

import copy
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from qc.loading import load
from qc.method.sample import Sample, take_sample
from qc.report.__main__ import app
from qc.run import Run
from tests.qc.support.batch import Row, batch_answer, batch_row, batch_text
from tests.qc.support.database import VIEWS, Database
from tests.qc.support.small import CRITERIA, SMALL, SYSTEMS
from tests.qc.support.watched import Watched

Json = dict[str, Any]


@pytest.fixture
def small_hits() -> Json:
    """The small data set in the format of hits_data.json. Free to be changed by the test."""
    return {
        "metadata": {
            "score": copy.deepcopy(CRITERIA),
            "model": list(SYSTEMS),
            "qc-model": "qc",
            "ranking": None,
            "sorted_scores": ["fun", "clear", "robotic"],
        },
        "data": [
            {
                "hit": f"H-{worker}",
                "assignment": f"A-{worker}",
                "worker": worker,
                "duration in seconds": seconds,
                "result": [
                    {
                        "model": system,
                        "score": {"robotic": robotic, "fun": fun, "clear": clear},
                        "dialogue": [],
                    }
                    for system, robotic, fun, clear in held
                ],
                "feedback": "None",
            }
            for worker, (seconds, held) in SMALL.items()
        ],
    }


@pytest.fixture
def hits_file(tmp_path: Path) -> Callable[[object], Path]:
    """Return a function that writes a value as JSON and returns the file."""

    def write(content: object) -> Path:
        path = tmp_path / "hits_data.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        return path

    return write


@pytest.fixture
def batch() -> list[Row]:
    """Two answered assignments, the second without persona, and one that came back without answers."""
    other = {**batch_answer(), "seed0": "501", "score0": "10#20#30#40#50#60#70#"}
    return [
        batch_row(1, [batch_answer()]),
        batch_row(2, [other]),
        batch_row(3, [{"feedback": "I LIKE THIS SURVEY"}]),
    ]


@pytest.fixture
def batch_file(tmp_path: Path) -> Callable[[list[Row]], Path]:
    """Return a function that writes rows as an MTurk batch CSV and returns the file."""

    def write(rows: list[Row]) -> Path:
        path = tmp_path / "mturk_batch.csv"
        path.write_text(batch_text(rows), encoding="utf-8")
        return path

    return write


@pytest.fixture
def edited_answer(batch: list[Row]) -> Callable[..., list[Row]]:
    """Return a function that gives `batch` with parts of the first answer replaced, or removed by None."""

    def edit(**parts: object) -> list[Row]:
        answer = {key: value for key, value in {**batch_answer(), **parts}.items() if value is not None}
        return [batch_row(1, [answer]), *batch[1:]]

    return edit


@pytest.fixture
def empty_database(tmp_path: Path) -> Database:
    """A database with the views and no run."""
    database = Database(tmp_path / "candor.db")
    for view, columns in VIEWS.items():
        database.execute(f"CREATE TABLE {view} ({columns})")
    database.insert("v1_version", version=1)
    return database


@pytest.fixture
def database(empty_database: Database) -> Database:
    """A database with the small data set as its only run, `first`."""
    empty_database.add_run("r1", "first")
    for worker in SMALL:
        empty_database.add_assignment("r1", worker)
    return empty_database


@pytest.fixture
def spoken_database(database: Database) -> Database:
    """The small data set with words in the first conversation, `r1-anna-1`, of which one has no reply."""
    database.say("r1-anna-1", ("worker", "Hello"), ("bot", "hi ."), ("worker", "Do you cook?"))
    database.mark(
        "r1-anna-1",
        (0, "weather", "like", None, None),
        (1, None, None, "no change", "ambivalent"),
        (2, "cooking", "dislike", "user change last", "like"),
    )
    return database


@pytest.fixture
def report() -> Callable[..., Result]:
    """Return a function that runs the command line with the given arguments."""

    def run(*arguments: object) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return run


@pytest.fixture
def refused(report: Callable[..., Result]) -> Callable[..., str]:
    """Return a function that runs the command line, asserts that it refuses, and returns its message."""

    def run(*arguments: object) -> str:
        result = report(*arguments)
        assert result.exit_code == 2, result.output
        assert isinstance(result.exception, SystemExit)
        assert result.stdout == ""
        assert result.stderr.startswith("Error: ")
        assert "Traceback" not in result.stderr
        return result.stderr

    return run


@pytest.fixture(scope="session")
def published_run(published: Path) -> Callable[[str, str], Run]:
    """Return a function that gives a published run by its name and its file; each is read once.

    A test must not change what is in it.
    """
    return cache(lambda name, file: load(published / "published" / name / file))


@pytest.fixture(scope="session")
def published_sample(published_run: Callable[[str, str], Run]) -> Callable[[str, str], Sample]:
    """Return a function that gives the sample of a published run by its name and its file."""
    return cache(lambda name, file: take_sample(published_run(name, file)))


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Watched]:
    """Return a function that shows what the command line in the given module does behind the scenes."""
    return lambda module: Watched.of(module, monkeypatch)
