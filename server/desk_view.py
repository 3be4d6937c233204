"""What a researcher sees of a run: progress per system, workers, transcripts. Read from the tables."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, case, distinct, func, select

from server.assignment import QC
from server.auth import Auth
from server.catalog import RunEntry
from server.errors import AssignmentNotFound, NotSimulated
from server.models import (
    Assignment,
    Conversation,
    Criterion,
    Note,
    Rating,
    Run,
    System,
    TopicMark,
    Turn,
    Worker,
    columns,
)
from server.study import parse_study

ASSIGNMENT = columns(Assignment)
CONVERSATION = columns(Conversation)
CRITERION = columns(Criterion)
NOTE = columns(Note)
RATING = columns(Rating)
RUN = columns(Run)
SYSTEM = columns(System)
TOPIC_MARK = columns(TopicMark)
TURN = columns(Turn)
WORKER = columns(Worker)

Json = dict[str, Any]


def run_summary(connection: Connection, run: RunEntry, public_url: str) -> Json:
    """Return a run in a few numbers."""
    study = parse_study(run.yaml)
    query = (
        select(ASSIGNMENT.status, func.count()).where(ASSIGNMENT.run_id == run.id).group_by(ASSIGNMENT.status)
    )
    counts = {status: int(k) for status, k in connection.execute(query)}
    simulated = select(func.count()).where(ASSIGNMENT.run_id == run.id, ASSIGNMENT.simulated)
    rated = (
        select(func.count())
        .select_from(Conversation)
        .join(Assignment, ASSIGNMENT.id == CONVERSATION.assignment_id)
        .where(ASSIGNMENT.run_id == run.id, CONVERSATION.status == "rated")
    )
    statuses = ("active", "completed", "returned", "expired")
    assignments = {status: counts.get(status, 0) for status in statuses}
    return {
        "run": run.slug,
        "study": study.name,
        "title": study.title,
        "status": run.status,
        "created_at": _time(run.created_at),
        "worker_link": f"{public_url}/w/{run.slug}",
        "assignments": assignments | {"simulated": connection.execute(simulated).scalar_one()},
        "conversations_rated": connection.execute(rated).scalar_one(),
    }


def systems(connection: Connection, run: RunEntry) -> list[Json]:
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
    progress = _conversations_by_status(connection, run)
    listed = select(SYSTEM.id, SYSTEM.name, SYSTEM.family, SYSTEM.is_qc).join(
        Run, RUN.study_id == SYSTEM.study_id
    )
    return [
        {
            "system": row.name,
            "family": row.family,
            "is_qc": bool(row.is_qc),
            **progress.get(row.id, dict.fromkeys(("planned", "active", "rated", "failed"), 0)),
            "inputs": inputs.get(row.id, 0),
            "median_latency_ms": _median_latency(connection, run, row.id),
        }
        for row in connection.execute(listed.where(RUN.id == run.id).order_by(SYSTEM.id))
    ]


def assignments(connection: Connection, run: RunEntry, auth: Auth) -> list[Json]:
    """Return every assignment of a run, newest first."""
    in_chat = and_(TURN.conversation_id == CONVERSATION.id, TURN.author == "worker")
    query = (
        select(
            ASSIGNMENT.id,
            WORKER.pseudonym,
            ASSIGNMENT.simulated,
            ASSIGNMENT.status,
            ASSIGNMENT.agreed_at,
            ASSIGNMENT.active_at,
            ASSIGNMENT.ended_at,
            func.count(TURN.turn_index).label("inputs"),
            func.count(distinct(case((CONVERSATION.status == "rated", CONVERSATION.id)))).label("rated"),
        )
        .join(Worker, WORKER.id == ASSIGNMENT.worker_id)
        .join(Conversation, CONVERSATION.assignment_id == ASSIGNMENT.id)
        .outerjoin(Turn, in_chat)
        .where(ASSIGNMENT.run_id == run.id)
        .group_by(ASSIGNMENT.id, WORKER.pseudonym)
        .order_by(ASSIGNMENT.created_at.desc())
    )
    return [
        {
            "assignment": row.id,
            "worker": row.pseudonym,
            "simulated": bool(row.simulated),
            "status": row.status,
            "conversations_rated": int(row.rated),
            "inputs": int(row.inputs),
            "started_at": _time(row.agreed_at),
            "active_at": _time(row.active_at),
            "ended_at": _time(row.ended_at),
            "completion_code": auth.completion_code(row.id) if row.status == "completed" else None,
        }
        for row in connection.execute(query)
    ]


def transcript(connection: Connection, assignment_id: str) -> Json:
    """Return everything about one assignment. Raises AssignmentNotFound."""
    assignment = _assignment(connection, assignment_id)
    query = (
        select(Conversation, SYSTEM.name.label("system"), SYSTEM.family, SYSTEM.is_qc)
        .join(System, SYSTEM.id == CONVERSATION.system_id)
        .where(CONVERSATION.assignment_id == assignment_id)
        .order_by(CONVERSATION.position, CONVERSATION.attempt)
    )
    return {
        "assignment": assignment.id,
        "worker": assignment.pseudonym,
        "status": assignment.status,
        "feedback": assignment.feedback,
        "conversations": [_conversation(connection, row) for row in connection.execute(query).all()],
    }


def simulation(connection: Connection, assignment_id: str, run: RunEntry) -> Json:
    """Return how good a simulated worker finds each of its conversations, and what it should rate.

    Raises:
        AssignmentNotFound: there is no such assignment.
        NotSimulated: it is a person's, or the study has no `simulate` section.
    """
    assignment = _assignment(connection, assignment_id)
    study = parse_study(run.yaml)
    if not assignment.simulated or study.simulate is None:
        raise NotSimulated("this assignment is not a simulated one of a study with a `simulate` section")
    quality = dict(study.simulate.quality) | {QC: 0.0}
    query = (
        select(CONVERSATION.position, CONVERSATION.attempt, SYSTEM.name)
        .join(System, SYSTEM.id == CONVERSATION.system_id)
        .where(CONVERSATION.assignment_id == assignment_id)
        .order_by(CONVERSATION.position, CONVERSATION.attempt)
    )
    return {
        "conversations": [
            {"k": row.position, "attempt": row.attempt, "quality": quality[row.name]}
            for row in connection.execute(query)
        ],
        "criteria": [{"label": c.label, "negative": c.negative, "qc": c.qc} for c in study.criteria],
    }


def run_of(connection: Connection, assignment_id: str) -> str:
    """Return the slug of an assignment's run. Raises AssignmentNotFound."""
    query = (
        select(RUN.slug).join(Assignment, ASSIGNMENT.run_id == RUN.id).where(ASSIGNMENT.id == assignment_id)
    )
    slug = connection.execute(query).scalar_one_or_none()
    if slug is None:
        raise AssignmentNotFound(f"there is no assignment `{assignment_id}`")
    return str(slug)


