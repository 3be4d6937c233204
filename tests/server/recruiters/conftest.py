"""The stand-in for the tests of our client, one for each module."""

from collections.abc import AsyncIterator, Iterator

import pytest

from server.recruiters.prolific.client import ProlificClient
from server.recruiters.prolific.connection import PlatformConnection
from tests.server.support.prolific import Prolific, served_prolific


@pytest.fixture(scope="module")
def _served() -> Iterator[Prolific]:
    with served_prolific() as served:
        yield served


@pytest.fixture
def prolific(_served: Prolific) -> Iterator[Prolific]:
    """The stand-in. What was asked of it in the test, and what it answered, is as specified."""
    yield _served
    assert _served.contract.broken == []
    assert _served.faults.due == []


@pytest.fixture
async def client(prolific: Prolific) -> AsyncIterator[ProlificClient]:
    async with ProlificClient(PlatformConnection(prolific.token, prolific.url)) as client:
        yield client
