"""A Redis that goes between two looks at it, on the event loop of the server."""

import asyncio

import pytest
import uvloop
from redis.asyncio import Redis
from redis.asyncio.connection import SSLConnection, UnixDomainSocketConnection
from redis.exceptions import ConnectionError as ConnectionLost

from candor.common.network import redis_pool
from tests.support.redis_server import RedisServer


@pytest.mark.services
def test_a_connection_closed_since_the_last_look_is_a_lost_one(redis: RedisServer) -> None:
    """uvloop raised a RuntimeError, which ended whatever asked, such as the hearing of other processes."""

    async def ask() -> None:
        connection = redis_pool(redis.url).make_connection()
        await connection.connect()
        connection._writer.transport.abort()
        await asyncio.sleep(0)  # it is closed in the loop's next turn
        await asyncio.sleep(0)
        with pytest.raises(ConnectionLost) as raised:
            await connection.send_command("PING", check_health=False)
        assert isinstance(raised.value.__cause__, RuntimeError)  # not one that redis-py knows
        async with Redis.from_pool(redis_pool(redis.url)) as again:
            assert await again.ping()

    uvloop.run(ask())


@pytest.mark.parametrize(
    ("url", "kind"),
    [("rediss://somewhere:1", SSLConnection), ("unix:///some/where", UnixDomainSocketConnection)],
)
def test_the_url_says_what_kind_of_connection_it_is(url: str, kind: type) -> None:
    assert isinstance(redis_pool(url).make_connection(), kind)
