"""A database that looks like the server's, with rows as a test wants them."""

import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.qc.support.small import CRITERIA, PERSONA, SMALL, SYSTEMS

Json = dict[str, Any]

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
