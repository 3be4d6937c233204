"""Measure a web process's CPU time for a call to a builtin bot, which runs in its own process.

python benchmarks/asks.py [--lines 40] [--asks 5000] [--at-once 50]

Conversations grow to twice `--lines`, so that `--lines` is the mean. The time is the CPU time of this process
only; the bot host, which reads, computes and answers, is another process.
"""

import asyncio
import time
from itertools import count
from typing import Annotated

import typer
import uvloop

from bots import Chat, Turn
from server.bots.opened_bots import OpenedBots

LINE = "I have been reading about the sea and its tides lately, what do you think of it?"


async def measured(lines: int, asks: int, at_once: int) -> tuple[float, float]:
    """Return the microseconds of CPU that an ask takes here, and of time that passes for one."""
    opened = OpenedBots(refuse_private=False)
    bot = opened.built_in("qc", "builtin:smalltalk")
    opened.start()
    turns = tuple(Turn("bot" if at % 2 else "worker", f"{at} {LINE}") for at in range(2 * lines))
    names = count()
    done = 0

    async def worker() -> None:
        nonlocal done
        while done < asks:
            name = f"conversation-{next(names)}"
            for chat in [Chat(name, 1, (), turns[:at]) for at in range(1, 2 * lines, 2)]:
                await bot.reply(chat)
                done += 1

    await worker()
    done, cpu, passed = 0, time.process_time(), time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(at_once)))
    cpu, passed = time.process_time() - cpu, time.perf_counter() - passed
    await opened.close()
    return cpu / done * 1e6, passed / done * 1e6


def main(
    lines: Annotated[
        list[int] | None, typer.Option(help="Lines of the conversation; may be repeated.")
    ] = None,
    asks: Annotated[int, typer.Option(help="How many asks.")] = 5_000,
    at_once: Annotated[list[int] | None, typer.Option(help="Conversations at once; may be repeated.")] = None,
) -> None:
    """Print what an ask costs."""
    for many in at_once or [1, 50]:
        for length in lines or [10, 40, 200]:
            cpu, passed = uvloop.run(measured(length, asks, many))
            print(f"{many:3} at once, {length:3} lines: {cpu:5.0f} µs of CPU here, {passed:5.0f} µs in all")


if __name__ == "__main__":
    typer.run(main)
