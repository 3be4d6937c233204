"""Give an arriving worker an assignment: their own if they have one, else a freed slot, else a new slot.

A run's balanced design is a row of slots (`Place`). A slot is held by one assignment that is completed or
active. It becomes free when its holder gives the assignment back, or is silent longer than the study's
timeouts. The next worker then gets the same slot, with the same systems in the same order, so that the
balance is kept. In studies that rate items, a slot has items instead of systems; it goes to the next worker
who may rate all of them. Everything here runs in one transaction of the writer.
"""

import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import assert_never

import structlog
from sqlalchemy import (
    Connection,
    bindparam,
    select,
    text,
    update,
)

from server.bots.lineup import OpenRun
from server.db import counts
from server.db.runs import items
from server.db.runs.items import DrawnItem
from server.db.runs.runs import lock_run
from server.db.sessions import write as rows
from server.db.sessions.enrolments import BegunAssignment
from server.db.tables import AssignmentTable, ConversationTable, SystemTable, VisitTable
from server.errors import AlreadyTookPart, RunFull, RunNotReady
from server.live.arrive.admission import (
    IN_RUN,
    OF_THIS_ID,
    OWN,
    ArrivalState,
    Place,
    admit,
    held_before,
    look,
    new_place,
    next_place,
    take_place,
)
from server.live.arrive.balance import DrawCounts, draw_plan
from server.live.arrive.draws import draw_hit, draw_pairs, scenarios_of_place
from server.recruiters.arrival import Arrival
from server.session.plan import derive_seed, plan_conversation, plan_item, plan_pair
from server.session.records import Closed, ConversationPlanned

FIRST_FENCE = 0  # the fence of the enrolling process, until another process takes the session over
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Enrolment:
    """The assignment that a worker gets. `displaced` is the assignment that has expired for it.

    `planned` are all the records of a new assignment; None if the assignment existed before.
    """

    assignment: str
    displaced: str | None
    planned: tuple[ConversationPlanned, ...] | None = field(default=None, compare=False)


def new_assignment_id() -> str:
    """Return an id that no assignment has."""
    return secrets.token_hex(8)


@dataclass(frozen=True, slots=True)
class ArrivingWorker:
    """An arriving worker: their name on the platform, their pseudonym, and how they are simulated, if at all.

    `assignment` is the id for a new assignment of theirs. `simulated_as` is stored as the description of a
    simulated worker.
    """

    arrival: Arrival
    pseudonym: str
    simulated: bool
    reply_pace: float
    assignment: str = field(default_factory=new_assignment_id)
    simulated_as: str = ""


def find_enrolment(connection: Connection, run: OpenRun, who: str | Arrival) -> Enrolment | None:
    """Return the assignment in `run` of a returning worker; None for a new one.

    Args:
        connection: Any transaction.
        run: The run. Assignments of other runs do not count.
        who: An assignment's id, proved by its token, or a worker as their platform names them.
    """
    if isinstance(who, Arrival):
        found = connection.execute(OWN, {"run": run.id, **_named(who)}).scalar_one_or_none()
    else:
        found = connection.execute(OF_THIS_ID, {"run": run.id, "key": who}).scalar_one_or_none()
    return Enrolment(found, None) if found is not None else None


def enrolment_in(arrival_state: ArrivalState) -> Enrolment | None:
    """Return the assignment of a returning worker, like `find_enrolment`, from a state loaded before."""
    return Enrolment(arrival_state.own, None) if arrival_state.own is not None else None


def renew_enrolment(connection: Connection, enrolment: Enrolment, arrival: Arrival, at: datetime) -> None:
    """Note that the worker of an enrolment is back, which extends their hold on the slot."""
    connection.execute(_RENEW, {"key": enrolment.assignment, "at": at})
    _note_visit(connection, enrolment.assignment, arrival, at)


