"""Data sets for the tests of qc: one small enough to work out by hand, and the published one."""

import copy
import csv
import io
import json
import os
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from qc.report import app
from tests.qc.watched import Watched

REPOSITORY = Path(__file__).parents[2]

# Three criteria: fun and clear count for quality control; robotic is negative and does not.
CRITERIA = {
    "robotic": {"positive": False, "qc": False, "max": 100},
    "fun": {"positive": True, "qc": True, "max": 100},
    "clear": {"positive": True, "qc": True, "max": 100},
}
SYSTEMS = ["alpha", "alpha_p", "beta"]
PERSONA = "I am a cook.\nI have two dogs."

# worker -> (seconds, [(system, robotic, fun, clear), ...]); what follows from it is derived in test_small.py.
SMALL: Mapping[str, tuple[int, list[tuple[str, int, int, int]]]] = {
    "anna": (
        2400,
        [("alpha", 55, 30, 40), ("qc", 55, 10, 20), ("beta", 55, 50, 60), ("alpha_p", 55, 70, 80)],
    ),
    "ben": (960, [("alpha", 55, 10, 20), ("qc", 55, 70, 80), ("beta", 55, 30, 40), ("alpha_p", 55, 50, 60)]),
    "cleo": (480, [("alpha", 50, 50, 50), ("qc", 50, 50, 50), ("beta", 50, 50, 50), ("alpha_p", 50, 50, 50)]),
    "dan": (600, [("alpha", 10, 20, 30), ("beta", 40, 50, 60)]),
    "eve": (300, [("qc", 90, 5, 6)]),
}

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


Row = dict[str, str]
BATCH_COLUMNS = [
    "HITId",
    "AssignmentId",
    "WorkerId",
    "AssignmentStatus",
    "WorkTimeInSeconds",
    "Input.u0",
    "Input.u1",
]


def batch_row(number: int, answer: object) -> Row:
    """Return a row of an MTurk batch with the families `kv` and `qc` and the given answer."""
    return {
        "HITId": f"H{number}",
        "AssignmentId": f"A{number}",
        "WorkerId": f"W{number}",
        "AssignmentStatus": "Submitted",
        "WorkTimeInSeconds": "600",
        "Input.u0": "kv",
        "Input.u1": "qc",
        "Answer.taskAnswers": json.dumps(answer),
    }


def batch_answer() -> dict[str, Any]:
    """Return an answer of two conversations: `kv` with a persona, then the qc bot."""
    return {
        "task0": "kv",
        "seed0": "500",
        "score0": "90#60#70#80#85#40#75#",
        "task1": "qc",
        "seed1": "7",
        "score1": "95#1#2#3#4#5#6#",
        "feedback": "fine",
    }


@pytest.fixture
def batch() -> list[Row]:
    """Two answered assignments, the second without persona, and one that came back without answers."""
    other = {**batch_answer(), "seed0": "501", "score0": "10#20#30#40#50#60#70#"}
    return [
        batch_row(1, [batch_answer()]),
        batch_row(2, [other]),
        batch_row(3, [{"feedback": "I LIKE THIS SURVEY"}]),
    ]


def batch_text(rows: list[Row]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, [*BATCH_COLUMNS, "Answer.taskAnswers"])
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


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


# The views of the server, as tables: qc must not be able to tell the difference.
VIEWS = {
    "v1_version": "version",
    "v1_run": "run_id, run, study, study_hash, topic_mode, created_at",
    "v1_criterion": "run_id, position, label, statement, negative, counts_for_qc",
    "v1_system": "run_id, system, family, is_qc",
    "v1_assignment": "run_id, assignment_id, worker, simulated, status, created_at, agreed_at, ended_at, "
    "feedback",
    "v1_conversation": "run_id, assignment_id, conversation_id, position, attempt, system, family, is_qc, "
    "has_persona, persona, status, started_at, ended_at, rated_at",
    "v1_rating": "run_id, assignment_id, conversation_id, criterion, value",
    "v1_turn": "run_id, conversation_id, turn_index, author, text, latency_ms, created_at, overran",
    "v1_note": "run_id, conversation_id, kind, text, created_at",
    "v1_topic_mark": "run_id, conversation_id, ordinal, round, topic, how, opinion, bot_opinion",
}


