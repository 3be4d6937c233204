"""Print the report of a check in a terminal."""

from collections.abc import Collection, Iterable, Sequence

from rich.box import SIMPLE
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from bots.conformance.judgement import quoted
from bots.conformance.report import ConformanceReport, Finding, Transcript, Verdict
from bots.terminal import harmless

_COLOURS: dict[Verdict, str] = {"pass": "green", "warn": "yellow", "fail": "bold red"}
_WIDEST = 200  # characters of a line


def conformance_table(report: ConformanceReport) -> Table:
    """Return the findings of one bot as a table, one a row."""
    table = Table("", "question", "finding", box=SIMPLE)
    for finding in report.findings:
        table.add_row(*_cells(finding))
    return table


def verdict_table(bots: Iterable[tuple[str, Sequence[Finding]]], *, whole: Collection[str] = ()) -> Table:
    """Return a table of several bots by name: every finding that is no pass; one row where all passed.

    Of those in `whole` every finding is shown.
    """
    table = Table("bot", "verdict", "question", "reason", box=None)
    for bot, findings in bots:
        notable = [finding for finding in findings if bot in whole or finding.verdict != "pass"]
        for finding in notable:
            table.add_row(escape(bot), *_cells(finding))
        if not notable:
            table.add_row(escape(bot), coloured("pass"), f"all {len(findings)} questions passed", "")
    return table


def coloured(verdict: Verdict) -> str:
    """Return a verdict with its colour, as markup."""
    return f"[{_COLOURS[verdict]}]{verdict}[/]"


def _cells(finding: Finding) -> tuple[str, str, str]:
    return coloured(finding.verdict), escape(finding.question), escape(finding.reason)


def transcript(held: Transcript) -> Text:
    """Return a scripted conversation, a line each, with the seconds that each reply took."""
    persona = f", as somebody who says: {' '.join(held.persona)}" if held.persona else ""
    shown = Text(f"\n{held.name}{harmless(persona)}\n", style="bold")
    for line in held.lines:
        if line.author == "worker":
            shown.append(f"  worker  {harmless(quoted(line.text, _WIDEST))}\n", style="dim")
        elif line.error is not None:
            shown.append(f"  bot     no reply: {harmless(quoted(line.error, _WIDEST))}\n", style="red")
        else:
            shown.append(f"  bot     {harmless(quoted(line.text, _WIDEST))}", style="not bold")
            shown.append(f"  {line.seconds:.2f} s\n", style="dim")
    return shown
