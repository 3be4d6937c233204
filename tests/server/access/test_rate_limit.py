"""The limiter: counts as it should, over processes too, and does not grow with everybody who ever came."""

import pytest
from limits import parse
from limits.strategies import MovingWindowRateLimiter
from starlette.requests import HTTPConnection
from structlog.testing import capture_logs

from server.access.rate_limit import Memory, RateLimits, SharedLimiter, new_limiter
from server.errors import TooMany
from tests.support.redis_server import RedisServer
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
async def test_a_household_is_an_address_or_a_network_of_ipv6(first: str, second: str, same: bool) -> None:
    limits = RateLimits(exempt=())
    await limits.count_address(parse("1/day"), "arrivals", connection_from(first))
    if same:
        with pytest.raises(TooMany):
            await limits.count_address(parse("1/day"), "arrivals", connection_from(second))
    else:
        await limits.count_address(parse("1/day"), "arrivals", connection_from(second))


# ---- over Redis ------------------------------------------------------------------------------

TWICE_A_DAY = parse("2/day")


async def allowed(limits: RateLimits, address: str = "192.0.2.1") -> bool:
    try:
        await limits.count_address(TWICE_A_DAY, "arrivals", connection_from(address))
    except TooMany:
        return False
    return True


@pytest.mark.services
async def test_processes_that_share_a_redis_count_an_address_together(redis: RedisServer) -> None:
    one, other = RateLimits((), redis.url), RateLimits((), redis.url)
    assert [await allowed(limits) for limits in (one, other, one, other)] == [True, True, False, False]
    assert await allowed(one, "192.0.2.2")
    with redis.client() as client:
        keys = client.keys("*")
        assert keys
        assert all(b"candor:limits" in key and client.ttl(key) > 0 for key in keys)
    await one.close()
    await other.close()


@pytest.mark.services
async def test_while_redis_is_away_each_process_counts_for_itself(redis: RedisServer) -> None:
    limits = RateLimits((), redis.url)
    assert await allowed(limits)
    redis.stop()
    with capture_logs() as logs:
        assert [await allowed(limits, "192.0.2.9") for _ in range(3)] == [True, True, False]
    assert [entry["event"] for entry in logs] == ["redis is lost"]
    await limits.close()


@pytest.mark.services
async def test_redis_counts_again_once_it_is_back(redis: RedisServer) -> None:
    limiter = SharedLimiter(redis.url, seconds_without=0)
    redis.stop()
    with capture_logs() as logs:
        assert [await limiter.hit(TWICE_A_DAY, "arrivals", "a") for _ in range(3)] == [None] * 3
        redis.start()
        assert [await limiter.hit(TWICE_A_DAY, "arrivals", "a") for _ in range(3)] == [True, True, False]
    assert [entry["event"] for entry in logs] == ["redis is lost", "redis is back"]
    await limiter.close()
