"""What the commands about judgments find, for people: on a terminal, as a page, tables, figures and JSON."""

from qc.render.findings.files import FORMATS, write_findings, writing_steps
from qc.render.findings.findings import Findings, FindingsFigure, FindingsTable
from qc.render.findings.terminal import show_findings

__all__ = [
    "FORMATS",
    "Findings",
    "FindingsFigure",
    "FindingsTable",
    "show_findings",
    "write_findings",
    "writing_steps",
]