class Database:
    """A database file that looks like the server's, and the means to change what is in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.url = f"sqlite:///{path}"

    def execute(self, statement: str, *values: object) -> None:
        connection = sqlite3.connect(self.path)
        try:
            connection.execute(statement, values)
            connection.commit()
        finally:
            connection.close()

    def insert(self, view: str, **values: object) -> None:
        self.fill({view: [values]})

    def fill(self, views: Mapping[str, list[Json]]) -> None:
        connection = sqlite3.connect(self.path)
        try:
            for view, rows in views.items():
                names, marks = ", ".join(rows[0]), ", ".join("?" for _ in rows[0])
                statement = f"INSERT INTO {view} ({names}) VALUES ({marks})"  # noqa: S608
                connection.executemany(statement, [tuple(row.values()) for row in rows])
            connection.commit()
        finally:
            connection.close()

    def add_run(self, run_id: str, run: str) -> None:
        self.insert("v1_run", run_id=run_id, run=run, study="tiny", study_hash="0", topic_mode="free")
        for position, (label, given) in enumerate(CRITERIA.items()):
            flags = {"negative": int(not given["positive"]), "counts_for_qc": int(given["qc"])}
            self.insert("v1_criterion", run_id=run_id, position=position, label=label, statement="…", **flags)
        for system in [*SYSTEMS, "qc"]:
            family = system.removesuffix("_p")
            self.insert("v1_system", run_id=run_id, system=system, family=family, is_qc=int(system == "qc"))

    def add_assignment(self, run_id: str, worker: str, **changes: object) -> None:
        """Add the assignment of `worker` in SMALL; `changes` are to its row."""
        seconds, held = SMALL[worker]
        name = f"{run_id}-{worker}"
        row = {
            "worker": worker,
            "simulated": 0,
            "status": "completed",
            "agreed_at": "2025-03-01 10:00:00.000000",
            "ended_at": f"2025-03-01 {10 + seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}.000000",
        }
        self.insert("v1_assignment", run_id=run_id, assignment_id=name, **{**row, **changes})
        for position, (system, *values) in enumerate(held, start=1):
            conversation = f"{name}-{position}"
            keys = {"run_id": run_id, "assignment_id": name, "conversation_id": conversation}
            persona = PERSONA if system.endswith("_p") else ""
            self.insert(
                "v1_conversation",
                **keys,
                position=position,
                system=system,
                has_persona=int(persona != ""),
                persona=persona,
                status="rated",
            )
            for criterion, value in zip(CRITERIA, values, strict=True):
                self.insert("v1_rating", **keys, criterion=criterion, value=value)

    def say(self, conversation: str, *turns: tuple[str, str], run_id: str = "r1") -> None:
        """Add turns (author, text) to a conversation in which nothing has been said."""
        for index, (author, text) in enumerate(turns):
            keys = {"run_id": run_id, "conversation_id": conversation}
            self.insert("v1_turn", **keys, turn_index=index, author=author, text=text, overran=0)

    def mark(self, conversation: str, *marks: tuple[object, ...], run_id: str = "r1") -> None:
        """Add marks (round, topic, opinion, how, opinion of the bot) to a conversation without any."""
        names = ("round", "topic", "opinion", "how", "bot_opinion")
        for ordinal, values in enumerate(marks):
            keys = {"run_id": run_id, "conversation_id": conversation, "ordinal": ordinal}
            self.insert("v1_topic_mark", **keys, **dict(zip(names, values, strict=True)))


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
def published() -> Path:
    """The published data and their golden files; without them the test is skipped, in CI failed."""
    place = Path(os.environ.get("CANDOR_PUBLISHED_DATA", REPOSITORY.parent / "shared" / "data"))
    if (place / "golden").is_dir() and (place / "published").is_dir():
        return place
    message = (
        f"PUBLISHED DATA ABSENT: nothing at {place}. Set CANDOR_PUBLISHED_DATA to check the golden files."
    )
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Watched]:
    """Return a function that shows what the command line in the given module does behind the scenes."""
    return lambda module: Watched.of(module, monkeypatch)
