"""Two answers for whoever watches this process: that it lives, and that it is ready for newcomers."""

import asyncio

from alembic.script import ScriptDirectory
from fastapi import APIRouter, Response
from pydantic import BaseModel
from redis.asyncio import Redis
from redis.exceptions import RedisError
from sqlalchemy import Connection, text

from bots import redis_pool
from server.db.engine.engines import alembic_config
from server.db.store.store import Store
from server.errors import StorageFailed
from server.process.lifecycle import Lifecycle, Stage

_PATIENCE = 3.0  # seconds for the database to answer


class Readiness(BaseModel):
    """What `/readyz` answers.

    `database` is "ok", or what is wrong with it; `redis` too, or None where none is used. What Redis carries
    may be lost, so that a process without it is ready all the same.
    """

    ready: bool
    stage: Stage
    database: str
    redis: str | None


class Health:
    """Answers `/healthz`: the process lives and its loop turns; `/readyz`: it can serve newcomers.

    A process that does not live should be started again. One that is not ready should be left in peace and
    sent nobody.

    Args:
        store: the database, which must answer and have the schema of this version.
        lifecycle: tells whether the process has started, and not begun to end.
        redis_url: the Redis in use, if there is one.
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
        """Say that the process lives."""
        return {"status": "ok"}

    async def readiness(self, response: Response) -> Readiness:
        """Whether newcomers may be sent here; 503 where not."""
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
    """Return the schema that a database has: the last migration that it went through."""
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def newest_schema() -> str | None:
    """Return the schema that this version needs."""
    return ScriptDirectory.from_config(alembic_config("")).get_current_head()
