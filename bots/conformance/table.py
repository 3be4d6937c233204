"""A report as people read it in a terminal."""

from rich.markup import escape
from rich.table import Table

from bots.conformance.report import ConformanceReport, Verdict

_COLOURS: dict[Verdict, str] = {"pass": "green", "warn": "yellow", "fail": "bold red"}


def conformance_table(report: ConformanceReport, title: str | None = None) -> Table:
    """Return the findings as a table, one a row, under `title`."""
    table = Table("", "question", "finding", title=title, title_justify="left")
    for finding in report.findings:
        verdict = coloured(finding.verdict)
        table.add_row(verdict, escape(finding.question), escape(finding.reason))
    return table


def coloured(verdict: Verdict) -> str:
    """Return a verdict with its colour, as markup."""
    return f"[{_COLOURS[verdict]}]{verdict}[/]"
