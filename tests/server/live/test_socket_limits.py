"""Tests of limits: messages and unread data of a worker's page, and connections of one address."""

import asyncio
import itertools
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from fastapi import WebSocket
from limits import parse
from structlog.testing import capture_logs
from websockets.sync.client import connect

from server.access.auth import Auth
from server.access.rate_limit import OpenSockets, RateLimits
from server.bots.lineup import OpenRun
from server.db.store import Store
from server.live.arrive.enrolment import ArrivingWorker, enrol
from server.live.converse.newcomers import Newcomers
from server.live.converse.sessions import LiveSessions
from server.live.converse.socket import WorkerSocket
from server.news import News
from server.recruiters.arrival import Arrival
from server.session.protocol import PROTOCOL_VERSION
from tests.server.support.page import Page
from tests.server.support.server import House, stored
from tests.server.support.study import AT
from tests.support.waiting import PATIENCE, wait_until

Serve = Callable[..., House]


def worker_socket(store: Store, auth: Auth, run: OpenRun) -> tuple[LiveSessions, WorkerSocket]:
    """Sessions, and a socket for their pages without a server around it, whose limits pass over `here`."""
    live = LiveSessions(store, {run.id: run}, auth, News())
    runs, limits, once = {run.id: run}, RateLimits({"here"}), parse("1/day")
    newcomers = Newcomers(
        store=store, live=live, auth=auth, runs=runs, limits=limits, per_address=once, signed_links=False
    )
    return live, WorkerSocket(
        live=live,
        newcomers=newcomers,
        auth=auth,
        limits=limits,
        per_session=once,
        per_address=once,
        open_sockets=OpenSockets(1, {"here"}),
    )


async def test_a_page_that_does_not_read_is_cut_off(url: str, run: OpenRun) -> None:
    """Its answers pile up; once too many wait, the connection ends and the session is free."""
    store, auth = Store(url), Auth("secret", "token", 3600)
    live, adapter = worker_socket(store, auth, run)
    frames = itertools.count()

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(0)
        number = next(frames)
        if number == 0:
            return {"type": "websocket.connect"}
        content = (
            {"type": "hello", "id": "h", "token": token, "protocol": PROTOCOL_VERSION}
            if number == 1
            else {"type": "agree", "id": "a"}
        )
        return {"type": "websocket.receive", "text": json.dumps(content)}

    async def send(message: Any) -> None:
        if message["type"] == "websocket.send":
            await asyncio.Event().wait()  # the peer's window is closed for good

    store.start()
    worker = ArrivingWorker(Arrival("link", "ann"), "W1", False, 1.0)
    enrolment = await store.submit(lambda connection: enrol(connection, run, worker, AT))
    token = auth.worker_token(enrolment.assignment)
    async with asyncio.timeout(PATIENCE):
        await adapter.serve(WebSocket({"type": "websocket", "client": ("here", 1)}, receive, send))
    store.stop()
    assert len(live) == 0
    assert next(frames) < 1000


async def test_a_page_that_is_left_as_the_server_ends_is_no_fault(url: str, run: OpenRun) -> None:
    """The server cancels it, and would write whatever comes out of it into the log, with a traceback."""
    _, adapter = worker_socket(Store(url), Auth("secret", "token", 3600), run)
    frames, is_waiting = iter([{"type": "websocket.connect"}]), asyncio.Event()
    sent = []

    async def receive() -> dict[str, str]:
        for frame in frames:
            return frame
        is_waiting.set()
        await asyncio.Event().wait()
        raise AssertionError("nothing else comes")

    async def send(message: Any) -> None:
        sent.append(message["type"])

    scope = {"type": "websocket", "client": ("here", 1)}
    serving = asyncio.create_task(adapter.serve(WebSocket(scope, receive, send)))
    async with asyncio.timeout(PATIENCE):
        await is_waiting.wait()
        serving.cancel()
        await serving
    assert sent == ["websocket.accept", "websocket.close"]


