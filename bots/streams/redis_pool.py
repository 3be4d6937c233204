"""Connections to a Redis that may go away at any moment; errors are always redis-py's."""

from collections.abc import Iterable
from typing import Any

from redis.asyncio import ConnectionPool
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ConnectionError as ConnectionLost


class _Connection(AbstractConnection):
    """A mixin that reports a connection closed by the other end as lost.

    uvloop raises a RuntimeError for it, which redis-py and its callers do not expect.
    """

    async def send_packed_command(
        self, command: bytes | str | Iterable[bytes], check_health: bool = True
    ) -> None:
        """Send a command. Raises RedisError, OSError."""
        writer = self._writer  # redis-py drops it if sending fails
        try:
            await super().send_packed_command(command, check_health)
        except RuntimeError as error:
            if writer is None or not writer.is_closing():
                raise
            raise ConnectionLost("Redis has closed the connection") from error


def redis_pool(url: str, **options: Any) -> ConnectionPool:
    """Return a connection pool for the Redis at `url`, owned by the client; nothing is sent yet.

    `options` are redis-py's. Commands raise RedisError or OSError if Redis is away.

    Raises:
        ValueError: `url` is not the URL of a Redis.
    """
    pool = ConnectionPool.from_url(url, **options)
    # The URL determines the class: over TLS, over a Unix socket, or plain.
    pool.connection_class = type("Connection", (_Connection, pool.connection_class), {})
    return pool
