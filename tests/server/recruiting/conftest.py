"""A server whose runs recruit on the stand-in."""

from collections.abc import Callable, Iterator

import pytest

from tests.server.support.database import make_run
from tests.server.support.prolific import Prolific, served_prolific
from tests.server.support.recruiting import CODE, Recruiting
from tests.server.support.server import House
from tests.server.support.study import SYSTEMS, study_text


@pytest.fixture(scope="session")
def _served() -> Iterator[Prolific]:
    with served_prolific() as served:
        yield served


@pytest.fixture
def prolific(_served: Prolific) -> Iterator[Prolific]:
    """The stand-in. What was asked of it in the test, and what it answered, is as specified.

    Ask for it before `serve`, so that no server is left to subscribe again when it is emptied.
    """
    yield _served
    _served.platform.subscriptions.clear()
    _served.platform.events.clear()
    _served.platform.pays_later = False
    _served.platform.waiting.clear()
    assert _served.contract.broken == []
    assert _served.faults.due == []


@pytest.fixture
def recruiting(url: str, prolific: Prolific, serve: Callable[..., House]) -> Recruiting:
    """A server with the stand-in's token, over a run whose workers come from there."""
    systems = [{"name": name, "family": family, "bot": "builtin:reflect"} for name, family in SYSTEMS.items()]
    recruiter = {"kind": "prolific", "completion_code": CODE}
    run = make_run(url, study_text(recruiter=recruiter, systems=systems))
    house = serve(
        url,
        run,
        prolific_token=prolific.token,
        prolific_api=prolific.url,
        public_url="https://lab.example/prefix",
    )
    return Recruiting(house, prolific)
