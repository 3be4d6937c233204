"""Two bots, and a server whose run has them registered."""

from collections.abc import Iterator

import pytest

from server.bots.opened_bots import OpenedBots
from tests.server.support.registered import Serve, open_run, register, study
from tests.server.support.server import House
from tests.server.support.talker import Talker, talking


@pytest.fixture
def birds() -> Iterator[dict[str, Talker]]:
    with talking("Polly speaks.") as parrot, talking("Ara speaks.") as macaw:
        yield {"parrot": parrot, "macaw": macaw}


@pytest.fixture
def aviary(url: str, serve: Serve, birds: dict[str, Talker]) -> House:
    """A server whose run has two registered bots."""
    register(url, **birds)
    opened_bots = OpenedBots(refuse_private=False, heartbeat=0.05)
    return serve(url, open_run(url, study(), opened_bots), opened_bots=opened_bots)
