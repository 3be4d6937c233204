"""What a researcher sees of a run: progress per system, and its workers. Read from the tables."""

from sqlalchemy import Connection, and_, case, distinct, func, or_, select

from server.access.auth import Auth
from server.db.models import Assignment, Conversation, Run, System, Turn, Worker, columns
from server.db.runs import RunEntry
from server.desk.responses import AssignmentCounts, AssignmentRow, RunDetail, RunSummary, SystemProgress
from server.study import parse_study

ASSIGNMENT = columns(Assignment)
CONVERSATION = columns(Conversation)
RUN = columns(Run)
SYSTEM = columns(System)
TURN = columns(Turn)
WORKER = columns(Worker)

_PROGRESS = ("planned", "active", "rated", "unrated", "failed", "skipped")


def run_detail(connection: Connection, run: RunEntry, public_url: str, auth: Auth) -> RunDetail:
    """Return a run with its systems and assignments."""
    return RunDetail(
        **dict(run_summary(connection, run, public_url)),
        systems=systems(connection, run),
        workers=assignments(connection, run, auth),
    )


def run_summary(connection: Connection, run: RunEntry, public_url: str) -> RunSummary:
    """Return a run in a few numbers: of people, and beside them of simulated workers."""
    study = parse_study(run.yaml)
    rated = _rated(connection, run)
    return RunSummary(
        run=run.slug,
        study=study.name,
        title=study.title,
        status=run.status,
        cause=run.cause,
        reason=run.reason,
        created_at=run.created_at,
        worker_link=f"{public_url}/w/{run.slug}",
        assignments=_by_status(connection, run, simulated=False),
        conversations_rated=rated.get(False, 0),
        simulated=_by_status(connection, run, simulated=True),
        simulated_conversations_rated=rated.get(True, 0),
    )


def _by_status(connection: Connection, run: RunEntry, *, simulated: bool) -> AssignmentCounts:
    query = (
        select(ASSIGNMENT.status, func.count())
        .where(ASSIGNMENT.run_id == run.id, ASSIGNMENT.simulated == simulated)
        .group_by(ASSIGNMENT.status)
    )
    counts = {status: int(k) for status, k in connection.execute(query)}
    return AssignmentCounts(**{status: counts.get(status, 0) for status in AssignmentCounts.model_fields})


def _rated(connection: Connection, run: RunEntry) -> dict[bool, int]:
    query = (
        select(ASSIGNMENT.simulated, func.count())
        .select_from(Conversation)
        .join(Assignment, ASSIGNMENT.id == CONVERSATION.assignment_id)
        .where(ASSIGNMENT.run_id == run.id, CONVERSATION.status == "rated")
        .group_by(ASSIGNMENT.simulated)
    )
    return {bool(simulated): int(k) for simulated, k in connection.execute(query)}


def systems(connection: Connection, run: RunEntry) -> list[SystemProgress]:
    """Return the progress of every system of a run."""
    turns = (
        select(
            CONVERSATION.system_id,
            func.sum(case((TURN.author == "worker", 1), else_=0)).label("inputs"),
        )
        .join(Turn, TURN.conversation_id == CONVERSATION.id)
        .join(Assignment, ASSIGNMENT.id == CONVERSATION.assignment_id)
        .where(ASSIGNMENT.run_id == run.id)
        .group_by(CONVERSATION.system_id)
    )
    inputs = {system: int(k) for system, k in connection.execute(turns)}
    latency = _median_latencies(connection, run)
    progress = _conversations_by_status(connection, run)
    listed = select(SYSTEM.id, SYSTEM.name, SYSTEM.family, SYSTEM.is_qc).join(
        Run, RUN.study_id == SYSTEM.study_id
    )
    return [
        SystemProgress(
            system=row.name,
            family=row.family,
            is_qc=row.is_qc,
            **progress.get(row.id, dict.fromkeys(_PROGRESS, 0)),
            inputs=inputs.get(row.id, 0),
            median_latency_ms=latency.get(row.id),
        )
        for row in connection.execute(listed.where(RUN.id == run.id).order_by(SYSTEM.id))
    ]


def assignments(connection: Connection, run: RunEntry, auth: Auth) -> list[AssignmentRow]:
    """Return every assignment of a run, newest first."""
    in_chat = and_(TURN.conversation_id == CONVERSATION.id, TURN.author == "worker")
    rated = case((CONVERSATION.status == "rated", CONVERSATION.id))
    query = (
        select(
            ASSIGNMENT.id.label("assignment"),
            WORKER.pseudonym.label("worker"),
            ASSIGNMENT.simulated,
            ASSIGNMENT.status,
            func.count(distinct(rated)).label("conversations_rated"),
            func.count(TURN.turn_index).label("inputs"),
            ASSIGNMENT.agreed_at.label("started_at"),
            ASSIGNMENT.active_at,
            ASSIGNMENT.ended_at,
        )
        .join(Worker, WORKER.id == ASSIGNMENT.worker_id)
        .join(Conversation, CONVERSATION.assignment_id == ASSIGNMENT.id)
        .outerjoin(Turn, in_chat)
        .where(ASSIGNMENT.run_id == run.id)
        .group_by(ASSIGNMENT.id, WORKER.pseudonym)
        .order_by(ASSIGNMENT.created_at.desc())
    )
    return [
        AssignmentRow(
            **row,
            completion_code=auth.completion_code(row["assignment"]) if row["status"] == "completed" else None,
        )
        for row in connection.execute(query).mappings()
    ]


def _conversations_by_status(connection: Connection, run: RunEntry) -> dict[int, dict[str, int]]:
    """Return the counts per system. What an assignment that is over has left undone is not counted."""
    query = (
        select(CONVERSATION.system_id, CONVERSATION.status, func.count())
        .join(Assignment, ASSIGNMENT.id == CONVERSATION.assignment_id)
        .where(
            ASSIGNMENT.run_id == run.id,
            or_(
                ASSIGNMENT.status == "active",
                CONVERSATION.status.in_(("rated", "unrated", "failed", "skipped")),
            ),
        )
        .group_by(CONVERSATION.system_id, CONVERSATION.status)
    )
    progress: dict[int, dict[str, int]] = {}
    for system, status, k in connection.execute(query):
        counts = progress.setdefault(system, dict.fromkeys(_PROGRESS, 0))
        counts["active" if status == "ended" else status] += int(k)
    return progress


def _median_latencies(connection: Connection, run: RunEntry) -> dict[int, int]:
    """Return the (upper) median milliseconds that each system took to reply."""
    ranked = (
        select(
            CONVERSATION.system_id,
            TURN.latency_ms,
            func.row_number()
            .over(partition_by=CONVERSATION.system_id, order_by=TURN.latency_ms)
            .label("rank"),
            func.count().over(partition_by=CONVERSATION.system_id).label("n"),
        )
        .select_from(Turn)
        .join(Conversation, CONVERSATION.id == TURN.conversation_id)
        .join(Assignment, ASSIGNMENT.id == CONVERSATION.assignment_id)
        .where(ASSIGNMENT.run_id == run.id, TURN.author == "bot")
        .subquery()
    )
    middle = ranked.c.rank == ranked.c.n // 2 + 1
    query = select(ranked.c.system_id, ranked.c.latency_ms).where(middle)
    return {system: int(latency) for system, latency in connection.execute(query)}
