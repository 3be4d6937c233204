"""Whether a study's bots are fit, at the command line: they are asked under a progress bar, and shown."""

import asyncio
from collections.abc import Sequence

from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from bots import console, stderr
from server.bots import fitness
from server.bots.fitness import Fitness
from server.bots.lineup import OpenRun
from server.bots.registry import Registry

_COLOURS = {"pass": "green", "warn": "yellow", "fail": "red"}


def judge(lineup: OpenRun, registered: Sequence[Fitness], registry: Registry) -> list[Fitness]:
    """Ask the study's own bots; return how they and the `registered` ones did, and show it."""
    asked = asyncio.run(_ask(lineup, registry)) if fitness.own_bots(lineup) else []
    judgements = [*registered, *asked]
    if judgements:
        console.print(_table(judgements))
    return judgements


async def _ask(lineup: OpenRun, registry: Registry) -> list[Fitness]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=stderr, transient=True) as progress:
        tasks: dict[str, TaskID] = {}

        def tell(bot: str, done: int, total: int) -> None:
            if bot not in tasks:
                tasks[bot] = progress.add_task(f"checking {escape(bot)}")
            progress.update(tasks[bot], completed=done, total=total)

        try:
            return await fitness.judge_own(lineup, tell)
        finally:
            await registry.close()


def _table(judgements: Sequence[Fitness]) -> Table:
    """Return every bot with what was not quite right; one with nothing of the kind in a single line."""
    table = Table("bot", "verdict", "question", "reason", box=None)
    for judgement in judgements:
        notable = [finding for finding in judgement.findings if finding.verdict != "pass"]
        for finding in notable:
            cells = (finding.question, finding.reason)
            table.add_row(escape(judgement.bot), _coloured(finding.verdict), *map(escape, cells))
        if not notable:
            passed = f"all {len(judgement.findings)} questions passed"
            table.add_row(escape(judgement.bot), _coloured("pass"), passed, "")
    return table


def _coloured(verdict: fitness.Verdict) -> str:
    return f"[{_COLOURS[verdict]}]{verdict}[/]"
