"""What every test shares: hypothesis without a stopwatch, for a machine that may be busy; the event loop."""

import pytest
from hypothesis import settings

settings.register_profile("candor", deadline=None)
settings.load_profile("candor")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The event loop that async tests run on: the server's."""
    return "asyncio"
