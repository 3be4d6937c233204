"""Write runs of item ratings and of side-by-side comparisons as JSON Lines.

The first line is a header: the format and its version, the run, its criteria and its systems, and the kind of
comparison. Each further line is an assignment. Its items are in the order shown; `twin_of` is the position of
the ordinary item that a bad twin, a repeat or a reference belongs to. Its pairs are in order, only judged
ones: the left and right systems, the turns with the provenance of replies, the preferences with their turns,
and the ratings of each.

The file has only completed assignments that are not excluded; simulated workers are included only if nobody
else has completed an assignment. Ratings are as the worker gave them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    provenance_in,
    rows,
    seconds,
)
from server.study import parse_study

VERSION = 1  # of both formats

_Parts = Mapping[str, Mapping[str, Sequence[RowMapping]]]

_CONVERSATIONS = """
    SELECT * FROM v1_conversation WHERE run_id = :run AND status = 'rated' AND assignment_id IN :ids
     ORDER BY assignment_id, position"""
_CHOICES = """
    SELECT * FROM v1_choice WHERE run_id = :run AND assignment_id IN :ids
     ORDER BY left_conversation_id, turn_index"""
_RATINGS = """
    SELECT * FROM v1_rating WHERE run_id = :run AND conversation_id IN :ids
     ORDER BY conversation_id, criterion"""
_TURNS = """
    SELECT * FROM v1_turn WHERE run_id = :run AND conversation_id IN :ids
     ORDER BY conversation_id, turn_index"""
_SYSTEMS = "SELECT * FROM v1_system WHERE run_id = :run ORDER BY system"


def choice_lines(connection: Connection, run: RunEntry) -> Iterator[Json]:
    """Yield the lines of the file: the header, then each completed assignment."""
    written = completed(connection, run)
    comparison = parse_study(run.yaml).comparison
    yield _header("candor-choices", run, written) | {
        "comparison": comparison.model_dump(exclude={"pairs"}) if comparison else None,
        "criteria": criteria(connection, run),
        "systems": [
            {"system": row["system"], "family": row["family"], "is_qc": bool(row["is_qc"])}
            for row in rows(connection, run, _SYSTEMS)
        ],
    }
    for some in assignments(connection, run, written.ids):
        ids = [row["assignment_id"] for row in some]
        conversations = rows(connection, run, _CONVERSATIONS, ids)
        held = grouped(conversations, "assignment_id")
        both = [row["conversation_id"] for row in conversations]
        parts: _Parts = {
            "choices": grouped(rows(connection, run, _CHOICES, ids), "left_conversation_id"),
            "ratings": grouped(rows(connection, run, _RATINGS, both), "conversation_id"),
            "turns": grouped(rows(connection, run, _TURNS, both), "conversation_id"),
        }
        for row in some:
            sides = held.get(row["assignment_id"], [])
            yield {
                "assignment": row["assignment_id"],
                "worker": row["worker"],
                "duration_seconds": seconds(row),
                "feedback": row["feedback"] or None,
                "pairs": [
                    _pair(left, right, parts) for left, right in zip(sides[::2], sides[1::2], strict=True)
                ],
            }


def _header(form: str, run: RunEntry, written: CompletedAssignment) -> Json:
    return {
        "format": form,
        "version": VERSION,
        "run": run.slug,
        "study": parse_study(run.yaml).name,
        "assignments": len(written.ids),
        "simulated": written.simulated,
    }


def _pair(left: RowMapping, right: RowMapping, parts: _Parts) -> Json:
    both = [left, right]
    facts = {
        side: told
        for side, row in zip(("left", "right"), both, strict=True)
        for told in facts_in(row).values()
    }
    content: Json = {
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
    return content | ({"facts": facts} if facts else {})


def _lines(left: Sequence[RowMapping], right: Sequence[RowMapping]) -> list[Json]:
    """Return the turns of a pair. A missing reply is null.

    `provenance`: that of the two replies, by side, as far as their bots report it.
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


_ByPlace = dict[tuple[str, int], RowMapping]  # by assignment and position

_ITEM_RATINGS = """
    SELECT * FROM v1_item_rating WHERE run_id = :run AND assignment_id IN :ids
     ORDER BY assignment_id, position, criterion"""
_EDITS = "SELECT * FROM v1_item_edit WHERE run_id = :run AND assignment_id IN :ids"


def item_lines(connection: Connection, run: RunEntry) -> Iterator[Json]:
    """Yield the lines of the file: the header, then one per completed assignment."""
    written = completed(connection, run)
    yield _header("candor-item-ratings", run, written) | {
        "criteria": criteria(connection, run),
        "systems": [
            {"system": row["system"], "family": row["family"]} for row in rows(connection, run, _SYSTEMS)
        ],
    }
    for some in assignments(connection, run, written.ids):
        ids = [row["assignment_id"] for row in some]
        ratings = grouped(rows(connection, run, _ITEM_RATINGS, ids), "assignment_id")
        edits = _by_place(rows(connection, run, _EDITS, ids))
        conversations = _by_place(rows(connection, run, _CONVERSATIONS, ids))
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
