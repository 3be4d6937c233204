"""Tests of periodic work: it continues after faults, with growing pauses, and shuts down cleanly."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest
from structlog.testing import capture_logs

from server.errors import StorageFailed
from server.periodic import PeriodicTask
from tests.support.waiting import PATIENCE

AT_ONCE = 0.0
NEVER = 3600.0


class Work:
    """Fails as it is told, each time in turn; `done` is set at the last of them."""

    def __init__(self, faults: Sequence[Exception | None]) -> None:
        self.faults = list(faults)
        self.times = 0
        self.done = asyncio.Event()

    async def __call__(self) -> None:
        fault = self.faults[self.times] if self.times < len(self.faults) else None
        self.times += 1
        if self.times == len(self.faults):
            self.done.set()
        if fault is not None:
            raise fault


async def repeated(work: Work, seconds: float = AT_ONCE) -> list[str]:
    """Do it until it is done; return what the log says."""
    task = PeriodicTask(work, seconds, "it was not done")
    with capture_logs() as lines:
        task.start()
        async with asyncio.timeout(PATIENCE):
            await work.done.wait()
        await task.stop()
    return [line["event"] for line in lines]


async def test_the_first_of_faults_in_a_row_is_logged_and_their_end() -> None:
    fault = ValueError("broken")
    assert await repeated(Work([None, fault, fault, fault, None, fault, None])) == [
        "it was not done",
        "a fault is over",
        "it was not done",
        "a fault is over",
    ]


async def test_a_database_that_is_away_is_for_the_store_to_log() -> None:
    assert await repeated(Work([StorageFailed("away"), StorageFailed("away"), None])) == []


async def test_each_fault_in_a_row_doubles_the_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float | None] = []
    timeout: Callable[[float | None], asyncio.Timeout] = asyncio.timeout

    def at_once(seconds: float | None) -> asyncio.Timeout:
        pauses.append(seconds)
        return timeout(0)

    work = Work([*[ValueError("broken")] * 6, StorageFailed("away"), None, None])
    task = PeriodicTask(work, 3.0, "it was not done")
    monkeypatch.setattr(asyncio, "timeout", at_once)
    with capture_logs():
        task.start()
        await work.done.wait()
        await task.stop()
    # Six faults, of which four double it; a database that is away leaves it as it is; then all is well.
    assert pauses[:8] == [6, 12, 24, 48, 48, 48, 48, 3]


async def test_it_ends_when_what_is_under_way_has_ended() -> None:
    begun, may_end, ended = asyncio.Event(), asyncio.Event(), list[bool]()

    async def work() -> None:
        begun.set()
        await may_end.wait()
        ended.append(task.stopping)

    task = PeriodicTask(work, NEVER, "it was not done")
    task.start()
    await begun.wait()
    stopping = asyncio.ensure_future(task.stop())
    await asyncio.sleep(0)
    assert not stopping.done()
    may_end.set()
    await stopping
    assert ended == [True]  # and not once more


@pytest.mark.parametrize("end", [PeriodicTask.stop, PeriodicTask.cancel])
async def test_a_pause_is_not_waited_for(end: Callable[[PeriodicTask], Awaitable[None]]) -> None:
    work = Work([None])
    task = PeriodicTask(work, NEVER, "it was not done")
    await end(task)  # one that was never begun
    task = PeriodicTask(work, NEVER, "it was not done")
    task.start()
    async with asyncio.timeout(PATIENCE):
        await work.done.wait()
        await end(task)
    assert work.times == 1


async def test_it_can_be_given_up() -> None:
    begun = asyncio.Event()

    async def work() -> None:
        begun.set()
        await asyncio.sleep(NEVER)

    task = PeriodicTask(work, NEVER, "it was not done")
    task.start()
    async with asyncio.timeout(PATIENCE):
        await begun.wait()
        await task.cancel()
    assert task.stopping


async def test_it_can_be_woken() -> None:
    work = Work([None, None])
    task = PeriodicTask(work, NEVER, "it was not done")
    task.start()
    task.wake()
    async with asyncio.timeout(PATIENCE):
        await asyncio.sleep(0)
        task.wake()
        await work.done.wait()
        await task.stop()
    assert work.times == 2
