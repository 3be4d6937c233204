"""Stages of a server process, and endpoints that tell whether it is alive and ready for connections."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Annotated, Literal

from alembic.script import ScriptDirectory
from fastapi import APIRouter, Response
from pydantic import BaseModel
from redis.asyncio import Redis
from redis.exceptions import RedisError
from sqlalchemy import Connection, text

from candor.common.network import redis_pool
from server.access.parts import Configured, Database, part
from server.db.engine import alembic_config
from server.db.store import Store
from server.errors import StorageFailed

Stage = Literal["starting", "serving", "draining"]


class Lifecycle:
    """The stage of this process: starting, serving after `begin_serving`, draining after `drain`.

    Args:
        drain_seconds: how long the process may take to finish its work.
    """

    def __init__(self, drain_seconds: float = 0.0) -> None:
        self.stage: Stage = "starting"
        self._drain_seconds = drain_seconds
        self._to_drain: list[Callable[[float], Awaitable[None]]] = []

    def on_drain(self, *drains: Callable[[float], Awaitable[None]]) -> None:
        """Register functions to call at the end of the process, with the seconds that they may take."""
        self._to_drain += drains

    def begin_serving(self) -> None:
        """Enter the stage `serving`, when everything has started."""
        self.stage = "serving"

    async def drain(self) -> None:
        """Enter the stage `draining`, and call all registered functions."""
        self.stage = "draining"
        await asyncio.gather(*(drain(self._drain_seconds) for drain in self._to_drain))


_PATIENCE = 3.0  # seconds for the database to answer


class Readiness(BaseModel):
    """The response of `/readyz`.

    `database`: "ok", or its problem. `redis`: the same, or None if no Redis is used. A process is ready
    without Redis, because data in Redis may be lost.
    """

    ready: bool
    stage: Stage
    database: str
    redis: str | None


router = APIRouter(include_in_schema=False)


@router.get("/healthz")
async def health() -> dict[str, str]:
    """Respond that the process is alive: its event loop runs. Restart a process that is not alive."""
    return {"status": "ok"}


@router.get("/readyz")
async def readiness(
    store: Database,
    lifecycle: Annotated[Lifecycle, part(Lifecycle)],
    settings: Configured,
    response: Response,
) -> Readiness:
    """Return whether the process can serve new connections; status 503 if not.

    Do not restart a process that is not ready, but send it no new connections.
    """
    database, redis = await asyncio.gather(_database(store), _redis(settings.redis_url))
    stage = lifecycle.stage
    ready = database == "ok" and stage == "serving"
    response.status_code = 200 if ready else 503
    return Readiness(ready=ready, stage=stage, database=database, redis=redis)


async def _database(store: Store) -> str:
    newest = await asyncio.to_thread(newest_schema)
    try:
        async with asyncio.timeout(_PATIENCE):
            version = await store.read(schema)
    except TimeoutError:
        return f"no answer within {_PATIENCE:.0f} s"
    except StorageFailed:
        version = None
    if store.is_damaged:
        return "is damaged"
    if version is None:
        return "cannot be read"
    return "ok" if version == newest else f"its schema is {version}, this version's is {newest}"


async def _redis(url: str | None) -> str | None:
    if url is None:
        return None
    try:
        async with asyncio.timeout(_PATIENCE), Redis.from_pool(redis_pool(url)) as redis:
            await redis.ping()
    except (RedisError, OSError, TimeoutError):
        return "away"
    return "ok"


def schema(connection: Connection) -> str | None:
    """Return the schema of a database, which is its latest migration."""
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


@cache
def newest_schema() -> str | None:
    """Return the schema that this version needs. Reads all migrations, once."""
    return ScriptDirectory.from_config(alembic_config("")).get_current_head()
