"""One thing at a time: callbacks and coroutines in the order in which they came."""

import asyncio

import pytest

from server.live.converse.pending_event import SerialQueue


async def turn_of_the_loop() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


async def waiting_behind_another(exclusive: SerialQueue, begun: list[str]) -> asyncio.Task[None]:
    """Return a coroutine that waits until what is under way has left."""

    async def alone() -> None:
        async with exclusive.alone():
            begun.append("given up")

    exclusive.enter(lambda: None)
    waiting = asyncio.create_task(alone())
    await asyncio.sleep(0)
    return waiting


async def test_what_nobody_is_before_begins_at_once_and_all_others_wait_until_it_leaves() -> None:
    exclusive, begun = SerialQueue(), []
    for name in "abc":
        exclusive.enter(lambda name=name: begun.append(name))
    await turn_of_the_loop()
    assert begun == ["a"]
    exclusive.leave()
    await turn_of_the_loop()
    assert begun == ["a", "b"]
    exclusive.leave()
    await turn_of_the_loop()
    exclusive.leave()
    assert begun == ["a", "b", "c"]
    assert not exclusive.is_taken


async def test_coroutines_and_callbacks_come_in_one_order() -> None:
    exclusive, order = SerialQueue(), []

    async def alone(name: str) -> None:
        async with exclusive.alone():
            order.append(f"{name} begins")
            await asyncio.sleep(0)
            order.append(f"{name} ends")

    def callback() -> None:
        order.append("callback")
        exclusive.leave()

    first = asyncio.create_task(alone("first"))
    await asyncio.sleep(0)
    exclusive.enter(callback)
    await asyncio.gather(first, alone("second"))
    assert order == ["first begins", "first ends", "callback", "second begins", "second ends"]


async def test_who_gives_up_waiting_is_passed_over() -> None:
    exclusive, begun = SerialQueue(), []
    waiting = await waiting_behind_another(exclusive, begun)
    waiting.cancel()
    exclusive.enter(lambda: begun.append("next"))
    exclusive.leave()
    await turn_of_the_loop()
    assert begun == ["next"]
    assert waiting.cancelled()


async def test_who_is_given_up_in_the_moment_of_being_let_in_leaves_again() -> None:
    exclusive, begun = SerialQueue(), []
    waiting = await waiting_behind_another(exclusive, begun)
    exclusive.leave()
    asyncio.get_running_loop().call_soon(waiting.cancel)  # behind what lets it in, before it goes on
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert begun == []
    assert not exclusive.is_taken


async def test_a_fault_within_leaves_it_to_the_next() -> None:
    exclusive = SerialQueue()
    with pytest.raises(ZeroDivisionError):
        async with exclusive.alone():
            raise ZeroDivisionError
    assert not exclusive.is_taken
