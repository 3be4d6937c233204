"""What every test shares: hypothesis without a stopwatch, for a busy machine; asyncio for async tests;
real servers of others, one of a kind for each process of tests, started when the first test needs it.
"""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.needs import need_services
from tests.support import postgres as postgres_server
from tests.support import redis_server
from tests.support.postgres import Postgres
from tests.support.redis_server import RedisServer

settings.register_profile("candor", deadline=None)
settings.load_profile("candor")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The event loop that async tests run on: the server's."""
    return "asyncio"


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL; each test has databases of its own in it."""
    need_services()
    with postgres_server.serving() as server:
        yield server


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    """A Redis that only this test has."""
    need_services()
    with redis_server.serving() as server:
        yield server
