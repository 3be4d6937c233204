"""Lists of a run's workers: personal links, SONA credits, and ids on the platform beside pseudonyms.

The signature of a personal link prevents its use with another id.
"""

import asyncio
import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Response
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError
from sqlalchemy import Connection, select

from server.access.actor import Allowed, Caller
from server.access.auth import Auth
from server.access.parts import Database, PublicUrl, Secrets
from server.db.audit import Doer, record
from server.db.recruiting.credits import ask_again, credits_of
from server.db.recruiting.recruitments import codes_of
from server.db.review import left_with_report
from server.db.runs.runs import RunEntry, find_run
from server.db.secrets import external_id
from server.db.tables import AssignmentTable, VisitTable, WorkerTable
from server.desk.runs.responses import AssignmentStatus
from server.errors import WorkerListInvalid
from server.export.spreadsheet import CSV, csv_table
from server.recruiters.arrival import Arrival, WorkerId, personal_link
from server.recruiters.recruiter import SONA, Sona, ending
from server.study import Study, parse_study

_COLUMN = "worker"
LISTS_PATH = re.compile(r"/api/desk/runs/[^/]+/links\.csv")
LISTS_MOST_BYTES = 2_100_000  # of a request: the longest list, plus overhead of JSON
_LONGEST = 2_000_000  # characters of a list
_worker_ids: TypeAdapter[str] = TypeAdapter(WorkerId)


class WorkerList(BaseModel):
    """Ids of workers: one per line, or CSV with a column `worker`."""

    model_config = ConfigDict(extra="forbid")
    workers: Annotated[str, StringConstraints(max_length=_LONGEST)]


router = APIRouter(prefix="/api/desk/runs")
_IDS = [Depends(Allowed("see_worker_ids"))]


@router.post("/{run}/links.csv", tags=["runs"], dependencies=_IDS, **CSV)
async def make_links(
    run: str, body: WorkerList, store: Database, auth: Secrets, public_url: PublicUrl
) -> Response:
    """Return a personal link for each worker of a list, as CSV with the columns worker and link."""
    await store.read(lambda connection: find_run(connection, run))

    def make() -> str:
        return links_csv(signed_links(auth, public_url, run, read_workers(body.workers, "the list")))

    text = await asyncio.to_thread(make)  # a long list takes a while
    headers = {"Content-Disposition": 'attachment; filename="links.csv"'}
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


def signed_links(auth: Auth, public_url: str, run: str, workers: Sequence[str]) -> list[tuple[str, str]]:
    """Return each worker's id with their link to `run`, which begins with `public_url`."""
    return [(one, personal_link(public_url, run, one, auth.link_signature(run, one))) for one in workers]


def links_csv(links: Sequence[tuple[str, str]]) -> str:
    """Return links as CSV."""
    return csv_table([_COLUMN, "link"], links)


def read_workers(text: str, name: str) -> list[str]:
    """Return the ids in a list, in order. `name`: of the list, for errors. Raises WorkerListInvalid."""
    try:
        rows = list(csv.reader(text.removeprefix("\ufeff").splitlines()))
    except csv.Error as error:
        raise WorkerListInvalid(
            f"{name}: is not valid CSV: {error}", "Save the list as CSV, UTF-8."
        ) from error
    found: dict[str, int] = {}
    for line, written in _cells(rows, name):
        worker = _checked(written, f"{name}, line {line}")
        if worker in found:
            raise WorkerListInvalid(
                f"{name}, line {line}: the worker “{worker}” is in line {found[worker]} already",
                "Give each worker a different id: people with the same link count as the same worker.",
            )
        found[worker] = line
    if not found:
        raise WorkerListInvalid(f"{name}: it contains no worker", "Write one id per line.")
    return list(found)


def _cells(rows: list[list[str]], name: str) -> Iterator[tuple[int, str]]:
    """Yield the ids as written, each with its line number from 1."""
    header = [cell.strip().lower() for cell in rows[0]] if rows else []
    if _COLUMN not in header and any(len(row) > 1 for row in rows):
        raise WorkerListInvalid(
            f"{name}: it has several columns, and none is named “{_COLUMN}”",
            f"Name the column of the ids “{_COLUMN}” in the first line, or leave only that column.",
        )
    column = header.index(_COLUMN) if _COLUMN in header else 0
    for line, row in enumerate(rows, start=1):
        if (line > 1 or _COLUMN not in header) and any(cell.strip() for cell in row):
            yield line, row[column] if column < len(row) else ""


def _checked(written: str, where: str) -> str:
    try:
        return _worker_ids.validate_python(written)
    except ValidationError as error:
        reason = error.errors(include_url=False, include_input=False)[0]["msg"]
        raise WorkerListInvalid(
            f"{where}: this is not a valid worker's id: {reason}",
            "An id has 1 to 200 characters, and no control characters.",
        ) from error


class CreditRow(BaseModel):
    """The state of the credit of a worker who has submitted. `due`: not requested yet.

    `granted`: SONA has granted it. `refused`: SONA gave any other answer, and a researcher must decide.
    `unreachable`: SONA did not answer, and the request will be repeated.
    """

    worker: str
    status: Literal["due", "granted", "refused", "unreachable"]
    reason: str
    tried_at: datetime | None


class CreditView(BaseModel):
    """The credits of a run. `asked_by_server`: the server requests them, as set in the study."""

    asked_by_server: bool
    credits: list[CreditRow]


_CREDITS = [Depends(Allowed("act_on_workers"))]


@router.get("/{run}/credits", tags=["recruiting"], dependencies=_CREDITS)
async def show_credits(run: str, store: Database) -> CreditView:
    """List the SONA credits of all students who have submitted, by pseudonym, with reasons of refusal."""
    return await store.read(lambda connection: credit_view(connection, find_run(connection, run)))


@router.post("/{run}/credits/again", tags=["recruiting"], dependencies=_CREDITS)
async def ask_for_credits_again(run: str, actor: Caller, store: Database) -> CreditView:
    """Request the credits that SONA refused again, within half a minute."""

    def again(connection: Connection) -> CreditView:
        entry = find_run(connection, run)
        ask_for_refused(connection, entry, actor)
        return credit_view(connection, entry)

    return await store.submit(again)


def credit_view(connection: Connection, run: RunEntry) -> CreditView:
    """Return the credits of a run; none if the server does not request them."""
    recruiter = parse_study(run.yaml).recruiter
    if not isinstance(recruiter, Sona) or recruiter.credit != "server":
        return CreditView(asked_by_server=False, credits=[])
    found = credits_of(connection, SONA, run.id)
    rows = [
        CreditRow(worker=one.worker, status=one.status or "due", reason=one.reason, tried_at=one.tried_at)
        for one in found
    ]
    return CreditView(asked_by_server=True, credits=rows)


def ask_for_refused(connection: Connection, run: RunEntry, actor: Doer) -> int:
    """Mark the refused credits of a run to be requested again, log it, and return their number."""
    number = ask_again(connection, run.id)
    record(connection, actor, "run.credits_again", run.slug, f"{number} refused credits")
    return number


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


@router.get("/{run}/worker-ids", tags=["runs"], dependencies=_IDS)
async def show_worker_ids(
    run: str, sought: Annotated[Sought, Query()], actor: Caller, store: Database, auth: Secrets
) -> WorkerIdentities:
    """Return the ids of a run's workers: of all, or of the one searched for. The access is logged."""
    return WorkerIdentities(workers=await store.submit(lambda c: identities(c, auth, actor, run, sought)))


@router.get("/{run}/worker-ids.csv", tags=["runs"], dependencies=_IDS, **CSV)
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
