"""A process that ends: what is under way is finished, then pages are told to come back at once."""

import socket
from collections.abc import Callable

from websockets.exceptions import ConnectionClosed

from tests.server.support.bots import Gated
from tests.server.support.database import make_run
from tests.server.support.page import Page
from tests.server.support.server import House, stored
from tests.support.waiting import PATIENCE, wait_until

Serve = Callable[..., House]
RESTART = 1012


def close_code(page: Page) -> int | None:
    """Return the code with which the server closes the connection; waits for it."""
    try:
        while True:
            page.receive()
    except ConnectionClosed as closed:
        return closed.rcvd.code if closed.rcvd is not None else None


def say_something(page: Page) -> None:
    """Go from the first page to the first line of a chat; return once that is stored."""
    for message in ("agree", "topic"):
        fields = {"text": "music", "opinion": "like"} if message == "topic" else {}
        assert page.ask(message, **fields)["type"] == "accepted"
    assert page.ask("say", text="Hello there")["type"] == "accepted"


def refuses_newcomers(house: House) -> bool:
    try:
        socket.create_connection(("127.0.0.1", house.port)).close()
    except ConnectionRefusedError:
        return True
    return False


def test_a_reply_under_way_is_stored_before_its_page_is_let_go(url: str, serve: Serve) -> None:
    bot = Gated()
    house = serve(url, make_run(url, bots=bot), drain_seconds=PATIENCE)
    with house.page("ann") as waiting, house.page("ben") as idle:
        say_something(waiting)
        wait_until(lambda: bot.calls, "the bot to be asked")
        house.begin_to_stop()
        assert close_code(idle) == RESTART
        assert refuses_newcomers(house)
        assert stored(house, "SELECT count(*) FROM turn WHERE author = 'bot'") == [(0,)]
        bot.gate.set()
        assert close_code(waiting) == RESTART
    house.stop()
    assert stored(house, "SELECT count(*) FROM turn WHERE author = 'bot'") == [(1,)]


def test_a_bot_that_does_not_answer_is_not_waited_for_for_ever(url: str, serve: Serve) -> None:
    bot = Gated()
    house = serve(url, make_run(url, bots=bot), drain_seconds=0.1)
    with house.page("ann") as page:
        say_something(page)
        wait_until(lambda: bot.calls, "the bot to be asked")
        house.begin_to_stop()
        assert close_code(page) == RESTART
    house.stop()
    # What is stored takes it up again: the bot is asked once more, by whoever opens the session.
    bot.gate.set()
    house.start()
    with house.page("ann") as page:
        wait_until(
            lambda: stored(house, "SELECT count(*) FROM turn WHERE author = 'bot'") == [(1,)], "the reply"
        )
