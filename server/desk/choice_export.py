"""A run whose workers compare side by side as JSON Lines, for `qc` and everybody else.

The first line is a header: the format and its version, the run, how two are compared, the criteria if there
are any, the systems. Each further line is an assignment with its pairs, in their order: the systems on the
left and on the right, what was said and where replies came from, which was preferred after which line, and
what was rated of each. Only completed assignments are in it, and of them only pairs that were judged; those
of simulated workers only while nobody else has completed an assignment. Ratings are as the worker gave them.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, RowMapping, text

from server.db.runs import RunEntry
from server.desk.export import provenance_in
from server.study import parse_study

FORMAT = "candor-choices"
VERSION = 1

Json = dict[str, Any]
_Grouped = Mapping[str, Sequence[RowMapping]]

_ASSIGNMENTS = "SELECT * FROM v1_assignment WHERE run_id = :run AND status = 'completed' ORDER BY created_at"
_CONVERSATIONS = """
    SELECT * FROM v1_conversation WHERE run_id = :run AND status = 'rated' ORDER BY assignment_id, position"""
_CHOICES = "SELECT * FROM v1_choice WHERE run_id = :run ORDER BY left_conversation_id, turn_index"
_RATINGS = "SELECT * FROM v1_rating WHERE run_id = :run ORDER BY conversation_id, criterion"
_TURNS = "SELECT * FROM v1_turn WHERE run_id = :run ORDER BY conversation_id, turn_index"
_CRITERIA = "SELECT * FROM v1_criterion WHERE run_id = :run ORDER BY position"
_SYSTEMS = "SELECT * FROM v1_system WHERE run_id = :run ORDER BY system"


def export_choices(connection: Connection, run: RunEntry) -> Iterator[Json]:
    """Yield the lines of the file: the header, then each completed assignment."""
    completed = _rows(connection, run, _ASSIGNMENTS)
    by_people = [row for row in completed if not row["simulated"]]
    assignments = by_people or completed
    held = _grouped(_rows(connection, run, _CONVERSATIONS), "assignment_id")
    parts = {
        "choices": _grouped(_rows(connection, run, _CHOICES), "left_conversation_id"),
        "ratings": _grouped(_rows(connection, run, _RATINGS), "conversation_id"),
        "turns": _grouped(_rows(connection, run, _TURNS), "conversation_id"),
    }
    yield _header(connection, run, assignments, simulated=bool(assignments) and not by_people)
    for row in assignments:
        conversations = held.get(row["assignment_id"], [])
        yield {
            "assignment": row["assignment_id"],
            "worker": row["worker"],
            "duration_seconds": (_time(row["ended_at"]) - _time(row["agreed_at"])).total_seconds(),
            "feedback": row["feedback"] or None,
            "pairs": [
                _pair(left, right, parts)
                for left, right in zip(conversations[::2], conversations[1::2], strict=True)
            ],
        }


def _header(
    connection: Connection, run: RunEntry, assignments: Sequence[RowMapping], *, simulated: bool
) -> Json:
    study = parse_study(run.yaml)
    return {
        "format": FORMAT,
        "version": VERSION,
        "run": run.slug,
        "study": study.name,
        "assignments": len(assignments),
        "simulated": simulated,
        "comparison": study.comparison.model_dump(exclude={"pairs"}) if study.comparison else None,
        "criteria": [
            {
                "label": row["label"],
                "statement": row["statement"],
                "negative": bool(row["negative"]),
                "counts_for_qc": bool(row["counts_for_qc"]),
                "maximum": 100,
            }
            for row in _rows(connection, run, _CRITERIA)
        ],
        "systems": [
            {"system": row["system"], "family": row["family"], "is_qc": bool(row["is_qc"])}
            for row in _rows(connection, run, _SYSTEMS)
        ],
    }


def _pair(left: RowMapping, right: RowMapping, parts: Mapping[str, _Grouped]) -> Json:
    both = [left, right]
    return {
        "pair": right["position"] // 2,
        "left": left["system"],
        "right": right["system"],
        "choices": [
            {"turn": choice["turn_index"], "preference": choice["preference"]}
            for choice in parts["choices"].get(left["conversation_id"], [])
        ],
        "ratings": {
            side: {
                rating["criterion"]: rating["value"]
                for rating in parts["ratings"].get(row["conversation_id"], [])
            }
            for side, row in zip(("left", "right"), both, strict=True)
        },
        "lines": _lines(*(parts["turns"].get(row["conversation_id"], []) for row in both)),
    }


def _lines(left: Sequence[RowMapping], right: Sequence[RowMapping]) -> list[Json]:
    """Return what was said, line by line; a reply that did not come any more is null.

    `provenance` of two replies has where they came from, by their side, as far as their bots told.
    """
    replies: dict[int, dict[str, str]] = {}
    made: dict[int, Json] = {}
    lines: dict[int, Json] = {}
    for side, turns in (("left", left), ("right", right)):
        for turn in turns:
            if turn["author"] == "worker":
                lines[turn["turn_index"]] = {"author": "worker", "text": turn["text"]}
            else:
                replies.setdefault(turn["turn_index"], {})[side] = turn["text"]
                for told in provenance_in(turn).values():
                    made.setdefault(turn["turn_index"], {})[side] = told
    for index, both in replies.items():
        lines[index] = {"author": "bot", "left": both.get("left"), "right": both.get("right")}
        if index in made:
            lines[index]["provenance"] = made[index]
    return [{"turn": index, **lines[index]} for index in sorted(lines)]


def _rows(connection: Connection, run: RunEntry, query: str) -> list[RowMapping]:
    return list(connection.execute(text(query), {"run": run.id}).mappings())


def _grouped(rows: Sequence[RowMapping], key: str) -> dict[str, list[RowMapping]]:
    return {name: list(group) for name, group in groupby(rows, key=itemgetter(key))}


def _time(value: str | datetime) -> datetime:
    # A view has no column types: SQLite hands times over as the text it keeps.
    return datetime.fromisoformat(value) if isinstance(value, str) else value
