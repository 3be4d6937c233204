"""Write a run whose workers rate items as JSON Lines.

The first line is a header: the format and its version, the run, its criteria and its systems. Each further
line is an assignment with its items, in the order shown; `twin_of` is the position of the ordinary item that
a bad twin, a repeat or a reference belongs to. The file has only completed assignments that are not excluded;
simulated workers are included only if nobody else has completed an assignment. Ratings are as the worker gave
them.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from sqlalchemy import Connection, RowMapping

from server.db.runs.runs import RunEntry
from server.export.completed import (
    CompletedAssignment,
    Json,
    assignments,
    completed,
    consent_in,
    criteria,
    facts_in,
    grouped,
    rows,
    seconds,
)
from server.study import parse_study

_ByPlace = dict[tuple[str, int], RowMapping]  # by assignment and position

_ITEM_RATINGS = """
    SELECT * FROM v1_item_rating WHERE run_id = :run AND assignment_id IN :ids
     ORDER BY assignment_id, position, criterion"""
_RATED = """
    SELECT * FROM v1_conversation WHERE run_id = :run AND status = 'rated' AND assignment_id IN :ids"""
_EDITS = "SELECT * FROM v1_item_edit WHERE run_id = :run AND assignment_id IN :ids"


def item_lines(connection: Connection, run: RunEntry) -> Iterator[Json]:
    """Yield the lines of the file: the header, then one per completed assignment."""
    written = completed(connection, run)
    systems = [{"system": row["system"], "family": row["family"]} for row in rows(connection, run, _SYSTEMS)]
    yield _header("candor-item-ratings", connection, run, written) | {"systems": systems}
    for some in assignments(connection, run, written.ids):
        ids = [row["assignment_id"] for row in some]
        ratings = grouped(rows(connection, run, _ITEM_RATINGS, ids), "assignment_id")
        edits = _by_place(rows(connection, run, _EDITS, ids))
        conversations = _by_place(rows(connection, run, _RATED, ids))
        for row in some:
            yield {
                "assignment": row["assignment_id"],
                "worker": row["worker"],
                "duration_seconds": seconds(row),
                "feedback": row["feedback"] or None,
                "items": list(_items(ratings.get(row["assignment_id"], []), edits, conversations)),
            } | consent_in(row)


def _by_place(found: Iterable[RowMapping]) -> _ByPlace:
    return {(row["assignment_id"], row["position"]): row for row in found}


def _items(ratings: Sequence[RowMapping], edits: _ByPlace, conversations: _ByPlace) -> Iterator[Json]:
    for position, given in groupby(ratings, key=itemgetter("position")):
        rated = list(given)
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
        item |= facts_in(conversations[first["assignment_id"], position])
        edit = edits.get((first["assignment_id"], position))
        if edit is not None:
            item |= {"edited_text": edit["edited_text"], "edit_share": edit["edit_share"]}
        yield item
