"""The limiter: counts as it should, and does not grow with everybody who ever came."""

import pytest
from limits import parse
from limits.strategies import MovingWindowRateLimiter
from starlette.requests import HTTPConnection

from server.access.rate_limit import Memory, RateLimits, new_limiter
from server.errors import TooMany
from tests.support.waiting import wait_until

ONCE_A_SECOND = parse("1/second")
ONCE_A_DAY = parse("1/day")
FEW = 50


def test_callers_are_limited_each_for_themselves() -> None:
    limiter, twice = new_limiter(), parse("2/day")
    assert [limiter.hit(twice, "join", "ann") for _ in range(3)] == [True, True, False]
    assert limiter.hit(twice, "join", "bob")
    assert limiter.hit(twice, "socket", "ann")


def test_callers_who_came_once_are_forgotten_after_their_window() -> None:
    memory = Memory(FEW)
    limiter = MovingWindowRateLimiter(memory)
    assert all(limiter.hit(ONCE_A_SECOND, "join", f"early-{n}") for n in range(10 * FEW))

    def their_window_is_over() -> bool:
        limiter.hit(ONCE_A_DAY, "join", "regular")  # the library looks at its hits whenever there is one
        return not any(hits for key, hits in list(memory.events.items()) if "early" in key)

    wait_until(their_window_is_over, "a second to pass")
    assert any("early" in key for key in memory.events)  # what the library itself leaves behind
    assert all(limiter.hit(ONCE_A_DAY, "join", f"late-{n}") for n in range(20 * FEW))
    assert not any("early" in key for key in memory.events)
    assert len(memory.events) == 20 * FEW + 1
    assert len(memory.locks) <= len(memory.events) + 1  # one more while the library's thread looks at it


def test_nobody_is_forgotten_within_their_window() -> None:
    memory = Memory(FEW)
    limiter = MovingWindowRateLimiter(memory)
    assert all(limiter.hit(ONCE_A_DAY, "join", f"visitor-{n}") for n in range(10 * FEW))
    assert not any(limiter.hit(ONCE_A_DAY, "join", f"visitor-{n}") for n in range(10 * FEW))
    assert len(memory.events) == 10 * FEW


def connection_from(address: str) -> HTTPConnection:
    return HTTPConnection({"type": "http", "client": (address, 4711), "headers": []})


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("192.0.2.1", "192.0.2.2", False),
        ("192.0.2.1", "::ffff:192.0.2.1", True),
        ("testclient", "testclient", True),
    ],
)
def test_a_household_is_an_address_or_a_network_of_ipv6(first: str, second: str, same: bool) -> None:
    limits = RateLimits(exempt=())
    limits.count(parse("1/day"), "arrivals", connection_from(first))
    if same:
        with pytest.raises(TooMany):
            limits.count(parse("1/day"), "arrivals", connection_from(second))
    else:
        limits.count(parse("1/day"), "arrivals", connection_from(second))
