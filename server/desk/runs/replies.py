"""Reply times and failures of a run's bots, read from the tables."""

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, and_, case, func, select

from bots.serving import FailureKind, ReplicaState
from server.db.runs.runs import RunEntry
from server.db.tables import (
    AssignmentTable,
    ConversationTable,
    NoteTable,
    SystemTable,
    TurnTable,
    WorkerTable,
)
from server.desk.runs.responses import BotReplies, IncidentRow
from server.study import Study

LATEST = 50  # incidents that are shown
_FAILURES = ("bot_error", "bot_gave_up")
_SAID = ("gave_itself_away", "offensive_reply", "flagged_reply")
States = Callable[[str], tuple[ReplicaState, ...]]


def bot_replies(connection: Connection, run: RunEntry, study: Study, states: States) -> list[BotReplies]:
    """Return statistics of each system's replies; nothing if workers do not chat.

    Args:
        connection: any transaction.
        run: the run.
        study: the run's study.
        states: the states of a registered bot's replicas, as known to this process.
    """
    answered = _answered(connection, run)
    failed = _failed(connection, run)
    return [
        BotReplies(
            system=system,
            bot=bot,
            replies=int(row.n) if (row := answered.get(system)) else 0,
            p50_ms=int(row.p50) if row else None,
            p95_ms=int(row.p95) if row else None,
            floor_ms=round(study.reply_time.floor * 1_000),
            late=int(row.late) if row else 0,
            failed_tries=_tries(failed.get(system, ())),
            failing=_failing(connection, run, system, row.last if row else None) if system in failed else 0,
            gave_away=_count(failed.get(system, ()), "gave_itself_away"),
            offensive=_count(failed.get(system, ()), "offensive_reply"),
            flagged=_count(failed.get(system, ()), "flagged_reply"),
            replicas=dict(Counter(state.state for state in states(bot))),
        )
        for system, bot in study.bots_of_systems.items()
    ]


def incidents(connection: Connection, run: RunEntry) -> list[IncidentRow]:
    """Return the latest incidents of a run, the newest first."""
    query = (
        select(
            NoteTable.c.created_at.label("at"),
            NoteTable.c.kind,
            NoteTable.c.failure,
            NoteTable.c.text,
            SystemTable.c.name.label("system"),
            WorkerTable.c.pseudonym.label("worker"),
            AssignmentTable.c.id.label("assignment"),
            AssignmentTable.c.simulated,
        )
        .select_from(NoteTable)
        .join(ConversationTable, ConversationTable.c.id == NoteTable.c.conversation_id)
        .join(SystemTable, SystemTable.c.id == ConversationTable.c.system_id)
        .join(AssignmentTable, AssignmentTable.c.id == ConversationTable.c.assignment_id)
        .join(WorkerTable, WorkerTable.c.id == AssignmentTable.c.worker_id)
        .where(AssignmentTable.c.run_id == run.id)
        .order_by(NoteTable.c.id.desc())
        .limit(LATEST)
    )
    return [IncidentRow(**row) for row in connection.execute(query).mappings()]


def _answered(connection: Connection, run: RunEntry) -> dict[str, Any]:
    """Return by system: `n` replies, their `p50` and `p95` in ms, how many were `late`, the `last` time."""
    ranked = (
        select(
            SystemTable.c.name,
            TurnTable.c.latency_ms,
            TurnTable.c.created_at,
            case(
                (
                    and_(
                        TurnTable.c.show_at == TurnTable.c.created_at, AssignmentTable.c.simulated.is_(False)
                    ),
                    1,
                ),
                else_=0,
            ).label("late"),
            func.row_number()
            .over(partition_by=SystemTable.c.name, order_by=TurnTable.c.latency_ms)
            .label("rank"),
            func.count().over(partition_by=SystemTable.c.name).label("n"),
        )
        .select_from(TurnTable)
        .join(ConversationTable, ConversationTable.c.id == TurnTable.c.conversation_id)
        .join(SystemTable, SystemTable.c.id == ConversationTable.c.system_id)
        .join(AssignmentTable, AssignmentTable.c.id == ConversationTable.c.assignment_id)
        .where(AssignmentTable.c.run_id == run.id, TurnTable.c.author == "bot")
        .subquery()
    )
    in_row = ranked.c
    p50 = case((in_row.rank == in_row.n // 2 + 1, in_row.latency_ms))
    p95 = case((in_row.rank == (19 * in_row.n + 19) // 20, in_row.latency_ms))
    query = select(
        in_row.name,
        func.max(in_row.n).label("n"),
        func.max(p50).label("p50"),
        func.max(p95).label("p95"),
        func.sum(in_row.late).label("late"),
        func.max(in_row.created_at).label("last"),
    ).group_by(in_row.name)
    return {row.name: row for row in connection.execute(query)}


def _failed(connection: Connection, run: RunEntry) -> dict[str, list[Any]]:
    """Return, by system, how many notes there are of each `kind` and `failure`."""
    query = (
        select(
            SystemTable.c.name.label("system"), NoteTable.c.kind, NoteTable.c.failure, func.count().label("n")
        )
        .select_from(NoteTable)
        .join(ConversationTable, ConversationTable.c.id == NoteTable.c.conversation_id)
        .join(SystemTable, SystemTable.c.id == ConversationTable.c.system_id)
        .join(AssignmentTable, AssignmentTable.c.id == ConversationTable.c.assignment_id)
        .where(AssignmentTable.c.run_id == run.id, NoteTable.c.kind.in_((*_FAILURES, *_SAID)))
        .group_by(SystemTable.c.name, NoteTable.c.kind, NoteTable.c.failure)
        .order_by(SystemTable.c.name)
    )
    return {
        system: list(rows) for system, rows in groupby(connection.execute(query), key=attrgetter("system"))
    }


def _tries(notes: Iterable[Any]) -> dict[FailureKind, int]:
    """Return the number of failed attempts by kind. Those stored without a kind count as `error`."""
    tries: Counter[FailureKind] = Counter()
    for note in notes:
        if note.kind in _FAILURES:
            tries[note.failure or "error"] += note.n
    return dict(tries)


def _count(notes: Iterable[Any], kind: str) -> int:
    return sum(note.n for note in notes if note.kind == kind)


def _failing(connection: Connection, run: RunEntry, system: str, last_reply: datetime | None) -> int:
    """Return the number of failed attempts since a system's last reply."""
    query = (
        select(func.count())
        .select_from(NoteTable)
        .join(ConversationTable, ConversationTable.c.id == NoteTable.c.conversation_id)
        .join(SystemTable, SystemTable.c.id == ConversationTable.c.system_id)
        .join(AssignmentTable, AssignmentTable.c.id == ConversationTable.c.assignment_id)
        .where(
            AssignmentTable.c.run_id == run.id, SystemTable.c.name == system, NoteTable.c.kind.in_(_FAILURES)
        )
    )
    if last_reply is not None:
        query = query.where(NoteTable.c.created_at > last_reply)
    return int(connection.execute(query).scalar_one())
