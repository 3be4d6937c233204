"""What a worker's visit leaves in the server's memory, which serves for weeks: nothing."""

import gc

from server.live.newcomers import Newcomer
from server.live.runtime import LiveSession
from server.live.socket import Listener, Page
from server.process.connections import WebSocketConnection
from tests.server.support.server import House
from tests.support.waiting import wait_until

OF_A_VISIT = (LiveSession, Listener, Newcomer, Page, WebSocketConnection)


def there() -> list[str]:
    return [type(each).__name__ for each in gc.get_objects() if type(each) in OF_A_VISIT]


def test_a_visit_that_is_over_needs_no_collector_of_garbage(house: House) -> None:
    """It looks at everything after weeks only: a look takes seconds with thousands of sessions."""
    gc.collect()
    gc.disable()
    try:
        with house.page("ann") as page:
            page.agree()
            assert set(there()) == {one.__name__ for one in OF_A_VISIT}
        with house.page("ann") as page:  # she is back
            page.open_topic()
            page.send("say", text="Hello?")
            page.until("said")
        wait_until(lambda: not there(), "what two connections were served by to be gone")
    finally:
        gc.enable()
