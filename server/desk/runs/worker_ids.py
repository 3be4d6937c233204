"""Translate between pseudonyms and workers' ids, for owners and researchers of the study only."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response
from pydantic import BaseModel, Field
from sqlalchemy import Connection, select

from server.access.actor import Allowed, Caller
from server.access.auth import Auth
from server.access.parts import Database, Secrets
from server.db.audit import Doer, record
from server.db.recruiting.recruitments import codes_of
from server.db.review.message_reports import left_with_report
from server.db.runs.runs import find_run
from server.db.tables import AssignmentTable, VisitTable, WorkerTable
from server.db.worker_ids import external_id
from server.desk.runs.responses import AssignmentStatus
from server.export.spreadsheet import CSV, csv_table
from server.recruiters.arrival import Arrival
from server.recruiters.recruiter import ending
from server.study import Study, parse_study

_COLUMNS = ("worker", "external_id", "platform", "visit", "assignment", "status", "completion_code")
Text = Annotated[str, Field(max_length=300)]


class WorkerIdentity(BaseModel):
    """A worker of a run: pseudonym, id on the platform, and the status of the assignment.

    `visit`: the platform's id of the latest visit (at Prolific, the submission). `completion_code`: the code
    shown to workers who finished, or who left with a report. `external_id` is None if the worker's data were
    removed.
    """

    worker: str
    external_id: str | None
    platform: str
    visit: str | None
    assignment: str
    status: AssignmentStatus
    completion_code: str | None


class WorkerIdentities(BaseModel):
    """The people of a run, in order of arrival."""

    workers: list[WorkerIdentity]


class Sought(BaseModel):
    """A search by pseudonym or by id on the platform; without both, for all workers."""

    worker: Text | None = None
    external_id: Text | None = None


router = APIRouter(prefix="/api/desk/runs", tags=["runs"], dependencies=[Depends(Allowed("see_worker_ids"))])


@router.get("/{run}/worker-ids")
async def show_worker_ids(
    run: str, sought: Annotated[Sought, Query()], actor: Caller, store: Database, auth: Secrets
) -> WorkerIdentities:
    """Return the ids of a run's workers: of all, or of the one searched for. The access is logged."""
    return WorkerIdentities(workers=await store.submit(lambda c: identities(c, auth, actor, run, sought)))


@router.get("/{run}/worker-ids.csv", **CSV)
async def export_worker_ids(run: str, actor: Caller, store: Database, auth: Secrets) -> Response:
    """Return the pseudonyms and ids of all workers of a run, as CSV. The access is logged."""
    found = await store.submit(lambda c: identities(c, auth, actor, run, Sought()))
    headers = {"Content-Disposition": 'attachment; filename="worker-ids.csv"'}
    return Response(identities_csv(found), media_type="text/csv; charset=utf-8", headers=headers)


def identities(
    connection: Connection, auth: Auth, actor: Doer, slug: str, sought: Sought
) -> list[WorkerIdentity]:
    """Return the ids of a run's people, and log the access. Raises RunNotFound.

    Args:
        connection: a transaction.
        auth: decrypts ids and computes completion codes.
        actor: the caller.
        slug: the run's name.
        sought: the search.
    """
    run = find_run(connection, slug)
    study = parse_study(run.yaml)
    query = (
        select(
            WorkerTable.c.pseudonym,
            WorkerTable.c.external_id,
            WorkerTable.c.platform,
            AssignmentTable.c.id,
            AssignmentTable.c.status,
            AssignmentTable.c.id.in_(left_with_report()).label("left_with_report"),
            _LATEST,
        )
        .select_from(AssignmentTable)
        .join(WorkerTable, WorkerTable.c.id == AssignmentTable.c.worker_id)
        .where(AssignmentTable.c.run_id == run.id, AssignmentTable.c.simulated.is_(False))
        .order_by(AssignmentTable.c.created_at, AssignmentTable.c.id)
    )
    if sought.worker is not None:
        query = query.where(WorkerTable.c.pseudonym == sought.worker.upper())
    if sought.external_id is not None:
        query = query.where(WorkerTable.c.external_id == auth.ids.encrypted(sought.external_id))
    codes = codes_of(connection, run.id)
    found = [
        WorkerIdentity(
            worker=row.pseudonym,
            external_id=external_id(row.external_id, auth.ids),
            platform=row.platform,
            visit=row.visit,
            assignment=row.id,
            status=row.status,
            completion_code=_code(study, row, auth, codes),
        )
        for row in connection.execute(query)
    ]
    names = ", ".join(person.worker for person in found)
    whose = "everybody's" if sought == Sought() else names or "nobody's"
    record(connection, actor, "worker_ids.read", slug, whose)
    return found


def _code(study: Study, row: Any, auth: Auth, codes: Mapping[str, str]) -> str | None:
    """Return the completion code shown to a worker; None if there was none."""
    if row.status != "completed" and not row.left_with_report:
        return None
    recruiter = study.recruiter
    is_recruited = recruiter is not None and row.platform == recruiter.kind
    if row.left_with_report and is_recruited and "reported" in codes:
        return codes["reported"]
    arrival = auth.known(Arrival(row.platform, row.external_id))
    return ending(recruiter, study.completion_url, arrival, auth.completion_code(row.id)).code


_LATEST = (
    select(VisitTable.c.visit)
    .where(VisitTable.c.assignment_id == AssignmentTable.c.id)
    .order_by(VisitTable.c.at.desc(), VisitTable.c.visit)
    .limit(1)
    .scalar_subquery()
    .label("visit")
)


def identities_csv(found: Sequence[WorkerIdentity]) -> str:
    """Return workers as CSV with a header row."""
    return csv_table(_COLUMNS, ([getattr(person, name) for name in _COLUMNS] for person in found))
