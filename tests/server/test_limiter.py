"""The limiter: counts as it should, and does not grow with everybody who ever came."""

from limits import parse
from limits.strategies import MovingWindowRateLimiter

from server.limiter import Memory, new_limiter
from tests.server.support import wait_until

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
    came = 0

    def few_are_known() -> bool:
        """Somebody new comes, as happens all the time; the last to come are known, and few others."""
        nonlocal came
        came += 1
        assert limiter.hit(ONCE_A_SECOND, "join", f"visitor-{came}")
        return came > 20 * FEW and len(memory.events) < 2 * FEW

    for _ in range(20 * FEW):
        few_are_known()
    wait_until(few_are_known, "the first visitors to be forgotten")
    assert len(memory.locks) <= len(memory.events) + 1


def test_nobody_is_forgotten_within_their_window() -> None:
    memory = Memory(FEW)
    limiter = MovingWindowRateLimiter(memory)
    assert all(limiter.hit(ONCE_A_DAY, "join", f"visitor-{n}") for n in range(10 * FEW))
    assert not any(limiter.hit(ONCE_A_DAY, "join", f"visitor-{n}") for n in range(10 * FEW))
    assert len(memory.events) == 10 * FEW