def _assignment(connection: Connection, assignment_id: str) -> Any:
    query = (
        select(Assignment, WORKER.pseudonym)
        .join(Worker, WORKER.id == ASSIGNMENT.worker_id)
        .where(ASSIGNMENT.id == assignment_id)
    )
    found = connection.execute(query).one_or_none()
    if found is None:
        raise AssignmentNotFound(f"there is no assignment `{assignment_id}`")
    return found


def _conversations_by_status(connection: Connection, run: RunEntry) -> dict[int, Json]:
    query = (
        select(CONVERSATION.system_id, CONVERSATION.status, func.count())
        .join(Assignment, ASSIGNMENT.id == CONVERSATION.assignment_id)
        .where(ASSIGNMENT.run_id == run.id)
        .group_by(CONVERSATION.system_id, CONVERSATION.status)
    )
    progress: dict[int, Json] = {}
    for system, status, k in connection.execute(query):
        counts = progress.setdefault(system, dict.fromkeys(("planned", "active", "rated", "failed"), 0))
        shown = {"ended": "active", "skipped": "failed"}.get(status, status)
        counts[shown] += int(k)
    return progress


def _median_latency(connection: Connection, run: RunEntry, system_id: int) -> int | None:
    of_system = (
        select(TURN.latency_ms)
        .join(Conversation, CONVERSATION.id == TURN.conversation_id)
        .join(Assignment, ASSIGNMENT.id == CONVERSATION.assignment_id)
        .where(ASSIGNMENT.run_id == run.id, CONVERSATION.system_id == system_id, TURN.author == "bot")
    )
    n = connection.execute(select(func.count()).select_from(of_system.subquery())).scalar_one()
    if not n:
        return None
    return int(connection.execute(of_system.order_by(TURN.latency_ms).offset(n // 2).limit(1)).scalar_one())


def _conversation(connection: Connection, row: Any) -> Json:
    def of_this(table: Any, of: Any, order: Any) -> list[Any]:
        query = select(table).where(of.conversation_id == row.id).order_by(order)
        return list(connection.execute(query))

    ratings = (
        select(CRITERION.label, CRITERION.statement, RATING.value)
        .join(Criterion, CRITERION.label == RATING.criterion)
        .join(System, SYSTEM.study_id == CRITERION.study_id)
        .where(RATING.conversation_id == row.id, SYSTEM.id == row.system_id)
        .order_by(CRITERION.position)
    )
    return {
        "position": row.position,
        "attempt": row.attempt,
        "system": row.system,
        "family": row.family,
        "is_qc": bool(row.is_qc),
        "status": row.status,
        "persona": row.persona.split("\n") if row.persona else [],
        "topic_marks": [
            {
                "round": mark.round,
                "topic": mark.topic,
                "how": mark.how,
                "opinion": mark.opinion,
                "bot_opinion": mark.bot_opinion,
            }
            for mark in of_this(TopicMark, TOPIC_MARK, TOPIC_MARK.ordinal)
        ],
        "turns": [
            {
                "turn_index": turn.turn_index,
                "author": turn.author,
                "text": turn.text,
                "created_at": _time(turn.created_at),
                "latency_ms": turn.latency_ms,
            }
            for turn in of_this(Turn, TURN, TURN.turn_index)
        ],
        "ratings": [
            {"criterion": label, "statement": statement, "value": value}
            for label, statement, value in connection.execute(ratings)
        ],
        "incidents": [f"{note.kind}: {note.text}" for note in of_this(Note, NOTE, NOTE.id)],
    }


def _time(value: datetime | None) -> str | None:
    return value.isoformat(timespec="seconds") if value is not None else None