def require_place(
    connection: Connection, run: OpenRun, arrival_state: ArrivalState, *, simulated: bool, at: datetime
) -> None:
    """Check that a new worker would get a slot in `run`; nothing is written.

    Raises:
        RunFull: Every slot is held.
        RunNotReady: A bot that the worker would meet is down.
        NotAvailable: As `admit`.
    """
    more = admit(connection, run, arrival_state, simulated=simulated, at=at)
    if run.study.task_type.chats:
        if run.down():
            _planned_chats(connection, run, simulated, arrival_state, more=more)
        else:
            next_place(run, arrival_state, more=more)
    elif next(held_before(connection, run, simulated, at, more=more), None) is None:
        new_place(arrival_state, _most_places(connection, run), more=more)


def enrol(connection: Connection, run: OpenRun, worker: ArrivingWorker, at: datetime) -> Enrolment:
    """Return the worker's assignment in `run`; store a new one and the expiry of one that it displaces.

    The session of a new assignment belongs to the enrolling process, under `FIRST_FENCE`.

    Args:
        connection: A transaction of the writer's. Enrolments in a run wait for each other, also across
            processes: PostgreSQL locks the run's row, and SQLite has one writer.
        run: The run that the worker arrives at.
        worker: The arriving worker.
        at: The time now.

    Raises:
        AlreadyTookPart: The id for a new assignment is taken: one browser has two tickets under two names,
            and the other ticket was used.
        RunFull: Every slot is held, or the worker may not rate the remaining items.
        RunNotReady: A bot that the worker would meet is down.
        NotAvailable: As `admit`.
    """
    lock_run(connection, run.id)
    new, simulated = worker.assignment, worker.simulated
    arrival_state = look(connection, run, worker.arrival, new, simulated=simulated, at=at, to_draw=True)
    if arrival_state.own is not None:
        enrolment = Enrolment(arrival_state.own, None)
        renew_enrolment(connection, enrolment, worker.arrival, at)
        return enrolment
    if arrival_state.of_this_id is not None:
        raise AlreadyTookPart("This browser has taken part already, under another name")
    more = admit(connection, run, arrival_state, simulated=worker.simulated, at=at)
    place, plan = _planned_place(connection, run, worker, arrival_state, at, more=more)
    if place.displaced is not None:
        rows.write(connection, [(place.displaced, Closed("expired", at))])
    if not place.is_new:
        take_place(connection, run, worker.simulated, place)
    systems = [one if isinstance(one, str) else one.system for one in plan]
    scenarios = scenarios_of_place(connection, run, place.number, systems, simulated=worker.simulated)
    conversations = _conversations(connection, run, worker.assignment, plan, scenarios)
    rows.begin(connection, _begun(run, worker, place.number, at), conversations)
    _note_visit(connection, worker.assignment, worker.arrival, at)
    return Enrolment(worker.assignment, place.displaced, tuple(conversations))


# A slot's plan, in order: the names of systems to chat with (for pairs: the left one, then the right one), or
# items to rate.
_Plan = tuple[str, ...] | tuple[DrawnItem, ...]


def _planned_place(
    connection: Connection,
    run: OpenRun,
    worker: ArrivingWorker,
    arrival_state: ArrivalState,
    at: datetime,
    *,
    more: bool,
) -> tuple[Place, _Plan]:
    """Return a worker's slot and its plan; without `more`, only a slot whose holder is gone.

    Raises:
        RunFull: There is no slot.
        RunNotReady: A bot that the worker would meet is down.
    """
    if not run.study.task_type.chats:
        return _place_with_items(connection, run, worker, arrival_state, at, more=more)
    return _planned_chats(connection, run, worker.simulated, arrival_state, more=more)


def _planned_chats(
    connection: Connection, run: OpenRun, simulated: bool, arrival_state: ArrivalState, *, more: bool
) -> tuple[Place, tuple[str, ...]]:
    """Return a worker's slot and the systems in it.

    In a rehearsal a bot may be down, because rehearsals are for finding that out.

    Raises:
        RunFull: There is no slot.
        RunNotReady: Every slot has a bot that is down.
    """
    down = run.down()
    place = next_place(run, arrival_state, more=more)
    plan = _plan_of(connection, run, simulated, place, arrival_state, down)
    if run.is_rehearsal or not down.intersection(plan):
        return place, plan
    other = (
        _without_dead_bots(connection, run, simulated, arrival_state, down)
        if more and not place.is_new
        else None
    )
    if other is None:
        raise RunNotReady("A chatbot of this study does not answer at the moment")
    return other


