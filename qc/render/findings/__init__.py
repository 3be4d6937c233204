"""Findings of a command, written to the terminal, a page, tables, figures and JSON."""

from qc.render.findings.command import write_findings
from qc.render.findings.findings import Findings, FindingsFigure, FindingsTable, show_findings

__all__ = [
    "Findings",
    "FindingsFigure",
    "FindingsTable",
    "show_findings",
    "write_findings",
]
