"""Manifest of a report: each file's name, content, option and condition, before it is written.

The tables and figures are those of the sections (`qc.sections`). Every list of files comes from here: the
files to write, the files of an earlier report to remove, the files that the page names, and the files that
`docs/reference/report-files.md` lists.
"""

from qc.drawing.sheet import Drawing, Figure, finish
from qc.sections import CHAPTERS, SECTIONS
from qc.sections.analysis import Analysis
from qc.sections.section import MadeFile, ReportFile
from qc.table import Table

Tables = dict[str, Table]

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
# Tables that the authors' scripts write too have the authors' columns and order. All numbers are in full
# precision; unknown values are empty.
# The page lists them, and a bundle is verified byte by byte, so those of LAST stay in their places.
LAST = ("answers_numbers.csv", "left_out.csv")
TABLES: tuple[MadeFile[Table], ...] = tuple(
    sorted((file for section in SECTIONS for file in section.tables), key=lambda file: file.name in LAST)
)
# Those on the page come first, in reading order.
FIGURES: tuple[MadeFile[Drawing], ...] = tuple(
    sorted((file for chapter in CHAPTERS for file in chapter.figures), key=lambda file: not file.on_page)
)


def tables(analysis: Analysis) -> Tables:
    """Return the tables by file name."""
    made = ((file.name, file.make(analysis)) for file in TABLES)
    return {name: table for name, table in made if table is not None}


def figures(analysis: Analysis, *, beside: bool = True) -> dict[str, Figure]:
    """Return the figures of `analysis` by name, in reading order.

    A figure is left out if its part of the analysis is None or has no number to draw. The same analysis
    always gives the same bytes.

    Args:
        analysis: the results.
        beside: also draw the figures that the page shows as coloured tables instead.
    """
    made = ((file.stem, file.make(analysis)) for file in FIGURES if beside or file.on_page)
    return {name: finish(name, each) for name, each in made if each is not None}