def _without_dead_bots(
    connection: Connection, run: OpenRun, simulated: bool, arrival_state: ArrivalState, down: frozenset[str]
) -> tuple[Place, tuple[str, ...]] | None:
    """Return a new slot without bots known to be down; None if there is none."""
    try:
        place = new_place(arrival_state, run.study.assignments, more=True)
    except RunFull:
        return None
    plan = _plan_of(connection, run, simulated, place, arrival_state, down)
    return None if down.intersection(plan) else (place, plan)


def _conversations(
    connection: Connection, run: OpenRun, assignment: str, plan: _Plan, scenarios: Sequence[str | None]
) -> list[ConversationPlanned]:
    seed = derive_seed(run.seed, assignment)
    systems = [system for system in plan if isinstance(system, str)]
    match run.study.task:
        case "chat":
            return [
                plan_conversation(run.rules.lineup, assignment, seed, position, 1, system, scenario)
                for position, (system, scenario) in enumerate(zip(systems, scenarios, strict=True), start=1)
            ]
        case "side_by_side":
            both = zip(systems[::2], systems[1::2], strict=True)
            return [
                planned
                for number, two in enumerate(both, start=1)
                for planned in plan_pair(run.rules.lineup, assignment, seed, number, 1, two)
            ]
        case "transcripts":
            drawn = [item for item in plan if isinstance(item, DrawnItem)]
            shown = items.with_content(connection, run.id, drawn) if drawn else []
            return [
                plan_item(assignment, seed, position, system, item)
                for position, (system, item) in enumerate(shown, start=1)
            ]
        case _:
            assert_never(run.study.task)


def _begun(run: OpenRun, worker: ArrivingWorker, place: int, at: datetime) -> BegunAssignment:
    return BegunAssignment(
        worker.assignment,
        run.id,
        worker.arrival.platform,
        worker.arrival.external_id,
        worker.pseudonym,
        place,
        worker.simulated,
        worker.reply_pace,
        worker.simulated_as or None,
        at,
        FIRST_FENCE,
    )


def _note_visit(connection: Connection, assignment: str, arrival: Arrival, at: datetime) -> None:
    if arrival.visit is not None:
        connection.execute(_VISIT, {"assignment_id": assignment, "visit": arrival.visit, "at": at})


def _named(arrival: Arrival) -> dict[str, str]:
    return {"platform": arrival.platform, "external_id": arrival.external_id}


def _place_with_items(
    connection: Connection,
    run: OpenRun,
    worker: ArrivingWorker,
    arrival_state: ArrivalState,
    at: datetime,
    *,
    more: bool,
) -> tuple[Place, tuple[DrawnItem, ...]]:
    """Return the lowest open slot whose items the worker may all rate, or a new slot with such items.

    Raises:
        RunFull: Every slot is held, or too few items are left that this worker may rate.
    """
    unfit = items.unfit_items(connection, run.id, worker.arrival.platform, worker.arrival.external_id)
    for place in held_before(connection, run, worker.simulated, at, more=more):
        plan = items.plan_of_place(connection, run.id, place.number, simulated=worker.simulated)
        if not any(item.item in unfit for item in plan):
            return place, tuple(plan)
    place = new_place(arrival_state, _most_places(connection, run), more=more)
    try:
        plan_of_new = draw_hit(
            items.items_of_run(connection, run.id),
            items.judgments(connection, run.id, simulated=worker.simulated),
            counts.positions_in(arrival_state.counted),
            run.study.per_assignment,
            unfit,
            _seed_of_place(run, worker.simulated, place),
        )
    except ValueError as error:
        raise RunFull("The items left to rate in this study are your own, or you have rated them") from error
    return place, plan_of_new


