"""A study that asks questions of its own, in every form there is, and answers to them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from server.db.engine import migrate
from tests.server.support.database import make_run, query

ASKED: dict[str, Any] = {
    "before": [
        {"label": "age", "kind": "number", "question": "How old are you?", "least": 18, "most": 120},
        {"label": "often", "kind": "choice", "question": "How often?", "choices": ["Never", "Daily"]},
    ],
    "conversation": [
        {
            "label": "human",
            "kind": "likert",
            "points": 5,
            "ends": ["like a machine", "like a person"],
            "question": "How human was it?",
        },
        {"label": "note", "kind": "text", "question": "Anything else?", "required": False},
    ],
    "after": [
        {
            "label": "tools",
            "kind": "choices",
            "question": "Which do you use?",
            "choices": ["Phone", "Laptop", "Tablet"],
        },
        {"label": "strain", "kind": "slider", "question": "How tiring?", "ends": ["not at all", "very"]},
    ],
}
SCALES = [
    {"label": "robotic", "statement": "It was a machine.", "negative": True, "qc": False},
    {"label": "fun", "statement": "It was fun.", "scale": {"kind": "likert", "points": 7}},
    {"label": "fluent", "statement": "It was fluent."},
    {"label": "why", "statement": "Why?", "scale": {"kind": "text"}},
]
ANSWERS: dict[str, dict[str, Any]] = {
    "before": {"age": 31, "often": "Daily"},
    "conversation": {"human": 4, "why": "It knew the sea."},
    "after": {"tools": ["Tablet", "Phone"], "strain": 20},
}
# The point 7 of 7 for `fun`.
POINTS = {"robotic": 10, "fun": 7, "fluent": 100}


def answered_run(folder: Path, text: str, given: Iterable[tuple[Any, ...]]) -> tuple[str, str]:
    """Store a run of two assignments that met a system, then the qc bot, and the answers `given`.

    Each of these is an assignment (`a1` or `a2`), a conversation or None, a part, a label, and a text or a
    number. Return the database's URL and the run's name.
    """
    url = f"sqlite:///{folder / 'candor.db'}"
    migrate(url)
    run = make_run(url, text)
    at = "2026-01-01 12:00:00.000000"
    for number, name in enumerate(("a1", "a2")):
        query(url, "INSERT INTO worker (platform, external_id, pseudonym) VALUES ('link', ?, ?)", name, name)
        query(
            url,
            "INSERT INTO assignment (id, run_id, worker_id, place, simulated, reply_pace, "
            "status, created_at, active_at, agreed_at, ended_at, fence) "
            "VALUES (?, ?, ?, ?, 0, 1, 'completed', ?, ?, ?, ?, 0)",
            *(name, run.id, number + 1, number, at, at, at, at),
        )
        for position, system in enumerate(("quokka_plain", "qc"), start=1):
            conversation = f"{name}-{position}.1"
            query(
                url,
                "INSERT INTO conversation (id, assignment_id, position, attempt, system_id, seed, "
                "persona, status, started_at, ended_at, rated_at) "
                "SELECT ?, ?, ?, 1, id, 7, '', 'rated', ?, ?, ? FROM system "
                "WHERE name = ?",
                *(conversation, name, position, at, at, at, system),
            )
            for label in ("robotic", "fun", "fluent"):
                rating = (
                    "INSERT INTO rating (conversation_id, criterion, value, created_at) VALUES (?, ?, ?, ?)"
                )
                query(url, rating, conversation, label, 10 * position + number, at)
    for answer in given:
        insertion = (
            "INSERT INTO answer (assignment_id, conversation_id, part, label, text, number, created_at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)"
        )
        query(url, insertion, *answer, at)
    return url, run.slug
