"""Forgetting a worker, over the REST API and for the command: their words and id, or all that they gave."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from sqlalchemy import Connection, or_, select

from server.access.actor import Allowed, Caller
from server.access.auth import Auth
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
from server.db.store.store import Store
from server.db.tables import Assignment, Worker
from server.errors import SeveralWorkers, WorkerNotFound
from server.live.converse.sessions import LiveSessions
from server.recruiters.id_cipher import IdCipher

_NEVER_CAME = "a worker who never came"  # in the audit log: without an id, and without a pseudonym


class WorkerToForget(BaseModel):
    """Who is meant: a pseudonym, or an id; its platform where several know it. `extent`: `words` or `all`."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    worker: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
    platform: Annotated[str, Field(max_length=50)] | None = None
    extent: Extent = "words"


class WorkerHoldings(BaseModel):
    """What is stored of a worker: numbers of rows. `lines`: those that they wrote.

    `lists`: of how many runs they may not come to. Who is on such a list and has never come has no pseudonym
    (`worker`) and no `platform`.
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
    """Who was forgotten: the pseudonym that their data have now, and their assignments.

    Without a pseudonym: they never came, and were taken out of lists of who may not.
    """

    worker: str | None
    assignments: list[str]


class ForgettingApi:
    """Forgets workers; whoever is in a session is told that it has ended."""

    def __init__(self, *, store: Store, auth: Auth, live: LiveSessions) -> None:
        self._store = store
        self._ids = auth.ids
        self._live = live
        allowed = [Depends(Allowed(auth, "forget_workers"))]
        self.router = APIRouter(prefix="/api/desk/workers", tags=["workers"], dependencies=allowed)
        self.router.add_api_route("/holdings", self.show_holdings, methods=["POST"])
        self.router.add_api_route("/forget", self.forget_worker, methods=["POST"])

    async def show_holdings(self, body: WorkerToForget, actor: Caller) -> WorkerHoldings:
        """Return what is stored of a worker in all studies, and log it. By POST: no address has an id."""
        return await self._store.submit(
            lambda connection: look_up(connection, self._ids, actor, body.worker, body.platform)
        )

    async def forget_worker(self, body: WorkerToForget, actor: Caller) -> ForgottenWorker:
        """Remove a worker's words and id, or all that they gave. This cannot be undone."""

        def work(connection: Connection) -> tuple[ForgottenWorker, list[int]]:
            named = (body.worker, body.platform)
            forgotten = forget(connection, self._ids, actor, named, body.extent, utc_now())
            runs = select(Assignment.c.run_id).where(Assignment.c.id.in_(forgotten.assignments)).distinct()
            return forgotten, list(connection.execute(runs).scalars())

        forgotten, runs = await self._store.remove(work)
        for assignment in forgotten.assignments:
            self._live.tell_changed(assignment)
        for run in runs:
            self._live.run_news.tell(run)
        return forgotten


def holdings_of(connection: Connection, ids: IdCipher, worker: str, platform: str | None) -> WorkerHoldings:
    """Return what is stored of a worker. Raises WorkerNotFound, SeveralWorkers."""
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
    """Return what is stored of a worker, and log that somebody has seen it. Raises as `holdings_of`."""
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
    """Remove a worker's words and id, or all that they gave, and log it under their new pseudonym.

    Args:
        connection: a transaction of the writer's.
        ids: reads and encrypts ids.
        actor: who does it.
        named: a pseudonym or an id, and the platform that it is of, or None.
        extent: what is removed besides the id.
        at: now.

    Raises:
        WorkerNotFound: nobody is called that.
        SeveralWorkers: several platforms have somebody of this id.
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
    """Somebody of whom something is stored; all but `kept`, their encrypted id, is None of who never came."""

    kept: str
    number: int | None = None
    pseudonym: str | None = None
    platform: str | None = None


def _find(connection: Connection, ids: IdCipher, name: str, platform: str | None) -> _Found:
    kept = ids.encrypted(name)
    query = select(Worker.c.external_id, Worker.c.id, Worker.c.pseudonym, Worker.c.platform).where(
        or_(Worker.c.pseudonym == name.upper(), Worker.c.external_id == kept)
    )
    if platform is not None:
        query = query.where(Worker.c.platform == platform)
    found = connection.execute(query.order_by(Worker.c.id)).all()
    if not found and lists_with(connection, kept) and not _has_come(connection, kept):
        return _Found(kept)
    if not found:
        where = "" if platform is None else f" on {platform}"
        raise WorkerNotFound(f"no worker has this pseudonym or id{where}")
    if len(found) > 1:
        names = " and ".join(row.platform for row in found)
        raise SeveralWorkers(f"{names} have each a worker of this id")
    return _Found(*found[0])


def _has_come(connection: Connection, kept: str) -> bool:
    """Return whether somebody of an id, as the database keeps it, has come from any platform."""
    return connection.execute(select(Worker.c.id).where(Worker.c.external_id == kept)).first() is not None