def _most_places(connection: Connection, run: OpenRun) -> int:
    """Return the study's number of assignments; if it sets none, the number that its judgments need."""
    if run.study.assignments is not None:
        return run.study.assignments
    judgments = len(items.items_of_run(connection, run.id)) * run.study.judgments_per_item
    return math.ceil(judgments / run.study.per_assignment.ordinary)


def _seed_of_place(run: OpenRun, simulated: bool, place: Place) -> int:
    return derive_seed(run.seed, "simulated" if simulated else "place", place.number)


def _plan_of(
    connection: Connection,
    run: OpenRun,
    simulated: bool,
    place: Place,
    arrival_state: ArrivalState,
    down: frozenset[str],
) -> tuple[str, ...]:
    """Return the systems of a slot, in order; drawn now if nobody has had the slot yet."""
    if not place.is_new:
        held = {"run": run.id, "simulated": simulated, "place": place.number}
        before = tuple(connection.execute(_EARLIER_PLAN, held).scalars())
        if before:
            return before
    plan = _draw(connection, run, simulated, place, arrival_state, down)
    if down:  # logged to explain unequal counts later; the draw is not stored yet
        log.info(
            "drawn while bots are away",
            run=run.slug,
            simulated=simulated,
            place=place.number,
            plan=plan,
            away=sorted(down),
        )
    return plan


def _draw(
    connection: Connection,
    run: OpenRun,
    simulated: bool,
    place: Place,
    arrival_state: ArrivalState,
    down: frozenset[str],
) -> tuple[str, ...]:
    match run.study.task:
        case "chat":
            return draw_plan(
                run.rules.lineup.variants,
                _counts(arrival_state),
                systems=run.study.systems_per_assignment,
                qc=run.study.qc_per_assignment,
                seed=_seed_of_place(run, simulated, place),
                down=down,
            )
        case "side_by_side":
            names = [variant.name for variant in run.rules.lineup.variants]
            able = [name for name in names if name not in down]
            return draw_pairs(
                able if len(able) > 1 else names,
                counts.pairs(connection, run.id, simulated=simulated),
                pairs=run.study.pairs,
                qc=run.study.qc_per_assignment,
                seed=_seed_of_place(run, simulated, place),
            )
        case "transcripts":
            raise AssertionError("items are drawn with their slot")
        case _:
            assert_never(run.study.task)


def _counts(arrival_state: ArrivalState) -> DrawCounts:
    positions = counts.positions_in(arrival_state.counted)
    systems: dict[str, int] = {}
    for (name, _), number in positions.items():
        systems[name] = systems.get(name, 0) + number
    return DrawCounts(systems, positions)


# ---- statements, built once: building them anew takes longer than running them ------------------

_RENEW = (
    update(AssignmentTable)
    .where(AssignmentTable.c.id == bindparam("key"), AssignmentTable.c.status == "active")
    .values(active_at=bindparam("at"))
)
_VISIT = text("""
    INSERT INTO visit (assignment_id, visit, at) VALUES (:assignment_id, :visit, :at)
    ON CONFLICT (assignment_id, visit) DO UPDATE SET at = excluded.at""").bindparams(
    bindparam("at", type_=VisitTable.c.at.type)
)
_LAST_HOLDER = (
    select(AssignmentTable.c.id)
    .where(*IN_RUN, AssignmentTable.c.place == bindparam("place"))
    .order_by(AssignmentTable.c.created_at.desc())
    .limit(1)
    .scalar_subquery()
)
_EARLIER_PLAN = (
    select(SystemTable.c.name)
    .select_from(ConversationTable)
    .join(SystemTable, SystemTable.c.id == ConversationTable.c.system_id)
    .where(ConversationTable.c.assignment_id == _LAST_HOLDER, ConversationTable.c.attempt == 1)
    .order_by(ConversationTable.c.position)
)
