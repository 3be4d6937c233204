"""Giving an arriving worker an assignment: their own if they have one, a freed place, or a new one.

A run's balanced design is a row of places. A place is held by one assignment that is completed or
under way. It becomes free when its holder gives the assignment back, or falls silent past the
study's time-outs; the next worker then gets that same place, with the same systems in the same order,
so that the balance never suffers. Everything here runs within one transaction of the writer.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    delete,
    func,
    insert,
    literal_column,
    select,
    text,
    union,
    update,
)

from server.bots.lineup import OpenRun
from server.db import plan_counts, rows
from server.db.models import Assignment, Conversation, FreePlace, Run, System, Worker, columns
from server.errors import RunClosed, RunFull
from server.live.balance import Counts, draw_plan
from server.recruiters.link import Arrival
from server.session.plan import derive_seed, plan_conversation
from server.session.records import Closed

ASSIGNMENT = columns(Assignment)
CONVERSATION = columns(Conversation)
FREE_PLACE = columns(FreePlace)
RUN = columns(Run)
SYSTEM = columns(System)
WORKER = columns(Worker)


@dataclass(frozen=True, slots=True)
class Enrolment:
    """The assignment a worker gets. `displaced` is the one that has expired for it."""

    assignment: str
    displaced: str | None


@dataclass(frozen=True, slots=True)
class ArrivingWorker:
    """Who arrives: the platform's name for them, their pseudonym, whether and how they are simulated."""

    arrival: Arrival
    pseudonym: str
    simulated: bool
    reply_pace: float


def find_enrolment(connection: Connection, run: OpenRun, who: str | Arrival) -> Enrolment | None:
    """Return the assignment in `run` of somebody who is back; None for somebody new.

    Args:
        connection: any transaction.
        run: the run that they are back in; an assignment of another run counts for nothing.
        who: an assignment's id, proved by its token, or a worker as their platform names them.
    """
    query = select(ASSIGNMENT.id).where(ASSIGNMENT.run_id == run.id)
    if isinstance(who, Arrival):
        query = query.join(Worker, WORKER.id == ASSIGNMENT.worker_id).where(*_same(who))
    else:
        query = query.where(ASSIGNMENT.id == who)
    found = connection.execute(query).scalar_one_or_none()
    return Enrolment(found, None) if found is not None else None


def renew_enrolment(connection: Connection, enrolment: Enrolment, at: datetime) -> None:
    """Note that the worker of an enrolment is back, so that its place is theirs a while longer."""
    active = update(Assignment).where(ASSIGNMENT.id == enrolment.assignment, ASSIGNMENT.status == "active")
    connection.execute(active.values(active_at=at))


def enrol(connection: Connection, run: OpenRun, worker: ArrivingWorker, at: datetime) -> Enrolment:
    """Return the worker's assignment in `run`; a new one is stored, and the end of one that it displaces.

    Args:
        connection: a transaction of the writer's. Enrolments in a run wait for each other, also those of
            other processes: PostgreSQL locks the run's row, SQLite has one writer.
        run: the run that the worker arrives at.
        worker: who arrives.
        at: now.

    Raises:
        RunClosed: the run takes no more workers.
        RunFull: every place is held.
    """
    open_to_one = select(RUN.status).where(RUN.id == run.id).with_for_update(key_share=True)
    status = connection.execute(open_to_one).scalar_one()
    own = find_enrolment(connection, run, worker.arrival)
    if own is not None:
        renew_enrolment(connection, own, at)
        return own
    if status != "open":
        raise RunClosed("this study takes no more workers")
    worker_id = _worker_id(connection, worker)
    place, displaced = _free_place(connection, run, worker.simulated, at)
    plan = _plan_of(connection, run, worker.simulated, place)
    if displaced is not None:
        rows.write(connection, [(displaced, Closed("expired", at))])
    _take_place(connection, run, worker.simulated, place)
    assignment = _insert(connection, run, worker, worker_id=worker_id, place=place, at=at)
    seed = derive_seed(run.seed, assignment)
    conversations = [
        plan_conversation(run.rules.lineup, assignment, seed, position, 1, system)
        for position, system in enumerate(plan, start=1)
    ]
    rows.write(connection, ((assignment, conversation) for conversation in conversations))
    return Enrolment(assignment, displaced)


_NEW_WORKER = text("""
    INSERT INTO worker (platform, external_id, pseudonym) VALUES (:platform, :external_id, :pseudonym)
    ON CONFLICT DO NOTHING""")


def _same(arrival: Arrival) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return WORKER.platform == arrival.platform, WORKER.external_id == arrival.external_id


