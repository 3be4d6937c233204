"""What is known of each file of a report before it is written: its name, what it holds, when it is there.

Reports are declared here, tables in `qc.render.tables`, figures in `qc.render.figures`, each with what makes
it. Every list of files comes from these declarations: what is written, what of an earlier report is removed,
what the page names, and what tests hold `docs/analyst.md` against.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from qc.analysis import Analysis

T = TypeVar("T")
Made = TypeVar("Made")


@dataclass(frozen=True)
class ReportFile:
    """A file of a report.

    Attributes:
        name: with its ending.
        holds: what is in it.
        section: of SECTIONS; without it the file is not there. None if the file belongs to no section.
    """

    name: str
    holds: str
    section: str | None = field(default=None, kw_only=True)

    @property
    def stem(self) -> str:
        """The name without its ending."""
        return self.name.rpartition(".")[0]


@dataclass(frozen=True)
class MadeFile(ReportFile, Generic[Made]):
    """A table or a figure; `make` makes it of an analysis, None if the analysis has nothing for it."""

    make: Callable[[Analysis], Made | None]


@dataclass(frozen=True)
class Part(Generic[T]):
    """A part of an analysis: the section that computes it, None if it belongs to none, and how to get it."""

    section: str | None
    get: Callable[[Analysis], T | None]

    def file(self, name: str, holds: str, make: Callable[[T], Made | None]) -> MadeFile[Made]:
        """Return the file that `make` makes of this part."""

        def made(analysis: Analysis) -> Made | None:
            part = self.get(analysis)
            return None if part is None else make(part)

        return MadeFile(name, holds, made, section=self.section)


WHOLE = Part(None, lambda a: a)
INCIDENTS = Part(None, lambda a: a.incidents)
SIGNIFICANCE = Part("significance", lambda a: a.significance)
CLUSTERS = Part("significance", lambda a: a.clusters)
INTERVALS = Part("intervals", lambda a: a.intervals)
FORECAST = Part("forecast", lambda a: a.forecast)
REPLICATION = Part("replication", lambda a: a.replication)
CRITERIA = Part("criteria", lambda a: a.criteria)
AGREEMENT = Part("agreement", lambda a: a.agreement)
FILTER = Part("filter", lambda a: a.filter_check)
ALPHA = Part("alpha", lambda a: a.alpha)
PERSONA = Part("persona", lambda a: a.persona)
CONTEXT = Part("context", lambda a: a.context)
ADJUSTED = Part("context", lambda a: a.adjusted)
TOPICS = Part("topics", lambda a: a.topics)
EFFORT = Part("effort", lambda a: a.effort)

PAGE = ReportFile(
    "report.html",
    "the whole report as one page: no network, no script; on a phone, on paper, light and dark",
)
DOCUMENT = ReportFile(
    "report.json", "all results for programs, described in [report-json.md](report-json.md)"
)
WORKBOOK = ReportFile(
    "report.xlsx",
    "verdict, notes, signature, then a sheet for each table (the first 50,000 rows of a longer one)",
)
SIGNATURE = ReportFile("signature.txt", "what the numbers were made of and how, on one line")
REPORTS = (PAGE, DOCUMENT, WORKBOOK, SIGNATURE)
