"""Read accounts, tokens and roles from the database for `Auth`."""

from collections.abc import Mapping

from sqlalchemy import Connection, bindparam, select

from server.access.roles import Actor
from server.access.sign_ins import signed_in
from server.access.tokens import Grant, find
from server.clock import utc_now
from server.db.store.store import Store
from server.db.tables import Assignment, Run, Study


class StoredDirectory:
    """Looks up tokens, sign-ins, and the studies of requests."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def grant(self, digest: str) -> Grant | None:
        """Return the grant whose token has this SHA-256."""
        return await self._store.look_up(lambda connection: find(connection, digest))

    async def signed_in(self, digest: str) -> Actor | None:
        """Return the person whose browser has signed in under the secret with this SHA-256."""

        def read(connection: Connection) -> Actor | None:
            person = signed_in(connection, digest, utc_now())
            return None if person is None else Actor("person", person.name, person.roles)

        return await self._store.look_up(read)

    async def study_of(self, named: Mapping[str, str]) -> str | None:
        """Return the name of the study that a request's path belongs to; None if it belongs to none.

        For a missing run or assignment, return an empty name, which is not any account's study.
        """
        if "study" in named:
            return named["study"]
        if "run" in named:
            query, key = _OF_RUN, named["run"]
        elif "assignment" in named:
            query, key = _OF_ASSIGNMENT, named["assignment"]
        else:
            return None

        def read(connection: Connection) -> str:
            found: str | None = connection.execute(query, {"key": key}).scalar_one_or_none()
            return found or ""

        return await self._store.look_up(read)


_OF_RUNS = select(Study.c.name).select_from(Study).join(Run, Run.c.study_id == Study.c.id)
_OF_RUN = _OF_RUNS.where(Run.c.slug == bindparam("key"))
_OF_ASSIGNMENT = _OF_RUNS.join(Assignment, Assignment.c.run_id == Run.c.id).where(
    Assignment.c.id == bindparam("key")
)
