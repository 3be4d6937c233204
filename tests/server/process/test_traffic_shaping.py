"""One address is served at its rate: what is beyond waits, then is refused; others notice nothing."""

from collections.abc import Callable
from contextlib import closing
from socket import create_connection
from typing import Any

import httpx2
import pytest
from limits import parse
from structlog.testing import capture_logs
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from server.bots.lineup import OpenRun
from server.errors import ErrorBody
from server.process.traffic_shaping import Shaper
from tests.server.support.server import House
from tests.support.waiting import PATIENCE, wait_until

Serve = Callable[..., House]
ANN, BOB = "203.0.113.1", "203.0.113.2"
NOBODY: frozenset[str] = frozenset()


def test_a_burst_is_served_at_once_and_the_rest_at_its_rate() -> None:
    """3 in 6 seconds: three at once, then one every 2 seconds, for as long as 5 seconds are enough."""
    shaper = Shaper(parse("3/6second"), NOBODY, most=5)
    assert [shaper.take(ANN, 100) for _ in range(5)] == [0, 0, 0, 2, 4]
    assert shaper.refusal(ANN, 100) == 1  # its turn would be in 6 s, of which it waits 5
    assert shaper.refusal(ANN, 101) is None
    assert shaper.take(ANN, 101) == 5
    assert [shaper.take(ANN, 1000) for _ in range(4)] == [0, 0, 0, 2]
    assert shaper.refused == 1


def test_each_household_has_its_own_turns() -> None:
    shaper = Shaper(parse("1/day"), frozenset({BOB}))
    assert shaper.take("2001:db8:1:2::1", 0) == 0
    assert shaper.refusal("2001:db8:1:2:ffff::9", 0) == 86_390  # a day, less the 10 s that it would wait
    assert shaper.refusal("2001:db8:1:3::1", 0) is None
    assert [shaper.take(BOB, 0) for _ in range(9)] == [0] * 9


def test_who_may_be_served_again_is_forgotten() -> None:
    shaper = Shaper(parse("1/second"), NOBODY)
    for number in range(50_000):
        shaper.take(f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}", number)
    assert len(shaper) <= 1_024


def test_five_hundred_pages_in_a_minute_from_one_address_load_whole() -> None:
    """The default. A page is itself, its six files, what it joins with, and its socket: 9 requests."""
    shaper, waits = Shaper(parse("500/5second"), NOBODY), []
    for at in (page * 60 / 500 for page in range(500)):
        assert shaper.refusal(ANN, at) is None
        waits += [shaper.take(ANN, at) for _ in range(9)]
    assert max(waits) == 0


def get(house: House, path: str, address: str, **kwargs: Any) -> httpx2.Response:
    return house.http("GET", path, headers={"X-Forwarded-For": address}, **kwargs)


@pytest.mark.parametrize(
    "path", ["/assets/none.js", "/nothing", "/w/run", "/healthz", "/metrics", "/api/desk/runs"]
)
def test_whatever_is_asked_for_counts(url: str, run: OpenRun, serve: Serve, path: str) -> None:
    house = serve(url, run, requests_per_address="2/day")
    answers = [get(house, path, ANN) for _ in range(3)]
    assert 429 not in {answer.status_code for answer in answers[:2]}
    assert answers[2].status_code == 429
    assert int(answers[2].headers["retry-after"]) > 40_000  # half a day
    refusal = ErrorBody.model_validate_json(answers[2].content).error
    assert refusal.code == "rate_limited"
    assert refusal.message == "too many requests from this address"
    assert get(house, path, BOB).status_code == answers[0].status_code


def test_more_than_a_burst_only_waits(url: str, run: OpenRun, serve: Serve) -> None:
    house = serve(url, run, requests_per_address="5/second")
    assert [get(house, "/healthz", ANN).status_code for _ in range(7)] == [200] * 7


def test_a_caller_without_a_proxy_is_refused_unread(url: str, run: OpenRun, serve: Serve) -> None:
    """Over one connection, which is closed then, and over new ones, whatever they say."""
    house = serve(url, run, requests_per_address="1/day", trusted_proxies=[])
    with capture_logs() as lines:
        with httpx2.Client(base_url=f"http://127.0.0.1:{house.port}", timeout=PATIENCE) as client:
            assert client.get("/healthz").status_code == 200
            refused = client.get("/healthz")
        assert refused.status_code == 429
        assert refused.headers["connection"] == "close"
        with closing(create_connection(("127.0.0.1", house.port), PATIENCE)) as connection:
            connection.sendall(b"not HTTP")
            assert connection.recv(65_536).startswith(b"HTTP/1.1 429 Too Many Requests\r\n")
            assert connection.recv(65_536) == b""
        wait_until(lambda: sum(line.get("requests", 0) for line in lines) == 2, "what the log says of both")


def test_a_caller_on_the_proxys_machine_is_not_the_proxy(url: str, run: OpenRun, serve: Serve) -> None:
    """As a rehearsal beside it, which must not have everybody behind it refused."""
    house = serve(url, run, requests_per_address="1/day")
    assert [house.http("GET", "/healthz").status_code for _ in range(2)] == [200, 429]
    assert get(house, "/healthz", ANN).status_code == 200


def test_a_socket_waits_like_all_else_and_its_messages_do_not(url: str, run: OpenRun, serve: Serve) -> None:
    house = serve(url, run, requests_per_address="2/day")  # one to join, one for the socket
    with house.page() as page:
        page.agree()  # and on it goes
        with (
            pytest.raises(InvalidStatus) as refused,
            connect(f"ws://127.0.0.1:{house.port}/ws", additional_headers={"X-Forwarded-For": "127.0.0.1"}),
        ):
            pass
    assert refused.value.response.status_code == 429
