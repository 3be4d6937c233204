"""A report as people read it in a terminal."""

from rich.box import SIMPLE
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from bots.conformance.findings import quoted
from bots.conformance.report import ConformanceReport, Transcript, Verdict

_COLOURS: dict[Verdict, str] = {"pass": "green", "warn": "yellow", "fail": "bold red"}
_WIDEST = 200  # characters of a line


def conformance_table(report: ConformanceReport, title: str | None = None) -> Table:
    """Return the findings as a table, one a row, under `title`."""
    table = Table("", "question", "finding", title=title, title_justify="left", box=SIMPLE)
    for finding in report.findings:
        verdict = coloured(finding.verdict)
        table.add_row(verdict, escape(finding.question), escape(finding.reason))
    return table


def coloured(verdict: Verdict) -> str:
    """Return a verdict with its colour, as markup."""
    return f"[{_COLOURS[verdict]}]{verdict}[/]"


def transcript(held: Transcript) -> Text:
    """Return a scripted conversation, a line each, with the seconds that each reply took."""
    persona = f", as somebody who says: {' '.join(held.persona)}" if held.persona else ""
    shown = Text(f"\n{held.name}{persona}\n", style="bold")
    for line in held.lines:
        if line.author == "worker":
            shown.append(f"  worker  {quoted(line.text, _WIDEST)}\n", style="dim")
        elif line.error is not None:
            shown.append(f"  bot     no reply: {quoted(line.error, _WIDEST)}\n", style="red")
        else:
            shown.append(f"  bot     {quoted(line.text, _WIDEST)}", style="not bold")
            shown.append(f"  {line.seconds:.2f} s\n", style="dim")
    return shown