def test_a_flood_is_refused_and_passes(url: str, run: OpenRun, serve: Serve) -> None:
    house = serve(url, run, messages_per_session="5/2second")
    with house.page() as page:
        page.agree()
        page.open_topic()
        page.ask("say", text="one")
        answers = [page.ask("end_conversation") for _ in range(4)]
        assert [answer["code"] for answer in answers[2:]] == ["rate_limited"] * 2
        assert all(answer["retry"] for answer in answers[2:])
    wait_until(lambda: _is_taken(house), "the limit to pass")
    assert stored(house, "SELECT count(*) FROM turn WHERE author = 'worker'") == [(2,)]


def _is_taken(house: House) -> bool:
    """Say the second line on a page of its own: none is refused without end."""
    with house.page() as page:
        return page.ask("say", text="two").get("code") != "rate_limited"


def test_one_workers_flood_is_not_anothers(url: str, run: OpenRun, serve: Serve) -> None:
    house = serve(url, run, messages_per_session="5/minute")
    with house.page("ann") as ann, house.page("bob") as bob:
        for _ in range(6):
            last = ann.ask("agree", "same")
        assert last["code"] == "rate_limited"
        bob.agree()


def test_too_many_connections_from_one_address(url: str, run: OpenRun, serve: Serve) -> None:
    house = serve(url, run, connections_per_address="2/minute")
    token = house.token("ann")
    for _ in range(2):
        with house.open(token) as page:
            assert page.snapshot["type"] == "snapshot"
    with house.socket() as page:
        page.send("hello", token=token)
        (error,) = page.closed()
    assert (error["code"], error["retry"]) == ("rate_limited", True)


ANN, NEIGHBOUR, BOB = "2001:db8:1:2::1", "2001:db8:1:2:ffff::9", "2001:db8:1:3::1"


@contextmanager
def socket_of(house: House, address: str) -> Iterator[Page]:
    """A connection as it comes from an address through a proxy, on which nothing has been said."""
    headers = {"X-Forwarded-For": address}
    with connect(f"ws://127.0.0.1:{house.port}/ws", additional_headers=headers) as connection:
        yield Page(connection)


def is_let_in(house: House, address: str, token: str) -> bool:
    with socket_of(house, address) as page:
        page.send("hello", token=token)
        return page.receive()["type"] == "snapshot"


def test_an_address_has_so_many_sockets_open_at_once(url: str, run: OpenRun, serve: Serve) -> None:
    """Also such as say nothing; one that closes makes room, and others notice nothing of it."""
    house = serve(url, run, open_sockets_per_address=3)
    token = house.token("ann")
    with capture_logs() as lines, ExitStack() as held:
        for address in (ANN, NEIGHBOUR, NEIGHBOUR):
            last = ExitStack()
            held.enter_context(last).enter_context(socket_of(house, address))
        for address in (ANN, NEIGHBOUR):
            with socket_of(house, address) as page:
                (error,) = page.closed()
            assert (error["code"], error["retry"]) == ("rate_limited", True)
            assert page.connection.close_code == 1000
        assert is_let_in(house, BOB, token)
        of_both = {"candor_open_sockets 3.0", "candor_refused_sockets_total 2.0"}
        wait_until(lambda: samples(house) == of_both, "the socket that was let in to be gone")
        last.close()
        wait_until(lambda: is_let_in(house, ANN, token), "room for another one")
    refusals = [line for line in lines if "too many sockets open" in line["event"]]
    assert [line["most"] for line in refusals] == [3]  # one line, however many are refused


def samples(house: House) -> set[str]:
    headers = {"Authorization": f"Bearer {house.auth.researcher_token}"}
    page = house.http("GET", "/metrics", headers=headers).text
    return {line for line in page.splitlines() if "_sockets" in line.partition(" ")[0]}


def test_an_exempt_address_has_as_many_sockets_open_as_it_likes(url: str, run: OpenRun, serve: Serve) -> None:
    house = serve(url, run, open_sockets_per_address=1, exempt_addresses=[ANN])
    token = house.token("ann")
    with socket_of(house, ANN), socket_of(house, ANN):
        assert is_let_in(house, ANN, token)


def test_an_exempt_address_has_no_limit(url: str, run: OpenRun, serve: Serve) -> None:
    house = serve(url, run, messages_per_session="5/minute", exempt_addresses=["127.0.0.1"])
    with house.page() as page:
        assert [page.ask("agree", "same")["type"] for _ in range(10)] == ["accepted"] * 10
