"""Manifest of a report: each file's name, content, section and condition, before it is written.

Reports are declared here, tables in `qc.render.tables`, figures in `qc.render.figures`, each with the
function that makes it. Every list of files comes from these declarations: the files to write, the files of an
earlier report to remove, the files that the page names, and the files that tests compare with
`docs/analyst.md`.
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
        name: file name with its ending.
        holds: description of its content.
        section: key of SECTIONS; without this section there is no file. None if it belongs to no section.
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
    """A table or a figure; `make` creates it from an analysis, None if the analysis has no data for it."""

    make: Callable[[Analysis], Made | None]


@dataclass(frozen=True)
class AnalysisPart(Generic[T]):
    """A part of an analysis: the section that computes it, None if it has none, and how to get it."""

    section: str | None
    get: Callable[[Analysis], T | None]

    def file(self, name: str, holds: str, make: Callable[[T], Made | None]) -> MadeFile[Made]:
        """Return the file that `make` creates from this part."""

        def made(analysis: Analysis) -> Made | None:
            part = self.get(analysis)
            return None if part is None else make(part)

        return MadeFile(name, holds, made, section=self.section)


WHOLE = AnalysisPart(None, lambda a: a)
QUIZ = AnalysisPart(None, lambda a: a.quiz)
WRITING = AnalysisPart(None, lambda a: a.writing)
TURN_RATINGS = AnalysisPart(None, lambda a: a.turn_ratings)
SCENARIOS = AnalysisPart(None, lambda a: a.scenarios)
CEILING = AnalysisPart(None, lambda a: a.ceiling)
ANSWERS = AnalysisPart(None, lambda a: a.answers)
SERVED = AnalysisPart(None, lambda a: a.served)
INCIDENTS = AnalysisPart(None, lambda a: a.incidents)
SIGNIFICANCE = AnalysisPart("significance", lambda a: a.significance)
CLUSTERS = AnalysisPart("significance", lambda a: a.clusters)
INTERVALS = AnalysisPart("intervals", lambda a: a.intervals)
FORECAST = AnalysisPart("forecast", lambda a: a.forecast)
REPLICATION = AnalysisPart("replication", lambda a: a.replication)
CRITERIA = AnalysisPart("criteria", lambda a: a.criteria)
AGREEMENT = AnalysisPart("agreement", lambda a: a.agreement)
FILTER = AnalysisPart("filter", lambda a: a.filter_check)
PERSONA = AnalysisPart("persona", lambda a: a.persona)
CONTEXT = AnalysisPart("context", lambda a: a.context)
ADJUSTED = AnalysisPart("context", lambda a: a.adjusted)
TOPICS = AnalysisPart("topics", lambda a: a.topics)
EFFORT = AnalysisPart("effort", lambda a: a.effort)
GROUPS = AnalysisPart("groups", lambda a: a.groups)
TRANSCRIPTS = AnalysisPart("transcripts", lambda a: a.transcripts)
REPEATS = AnalysisPart("transcripts", lambda a: a.transcripts.repeats if a.transcripts else None)
EDITS = AnalysisPart("transcripts", lambda a: a.transcripts.edits if a.transcripts else None)

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
