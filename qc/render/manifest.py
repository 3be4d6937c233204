"""What is known of each file of a report before it is written: its name, what it holds, when it is there.

Reports are declared here, tables in `qc.render.tables`, figures in `qc.render.figures`, each with what makes
it. Every list of files comes from these declarations: what is written, what of an earlier report is removed,
what the page names, and what tests hold `docs/analyst.md` against.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from qc.analysis import Analysis

Part = TypeVar("Part")
Made = TypeVar("Made")
Make = Callable[[Analysis], Made | None]


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

    make: Make[Made]


def of(
    part: Callable[[Analysis], Part | None], make: Callable[[Part], Made | None]
) -> Callable[[Analysis], Made | None]:
    """Return what makes something of a part of an analysis; None where the part is None."""

    def made(analysis: Analysis) -> Made | None:
        found = part(analysis)
        return None if found is None else make(found)

    return made


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
