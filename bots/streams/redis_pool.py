"""Connections to a Redis that may be gone at any moment, and then say so as redis-py does."""

from collections.abc import Iterable
from typing import Any

from redis.asyncio import ConnectionPool
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ConnectionError as ConnectionLost


class _Connection(AbstractConnection):
    """A mixin: a connection that the other end has closed since the last look is a lost one.

    uvloop raises a RuntimeError then, which neither redis-py nor its callers take for that.
    """

    async def send_packed_command(
        self, command: bytes | str | Iterable[bytes], check_health: bool = True
    ) -> None:
        """Send a command. Raises RedisError, OSError."""
        writer = self._writer  # redis-py lets go of it where sending fails
        try:
            await super().send_packed_command(command, check_health)
        except RuntimeError as error:
            if writer is None or not writer.is_closing():
                raise
            raise ConnectionLost("Redis has closed the connection") from error


def redis_pool(url: str, **options: Any) -> ConnectionPool:
    """Return connections to the Redis at `url`, for a client that is to own them; nothing is sent yet.

    `options` are redis-py's. Whatever asks over them has RedisError or OSError where Redis is away.

    Raises:
        ValueError: it is no URL of a Redis.
    """
    pool = ConnectionPool.from_url(url, **options)
    # The URL says which: one over TLS, over a file's socket, or a plain one.
    pool.connection_class = type("Connection", (_Connection, pool.connection_class), {})
    return pool
