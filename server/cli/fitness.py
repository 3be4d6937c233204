"""The launch check at the command line: asks a study's bots under a progress bar, and shows how they did."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from server.bots import fitness
from server.bots.fitness import Fitness
from server.bots.lineup import OpenRun
from server.bots.registry import Registry

_COLOURS = {"pass": "green", "warn": "yellow", "fail": "red"}


@dataclass(frozen=True)
class Gate:
    """Lets a study pass whose bots are fit. Progress goes to `aside`, findings to `console`."""

    console: Console
    aside: Console

    def judge(self, lineup: OpenRun, registered: Sequence[Fitness], registry: Registry) -> list[Fitness]:
        """Ask the study's own bots; return how they and the `registered` ones did, and show it."""
        asked = asyncio.run(self._ask(lineup, registry)) if fitness.own_bots(lineup) else []
        judgements = [*registered, *asked]
        if judgements:
            self.console.print(_table(judgements))
        return judgements

    async def _ask(self, lineup: OpenRun, registry: Registry) -> list[Fitness]:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=self.aside, transient=True) as progress:
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