def _worker_id(connection: Connection, worker: ArrivingWorker) -> int:
    arrival = worker.arrival
    values = {
        "platform": arrival.platform,
        "external_id": arrival.external_id,
        "pseudonym": worker.pseudonym,
    }
    # In another run the same worker may arrive at the same moment, in another process.
    connection.execute(_NEW_WORKER, values)
    return int(connection.execute(select(WORKER.id).where(*_same(arrival))).scalar_one())


def _insert(
    connection: Connection, run: OpenRun, worker: ArrivingWorker, *, worker_id: int, place: int, at: datetime
) -> str:
    assignment = secrets.token_hex(8)
    connection.execute(
        insert(Assignment).values(
            id=assignment,
            run_id=run.id,
            worker_id=worker_id,
            place=place,
            simulated=worker.simulated,
            reply_pace=worker.reply_pace,
            status="active",
            created_at=at,
            active_at=at,
        )
    )
    return assignment


def _free_place(
    connection: Connection, run: OpenRun, simulated: bool, at: datetime
) -> tuple[int, str | None]:
    """Return the lowest free place, or a new one; and the assignment that is to expire for it, if any.

    Raises:
        RunFull: every place is held.
    """
    silent = _silent(connection, run, simulated, at)
    free = connection.execute(
        select(func.min(FREE_PLACE.place)).where(
            FREE_PLACE.run_id == run.id, FREE_PLACE.simulated == simulated
        )
    ).scalar_one()
    if free is not None and (silent is None or free < silent.place):
        return int(free), None
    if silent is not None:
        return int(silent.place), str(silent.id)
    in_run = (ASSIGNMENT.run_id == run.id, ASSIGNMENT.simulated == simulated)
    last = connection.execute(select(func.max(ASSIGNMENT.place)).where(*in_run)).scalar_one()
    place = 0 if last is None else int(last) + 1
    if run.study.assignments is not None and place >= run.study.assignments:
        raise RunFull("every place of this study is taken")
    return place, None


def _take_place(connection: Connection, run: OpenRun, simulated: bool, place: int) -> None:
    of_it = (FREE_PLACE.run_id == run.id, FREE_PLACE.simulated == simulated, FREE_PLACE.place == place)
    connection.execute(delete(FreePlace).where(*of_it))


def _silent(connection: Connection, run: OpenRun, simulated: bool, at: datetime) -> Any | None:
    """Return the lowest place, and the id, of the assignments that may expire: silent, or too long under way."""  # noqa: E501
    timeouts = run.study.timeouts
    under_way = select(ASSIGNMENT.place, ASSIGNMENT.id).where(
        ASSIGNMENT.run_id == run.id,
        ASSIGNMENT.simulated == simulated,
        # Written out: the indexes that find them hold what is active only, and a parameter could be anything.
        ASSIGNMENT.status == literal_column("'active'"),
    )
    lapsed = union(
        under_way.where(ASSIGNMENT.active_at < at - timedelta(seconds=timeouts.idle)),
        under_way.where(ASSIGNMENT.created_at < at - timedelta(seconds=timeouts.assignment)),
    ).subquery()
    return connection.execute(select(lapsed).order_by(lapsed.c.place).limit(1)).one_or_none()


def _plan_of(connection: Connection, run: OpenRun, simulated: bool, place: int) -> tuple[str, ...]:
    """Return the systems of a place, in their order; drawn now where nobody has had it yet."""
    before = _earlier_plan(connection, run, simulated, place)
    if before:
        return before
    return draw_plan(
        run.rules.lineup.variants,
        _counts(connection, run, simulated),
        systems=run.study.systems_per_assignment,
        qc=run.study.qc_per_assignment,
        seed=derive_seed(run.seed, "simulated" if simulated else "place", place),
    )


def _of_conversations(*columns: Any) -> Any:
    return (
        select(*columns)
        .select_from(Conversation)
        .join(Assignment, ASSIGNMENT.id == CONVERSATION.assignment_id)
        .join(System, SYSTEM.id == CONVERSATION.system_id)
    )


def _earlier_plan(connection: Connection, run: OpenRun, simulated: bool, place: int) -> tuple[str, ...]:
    holder = (
        select(ASSIGNMENT.id)
        .where(ASSIGNMENT.run_id == run.id, ASSIGNMENT.simulated == simulated, ASSIGNMENT.place == place)
        .order_by(ASSIGNMENT.created_at.desc())
        .limit(1)
        .scalar_subquery()
    )
    planned = (ASSIGNMENT.id == holder, CONVERSATION.attempt == 1)
    query = _of_conversations(SYSTEM.name).where(*planned).order_by(CONVERSATION.position)
    return tuple(connection.execute(query).scalars())


def _counts(connection: Connection, run: OpenRun, simulated: bool) -> Counts:
    positions = plan_counts.positions(connection, run.id, simulated=simulated)
    systems: dict[str, int] = {}
    for (name, _), number in positions.items():
        systems[name] = systems.get(name, 0) + number
    return Counts(systems, positions)
