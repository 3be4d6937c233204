"""Health endpoints: whether this process is alive, and whether it is ready for new connections."""

import asyncio
from functools import cache

from alembic.script import ScriptDirectory
from fastapi import APIRouter, Response
from pydantic import BaseModel
from redis.asyncio import Redis
from redis.exceptions import RedisError
from sqlalchemy import Connection, text

from candor.common.network import redis_pool
from server.db.engine.engines import alembic_config
from server.db.store.store import Store
from server.errors import StorageFailed
from server.process.lifecycle import Lifecycle, Stage

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


class ServerHealth:
    """Endpoints `/healthz` (the process and its event loop run) and `/readyz` (it can serve new connections).

    Restart a process that is not alive. Do not restart one that is not ready, but send it no new connections.

    Args:
        store: the database, which must answer and have the schema of this version.
        lifecycle: the stage of the process, which must be serving.
        redis_url: the Redis in use, if any.
    """

    def __init__(self, store: Store, lifecycle: Lifecycle, redis_url: str | None = None) -> None:
        self._store = store
        self._redis_url = redis_url
        self._lifecycle = lifecycle
        self._newest = newest_schema()
        self.router = APIRouter(include_in_schema=False)
        self.router.add_api_route("/healthz", self.health, methods=["GET"])
        self.router.add_api_route("/readyz", self.readiness, methods=["GET"])

    async def health(self) -> dict[str, str]:
        """Respond that the process is alive."""
        return {"status": "ok"}

    async def readiness(self, response: Response) -> Readiness:
        """Return whether the process is ready; status 503 if not."""
        database, redis = await asyncio.gather(self._database(), self._redis())
        stage = self._lifecycle.stage
        ready = database == "ok" and stage == "serving"
        response.status_code = 200 if ready else 503
        return Readiness(ready=ready, stage=stage, database=database, redis=redis)

    async def _database(self) -> str:
        try:
            async with asyncio.timeout(_PATIENCE):
                version = await self._store.read(schema)
        except TimeoutError:
            return f"no answer within {_PATIENCE:.0f} s"
        except StorageFailed:
            version = None
        if self._store.is_damaged:
            return "is damaged"
        if version is None:
            return "cannot be read"
        return (
            "ok" if version == self._newest else f"its schema is {version}, this version's is {self._newest}"
        )

    async def _redis(self) -> str | None:
        if self._redis_url is None:
            return None
        try:
            async with asyncio.timeout(_PATIENCE), Redis.from_pool(redis_pool(self._redis_url)) as redis:
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
