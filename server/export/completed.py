"""Read the completed assignments of a run in parts, so that runs of any size can be written."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, RowMapping, bindparam, text

from server.db.runs.runs import RunEntry
from server.db.views import FACTS, FactView, Kind

Json = dict[str, Any]
AT_ONCE = 100  # assignments held in memory
_COMPLETED = """
    SELECT assignment_id, simulated FROM v1_assignment
     WHERE run_id = :run AND status = 'completed'
       AND assignment_id NOT IN (SELECT assignment_id FROM v1_exclusion WHERE run_id = :run)
     ORDER BY created_at, assignment_id"""
_CRITERIA = "SELECT * FROM v1_criterion WHERE run_id = :run ORDER BY position"
_ASSIGNMENTS = "SELECT * FROM v1_assignment WHERE run_id = :run AND assignment_id IN :ids"


@dataclass(frozen=True, slots=True)
class CompletedAssignment:
    """Completed assignments that are not excluded, in the order in which they began.

    Simulated workers are included only if nobody else has completed an assignment; `simulated` is then true.
    """

    ids: Sequence[str]
    simulated: bool


def completed(connection: Connection, run: RunEntry) -> CompletedAssignment:
    """Return the assignments to write."""
    found = connection.execute(text(_COMPLETED), {"run": run.id}).all()
    by_people = [row.assignment_id for row in found if not row.simulated]
    ids = by_people or [row.assignment_id for row in found]
    return CompletedAssignment(ids, simulated=bool(ids) and not by_people)


def assignments(connection: Connection, run: RunEntry, ids: Sequence[str]) -> Iterator[list[RowMapping]]:
    """Yield the rows of these assignments in order, in lists of AT_ONCE."""
    for first in range(0, len(ids), AT_ONCE):
        some = ids[first : first + AT_ONCE]
        by_id = {row["assignment_id"]: row for row in rows(connection, run, _ASSIGNMENTS, some)}
        yield [by_id[one] for one in some]


def rows(
    connection: Connection, run: RunEntry, query: str, ids: Sequence[str] | None = None
) -> list[RowMapping]:
    """Return the result of `query` for a run, with `ids` bound to `:ids`."""
    if ids is None:
        return list(connection.execute(text(query), {"run": run.id}).mappings())
    chosen = text(query).bindparams(bindparam("ids", expanding=True))
    return list(connection.execute(chosen, {"run": run.id, "ids": list(ids)}).mappings())


def criteria(connection: Connection, run: RunEntry) -> list[Json]:
    """Return the criteria in the order shown to workers. Ratings are from 0 to `maximum`."""
    return [
        {
            "label": row["label"],
            "statement": row["statement"],
            "negative": bool(row["negative"]),
            "counts_for_qc": bool(row["counts_for_qc"]),
            "maximum": 100,
        }
        for row in rows(connection, run, _CRITERIA)
    ]


def grouped(found: Iterable[RowMapping], key: str) -> Mapping[str, list[RowMapping]]:
    """Return rows grouped by a column, by which they must be ordered."""
    return {name: list(group) for name, group in groupby(found, key=itemgetter(key))}


def seconds(assignment: RowMapping) -> float:
    """Return the duration of a completed assignment in seconds."""
    agreed, ended = (_time(assignment[name]) for name in ("agreed_at", "ended_at"))
    return (ended - agreed).total_seconds()


def _time(value: str | datetime) -> datetime:
    # Views have no column types, so SQLite returns times as text.
    return datetime.fromisoformat(value) if isinstance(value, str) else value


def typed(value: Any, kind: Kind) -> Any:
    """Return a value of a view in the Python type of its kind; times are in UTC."""
    if value is None:
        return None
    if kind == "flag":  # SQLite has none
        return bool(value)
    if kind == "time":
        at = _time(value)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return value


def shown_time(value: datetime) -> str:
    """Return a time in UTC as all files of a run show it."""
    return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def consent_in(row: RowMapping) -> Json:
    """Return the worker's consent under `consent`; nothing if the study does not ask for consent."""
    if row["consent_version"] is None:
        return {}
    ticked = row["consent_ticked"].split(",") if row["consent_ticked"] else []
    return {"consent": {"version": row["consent_version"], "ticked": ticked}}


def provenance_in(turn: RowMapping) -> Json:
    """Return the provenance of a reply under `provenance`; nothing if its bot reported none."""
    told = _facts("v1_turn", turn)
    return {"provenance": told} if told else {}


def facts_in(conversation: RowMapping) -> Json:
    """Return the known facts of a conversation under `facts`; nothing if there are none."""
    known = _facts("v1_conversation", conversation)
    return {"facts": known} if known else {}


def _facts(view: FactView, row: RowMapping) -> Json:
    known = {fact.column: typed(row[fact.column], fact.kind) for fact in FACTS[view]}
    return {
        column: shown_time(value) if isinstance(value, datetime) else value
        for column, value in known.items()
        if value is not None
    }
