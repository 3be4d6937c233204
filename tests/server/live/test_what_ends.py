"""A worker's visit leaves nothing in the server's memory."""

import gc
from collections.abc import Callable, Iterator

import pytest

from server.live.converse.live_session import LiveSession
from server.live.converse.newcomers import Newcomer
from server.live.converse.socket import Listener, Page
from server.process.connections import WebSocketConnection
from tests.server.support.database import make_run
from tests.server.support.server import House
from tests.server.support.study import study_text
from tests.support.waiting import wait_until

OF_A_VISIT = (LiveSession, Listener, Newcomer, Page, WebSocketConnection)


def there() -> list[str]:
    return [type(each).__name__ for each in gc.get_objects() if type(each) in OF_A_VISIT]


@pytest.fixture
def without_collector() -> Iterator[None]:
    """It looks at everything after weeks only: a look takes seconds with thousands of sessions."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def all_are_gone() -> None:
    wait_until(lambda: not there(), "what served connections to be gone")


@pytest.mark.usefixtures("without_collector")
def test_a_visit_that_is_over_goes_by_itself(house: House) -> None:
    with house.page("ann") as page:
        page.agree()
        assert set(there()) == {one.__name__ for one in OF_A_VISIT}
    with house.page("ann") as page:  # she is back
        page.open_topic()
        page.send("say", text="")
        page.until("error")
        page.send("say", text="Hello?")
        page.until("said")
        page.send("end_conversation")  # too early
        page.until("error")
    all_are_gone()


@pytest.mark.usefixtures("without_collector")
def test_who_is_refused_goes_by_themselves(url: str, serve: Callable[..., House]) -> None:
    house = serve(url, make_run(url, study_text(assignments=1)))
    with house.page("ann") as ann, house.page("bob") as bob:
        ann.agree()
        bob.send("agree")
        assert bob.until("error")["code"] == "run_full"
    all_are_gone()
