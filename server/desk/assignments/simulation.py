"""Endpoints for simulated workers: what they may cost, and the quality of the systems that they meet."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from sqlalchemy import Connection, select

from candor.common.api_models import CriterionSigns, CrowdQuestion, SimulatedBeliefs, SystemQuality
from server.access.actor import Allowed, Caller
from server.access.parts import Database
from server.bots.planned_calls import Confirmation, of_assignments
from server.db.runs.run_states import believed_quality
from server.db.runs.runs import find_run
from server.db.tables import (
    AssignmentTable,
    ConversationTable,
    ItemTable,
    RunTable,
    ShownItemTable,
    SystemTable,
)
from server.errors import AssignmentNotFound, NotSimulated
from server.session.plan import QC
from server.study import parse_study

# Quality that a bad twin loses compared with its item: with a third of its words replaced, it lies about half
# way between an average system and the QC bot, whose quality is 0.
_LOSS_OF_BAD_TWIN = 0.3


router = APIRouter()


@router.get("/api/desk/runs/{run}/crowd-question", tags=["runs"], dependencies=[Depends(Allowed("simulate"))])
async def show_crowd_question(
    run: str, workers: Annotated[int, Query(ge=1, le=10_000)], actor: Caller, store: Database
) -> CrowdQuestion:
    """Return the possible cost of a number of simulated workers in a run."""
    sees_hosts = actor.may("change_bots")
    return await store.read(lambda c: crowd_question(c, run, workers, sees_hosts=sees_hosts))


@router.get(
    "/api/desk/assignments/{assignment}/simulation",
    tags=["runs"],
    dependencies=[Depends(Allowed("simulate"))],
)
async def show_simulation(assignment: str, store: Database) -> SimulatedBeliefs:
    """Return a simulated worker's beliefs about the systems of its assignment."""
    return await store.read(lambda connection: beliefs(connection, assignment))


def beliefs(connection: Connection, assignment_id: str) -> SimulatedBeliefs:
    """Return the quality of each conversation as a simulated worker perceives it, and the study's criteria.

    Raises:
        AssignmentNotFound: there is no such assignment.
        NotSimulated: the worker is a person, or the study has no `simulate` section.
    """
    joined = select(AssignmentTable.c.simulated, RunTable.c.slug).join(
        RunTable, RunTable.c.id == AssignmentTable.c.run_id
    )
    found = connection.execute(joined.where(AssignmentTable.c.id == assignment_id)).one_or_none()
    if found is None:
        raise AssignmentNotFound(f"There is no assignment “{assignment_id}”")
    run = find_run(connection, found.slug)
    study = parse_study(run.yaml)
    believed = believed_quality(connection, run.id)
    if believed is None and study.simulate is not None:
        believed = study.simulate.quality
    if not found.simulated or believed is None:
        raise NotSimulated(
            "This assignment is not simulated, or its study sets no qualities for simulated workers"
        )
    quality = dict(believed) | {QC: 0.0}
    query = (
        select(
            ConversationTable.c.position,
            ConversationTable.c.attempt,
            SystemTable.c.name,
            ShownItemTable.c.kind,
            ItemTable.c.name.label("item"),
        )
        .join(SystemTable, SystemTable.c.id == ConversationTable.c.system_id)
        .outerjoin(ShownItemTable, ShownItemTable.c.conversation_id == ConversationTable.c.id)
        .outerjoin(ItemTable, ItemTable.c.id == ShownItemTable.c.item_id)
        .where(ConversationTable.c.assignment_id == assignment_id)
        .order_by(ConversationTable.c.position, ConversationTable.c.attempt)
    )
    return SimulatedBeliefs(
        conversations=[
            SystemQuality(
                conversation=row.position,
                attempt=row.attempt,
                quality=_quality(quality[row.name], row.kind),
                item=row.item,
                system=row.name if row.item is None else None,
            )
            for row in connection.execute(query)
        ],
        criteria=[
            CriterionSigns(label=c.label, negative=c.negative, qc=c.qc) for c in study.criteria if c.is_scored
        ],
        answers=[question.right for question in study.tutorial.questions] if study.tutorial else [],
    )


def crowd_question(connection: Connection, slug: str, workers: int, *, sees_hosts: bool) -> CrowdQuestion:
    """Return the possible cost of a number of simulated workers in a run, in words. Raises RunNotFound."""
    calls = of_assignments(connection, parse_study(find_run(connection, slug).yaml), workers)
    asked = Confirmation(given=False, sees_hosts=sees_hosts)
    return CrowdQuestion(question=asked.question(f"A crowd of {workers:,} in the run “{slug}”", calls))


def _quality(of_system: float, kind: str | None) -> float:
    """Return the quality of a shown item from its system's quality. A reference has quality 1."""
    if kind == "reference":
        return 1.0
    return max(of_system - _LOSS_OF_BAD_TWIN, 0.0) if kind == "bad" else of_system
