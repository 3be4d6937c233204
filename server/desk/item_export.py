"""A run whose workers rate items as JSON Lines, for `qc` and everybody else.

The first line is a header: the format and its version, the run, its criteria, its systems. Each further line
is an assignment with its items, in the order in which they were shown; `twin_of` is the position of the
ordinary item that a bad twin, a repeat or a reference belongs to. Only completed assignments that nobody has
excluded are in it, those of simulated workers only while nobody else has completed one. Ratings are as the
worker gave them.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, RowMapping, text

from server.db.runs import RunEntry
from server.desk.export import consent_in
from server.study import parse_study

FORMAT = "candor-item-ratings"
VERSION = 1

Json = dict[str, Any]

_ASSIGNMENTS = """
    SELECT * FROM v1_assignment WHERE run_id = :run AND status = 'completed'
       AND assignment_id NOT IN (SELECT assignment_id FROM v1_exclusion) ORDER BY created_at"""
_RATINGS = """
    SELECT * FROM v1_item_rating WHERE run_id = :run ORDER BY assignment_id, position, criterion"""
_EDITS = "SELECT * FROM v1_item_edit WHERE run_id = :run"
_CRITERIA = "SELECT * FROM v1_criterion WHERE run_id = :run ORDER BY position"
_SYSTEMS = "SELECT * FROM v1_system WHERE run_id = :run ORDER BY system"


def export_items(connection: Connection, run: RunEntry) -> Iterator[Json]:
    """Yield the lines of the file: the header, then each completed assignment."""
    completed = _rows(connection, run, _ASSIGNMENTS)
    by_people = [row for row in completed if not row["simulated"]]
    assignments = by_people or completed
    ratings = {
        key: list(rows)
        for key, rows in groupby(_rows(connection, run, _RATINGS), key=itemgetter("assignment_id"))
    }
    edits = {(row["assignment_id"], row["position"]): row for row in _rows(connection, run, _EDITS)}
    yield _header(connection, run, assignments, simulated=bool(assignments) and not by_people)
    for row in assignments:
        yield {
            "assignment": row["assignment_id"],
            "worker": row["worker"],
            "duration_seconds": (_time(row["ended_at"]) - _time(row["agreed_at"])).total_seconds(),
            "feedback": row["feedback"] or None,
            "items": list(_items(ratings.get(row["assignment_id"], []), edits)),
        } | consent_in(row)


def _header(
    connection: Connection, run: RunEntry, assignments: Sequence[RowMapping], *, simulated: bool
) -> Json:
    return {
        "format": FORMAT,
        "version": VERSION,
        "run": run.slug,
        "study": parse_study(run.yaml).name,
        "assignments": len(assignments),
        "simulated": simulated,
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
            {"system": row["system"], "family": row["family"]} for row in _rows(connection, run, _SYSTEMS)
        ],
    }


def _items(ratings: Sequence[RowMapping], edits: dict[tuple[str, int], RowMapping]) -> Iterator[Json]:
    for position, rows in groupby(ratings, key=itemgetter("position")):
        rated = list(rows)
        first = rated[0]
        item = {
            "position": position,
            "item": first["item_id"],
            "source": first["source"],
            "source_conversation": first["source_conversation_id"],
            "system": first["system"],
            "kind": first["kind"],
            "twin_of": first["twin_of"],
            "seconds": round(first["seconds"], 3),
            "ratings": {row["criterion"]: row["value"] for row in rated},
        }
        edit = edits.get((first["assignment_id"], position))
        if edit is not None:
            item |= {"edited_text": edit["edited_text"], "edit_share": edit["edit_share"]}
        yield item


def _rows(connection: Connection, run: RunEntry, query: str) -> list[RowMapping]:
    return list(connection.execute(text(query), {"run": run.id}).mappings())


def _time(value: str | datetime) -> datetime:
    # A view has no column types: SQLite hands times over as the text it keeps.
    return datetime.fromisoformat(value) if isinstance(value, str) else value
