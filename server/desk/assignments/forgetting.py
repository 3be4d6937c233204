"""Remove a worker's words and id, or all their data: endpoints, and functions for the command."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from sqlalchemy import Connection, or_, select

from server.access.actor import Allowed, Caller
from server.access.parts import Database, Secrets, part
from server.clock import utc_now
from server.db.audit import Doer, record
from server.db.removal import (
    NOTHING,
    Extent,
    assignments_of,
    holdings,
    lists_with,
    remove,
    remove_from_lists,
    remove_id,
)
from server.db.tables import AssignmentTable, WorkerTable
from server.errors import SeveralWorkers, WorkerNotFound
from server.live.converse.sessions import LiveSessions
from server.recruiters.arrival import IdCipher

_NEVER_CAME = "a worker who never came"  # in the audit log: without an id, and without a pseudonym


class WorkerToForget(BaseModel):
    """A worker, by pseudonym or id, with the platform if several have the id. `extent`: what to remove."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    worker: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
    platform: Annotated[str, Field(max_length=50)] | None = None
    extent: Extent = "words"


class WorkerHoldings(BaseModel):
    """The amount of data stored about a worker, in rows. `lines`: messages that they wrote.

    `lists`: the number of runs that exclude them. A worker who is excluded and has never come has no
    pseudonym (`worker`) and no `platform`.
    """

    worker: str | None
    platform: str | None
    lists: int
    assignments: int
    under_way: int
    conversations: int
    lines: int
    ratings: int
    answers: int


class ForgottenWorker(BaseModel):
    """The new pseudonym of a worker whose data were removed, and their assignments.

    Without a pseudonym, the worker never came, and was only removed from lists of excluded workers.
    """

    worker: str | None
    assignments: list[str]


Live = Annotated[LiveSessions, part(LiveSessions)]
router = APIRouter(
    prefix="/api/desk/workers", tags=["workers"], dependencies=[Depends(Allowed("forget_workers"))]
)


@router.post("/holdings")
async def show_holdings(
    body: WorkerToForget, actor: Caller, store: Database, auth: Secrets
) -> WorkerHoldings:
    """Return the amount of data stored about a worker in all studies, and log it.

    This is a POST request, so that no URL contains a worker's id.
    """
    return await store.submit(
        lambda connection: look_up(connection, auth.ids, actor, body.worker, body.platform)
    )


@router.post("/forget")
async def forget_worker(
    body: WorkerToForget, actor: Caller, store: Database, auth: Secrets, live: Live
) -> ForgottenWorker:
    """Remove a worker's words and id, or all their data. This cannot be undone."""

    def work(connection: Connection) -> tuple[ForgottenWorker, list[int]]:
        named = (body.worker, body.platform)
        forgotten = forget(connection, auth.ids, actor, named, body.extent, utc_now())
        runs = (
            select(AssignmentTable.c.run_id).where(AssignmentTable.c.id.in_(forgotten.assignments)).distinct()
        )
        return forgotten, list(connection.execute(runs).scalars())

    forgotten, runs = await store.remove(work)
    for assignment in forgotten.assignments:
        live.tell_changed(assignment)
    for run in runs:
        live.run_news.tell(run)
    return forgotten


def holdings_of(connection: Connection, ids: IdCipher, worker: str, platform: str | None) -> WorkerHoldings:
    """Return the amount of data stored about a worker. Raises WorkerNotFound, SeveralWorkers."""
    found = _find(connection, ids, worker, platform)
    held = NOTHING if found.number is None else holdings(connection, found.number)
    return WorkerHoldings(
        worker=found.pseudonym,
        platform=found.platform,
        lists=lists_with(connection, found.kept),
        **asdict(held),
    )


def look_up(
    connection: Connection, ids: IdCipher, actor: Doer, worker: str, platform: str | None
) -> WorkerHoldings:
    """Return the amount of data stored about a worker, and log the access. Raises as `holdings_of`."""
    found = holdings_of(connection, ids, worker, platform)
    record(connection, actor, "worker_ids.read", found.worker or _NEVER_CAME, "what is stored of them")
    return found


def forget(
    connection: Connection,
    ids: IdCipher,
    actor: Doer,
    named: tuple[str, str | None],
    extent: Extent,
    at: datetime,
) -> ForgottenWorker:
    """Remove a worker's words and id, or all their data, and log it under the new pseudonym.

    Args:
        connection: a transaction of the writer's.
        ids: reads and encrypts ids.
        actor: the caller.
        named: a pseudonym or an id, and its platform or None.
        extent: what is removed besides the id.
        at: the current time.

    Raises:
        WorkerNotFound: there is no such worker.
        SeveralWorkers: several platforms have a worker with this id.
    """
    found = _find(connection, ids, *named)
    remove_from_lists(connection, found.kept)
    if found.number is None:
        record(connection, actor, "worker.forget", _NEVER_CAME, "out of lists of who may not come")
        return ForgottenWorker(worker=None, assignments=[])
    assignments = assignments_of(connection, found.number)
    remove(connection, assignments, extent, "forgotten", at)
    pseudonym = remove_id(connection, found.number)
    what = "words and id" if extent == "words" else "everything"
    record(connection, actor, "worker.forget", pseudonym, f"{what}, of {_number(assignments)}")
    return ForgottenWorker(worker=pseudonym, assignments=assignments)


def _number(assignments: Sequence[str]) -> str:
    return "1 assignment" if len(assignments) == 1 else f"{len(assignments)} assignments"


@dataclass(frozen=True, slots=True)
class _Found:
    """A known worker. `kept`: the encrypted id. The other fields are None if the worker never came."""

    kept: str
    number: int | None = None
    pseudonym: str | None = None
    platform: str | None = None


def _find(connection: Connection, ids: IdCipher, name: str, platform: str | None) -> _Found:
    kept = ids.encrypted(name)
    query = select(
        WorkerTable.c.external_id, WorkerTable.c.id, WorkerTable.c.pseudonym, WorkerTable.c.platform
    ).where(or_(WorkerTable.c.pseudonym == name.upper(), WorkerTable.c.external_id == kept))
    if platform is not None:
        query = query.where(WorkerTable.c.platform == platform)
    found = connection.execute(query.order_by(WorkerTable.c.id)).all()
    if not found and lists_with(connection, kept) and not _has_come(connection, kept):
        return _Found(kept)
    if not found:
        where = "" if platform is None else f" on {platform}"
        raise WorkerNotFound(f"No worker has this pseudonym or id{where}")
    if len(found) > 1:
        names = " and ".join(row.platform for row in found)
        raise SeveralWorkers(f"{names} each have a worker with this id")
    return _Found(*found[0])


def _has_come(connection: Connection, kept: str) -> bool:
    """Return whether a worker with this encrypted id has come from any platform."""
    return (
        connection.execute(select(WorkerTable.c.id).where(WorkerTable.c.external_id == kept)).first()
        is not None
    )
