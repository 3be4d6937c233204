"""Asking a study's bots at the command line: under a progress bar, and with a table of what was found."""

import asyncio
from collections.abc import Sequence

from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from bots import console, stderr, verdict_table
from server.bots import fitness
from server.bots.fitness import Fitness
from server.bots.lineup import OpenRun
from server.bots.opened_bots import OpenedBots
from server.session.plan import QC


def check_fitness(run: OpenRun, registered: Sequence[Fitness], opened_bots: OpenedBots) -> list[Fitness]:
    """Ask a study's own bots, and show how all of its bots did that are not the server's own.

    Args:
        run: the study with its bots opened.
        registered: how its registered bots did when they were checked.
        opened_bots: what opened the bots; it is closed once they were asked.

    Returns:
        How the registered bots did, the study's own, and its qc bot.
    """
    own = asyncio.run(_own_fitness(run, registered, opened_bots))
    found = [*registered, *own]
    if found:
        console.print(verdict_table(((each.bot, each.findings) for each in found), whole={QC}))
    return found


async def _own_fitness(run: OpenRun, registered: Sequence[Fitness], opened_bots: OpenedBots) -> list[Fitness]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    none = not fitness.own_bots(run)
    with Progress(*columns, console=stderr, transient=True, disable=none) as progress:
        tasks: dict[str, TaskID] = {}

        def show(bot: str, done: int, total: int) -> None:
            if bot not in tasks:
                tasks[bot] = progress.add_task(f"checking {escape(bot)}")
            progress.update(tasks[bot], completed=done, total=total)

        try:
            return await fitness.own_fitness(run, registered, show, opened_bots.moderation)
        finally:
            await opened_bots.close()
