"""One at a time: coroutines in the order in which they came."""

import asyncio

import pytest

from server.live.converse.live_session import OneAtATime


async def turn_of_the_loop() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


class Visits:
    """Coroutines that go in when it is their turn, and leave when they are told."""

    def __init__(self) -> None:
        self.alone = OneAtATime()
        self.begun: list[str] = []
        self._over: dict[str, asyncio.Event] = {}

    def come(self, name: str) -> asyncio.Task[None]:
        self._over[name] = asyncio.Event()
        return asyncio.create_task(self._visit(name))

    async def leave(self, name: str) -> None:
        self._over[name].set()
        await turn_of_the_loop()

    async def _visit(self, name: str) -> None:
        async with self.alone:
            self.begun.append(name)
            await self._over[name].wait()


async def test_what_nobody_is_before_begins_at_once_and_all_others_wait_until_it_leaves() -> None:
    visits = Visits()
    tasks = [visits.come(name) for name in "abc"]
    await turn_of_the_loop()
    assert (visits.begun, visits.alone.users) == (["a"], 3)
    await visits.leave("a")
    assert (visits.begun, visits.alone.users) == (["a", "b"], 2)
    await visits.leave("b")
    await visits.leave("c")
    assert (visits.begun, visits.alone.users) == (["a", "b", "c"], 0)
    await asyncio.gather(*tasks)


async def test_who_comes_in_the_moment_of_leaving_does_not_overtake_who_waits() -> None:
    visits = Visits()
    tasks = [visits.come("first"), visits.come("second")]
    await turn_of_the_loop()
    tasks.append(visits.come("third"))
    await visits.leave("first")
    await visits.leave("second")
    await visits.leave("third")
    assert visits.begun == ["first", "second", "third"]
    await asyncio.gather(*tasks)


async def test_who_gives_up_waiting_is_passed_over() -> None:
    visits = Visits()
    first, given_up = visits.come("first"), visits.come("given up")
    await turn_of_the_loop()
    given_up.cancel()
    after = visits.come("next")
    await visits.leave("first")
    await visits.leave("next")
    assert visits.begun == ["first", "next"]
    assert given_up.cancelled()
    await asyncio.gather(first, after)


async def test_who_is_given_up_in_the_moment_of_being_let_in_leaves_again() -> None:
    visits = Visits()
    async with visits.alone:
        waiting = visits.come("given up")
        await turn_of_the_loop()
    waiting.cancel()  # it is let in, and does not go on yet
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert visits.begun == []
    assert visits.alone.users == 0
    after = visits.come("next")
    await visits.leave("next")
    assert visits.begun == ["next"]
    await after


async def test_a_fault_within_leaves_it_to_the_next() -> None:
    alone = OneAtATime()
    with pytest.raises(ZeroDivisionError):
        async with alone:
            raise ZeroDivisionError
    assert alone.users == 0
    async with alone:
        assert alone.users == 1
