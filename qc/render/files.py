"""Write the files of a report into a directory."""

import csv
import io
from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
from pyarrow import csv as arrow_csv

from candor.common.spreadsheet import harmless_unless_number
from candor.common.terminal import visible
from qc.drawing.sheet import Figure
from qc.errors import OutputError
from qc.options import FORMATS, OnStep, no_step
from qc.render.document import document
from qc.render.manifest import (
    DOCUMENT,
    FIGURES,
    PAGE,
    REPORTS,
    SIGNATURE,
    TABLES,
    WORKBOOK,
    figures,
    tables,
)
from qc.sections.analysis import Analysis
from qc.sections.section import ReportFile

# Our figures contain this text: their metadata hold a signature.
SIGNED = b"<metadata>candor="
DRAWN = frozenset({"html", "svg"})
TABULAR = frozenset({"html", "csv", "xlsx"})  # formats with tables


def writing_steps(formats: frozenset[str]) -> int:
    """Return how often `write` calls `on_step`."""
    return len(formats) + bool(formats & DRAWN)


def write(
    analysis: Analysis,
    directory: Path,
    formats: frozenset[str] = frozenset(FORMATS),
    on_step: OnStep = no_step,
) -> list[Path]:
    """Write the results into `directory`, and return the files; the first one is the one to open first.

    The directory is created if missing. It holds one report: files of an earlier report that are not written
    again are removed. Files whose names are not those of a report's files are never touched.

    Args:
        analysis: the results.
        directory: output directory.
        formats: some of FORMATS: `html` is report.html, `json` report.json, `xlsx` report.xlsx, `csv` a file
            for each table, `svg` a file for each figure.
        on_step: called with a description when a format begins.

    Raises:
        OutputError: the directory or a file cannot be written.
    """
    files: list[Path] = []
    try:
        directory.mkdir(parents=True, exist_ok=True)
        earlier = _earlier_report(directory)
        for name, content in _contents(analysis, formats, on_step):
            (directory / name).write_bytes(content)
            files.append(directory / name)
        for file in earlier - set(files):
            file.unlink()
    except OSError as error:
        raise OutputError(
            f"{directory}: the results cannot be written ({error.strerror or error}). Name another --out."
        ) from None
    return files


def _earlier_report(directory: Path) -> set[Path]:
    """Return the files of an earlier report; none without evidence that there is one.

    Names such as `workers.csv` are common, so alone they are no evidence.
    """
    reports, others, figures = (_held(directory, files) for files in (REPORTS, TABLES, FIGURES))
    ours = reports or any(SIGNED in file.read_bytes() for file in figures)
    return reports | others | figures if ours else set()


def _held(directory: Path, files: Iterable[ReportFile]) -> set[Path]:
    return {directory / file.name for file in files if (directory / file.name).is_file()}


def _contents(analysis: Analysis, formats: frozenset[str], on_step: OnStep) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each file."""
    # The JSON document builds its own tables, and programs request it most often.
    found = tables(analysis) if formats & TABULAR else {}
    drawn: dict[str, Figure] = {}
    if formats & DRAWN:
        on_step("Drawing the figures")
        drawn = figures(analysis, beside="svg" in formats)
    if "html" in formats:
        from qc.render.page import page  # noqa: PLC0415  # it is slow to import

        on_step("Writing the page")
        yield PAGE.name, utf8(page(analysis, found, drawn))
    if "json" in formats:
        on_step(f"Writing {DOCUMENT.name}")
        yield DOCUMENT.name, utf8(document(analysis))
    if "csv" in formats:
        on_step("Writing the tables")
        for name, table in found.items():
            yield name, comma_separated(table.frame)
        yield SIGNATURE.name, utf8(analysis.signature + "\n")
    if "xlsx" in formats:
        from qc.render.workbook import workbook  # noqa: PLC0415  # as for the page

        on_step("Writing the workbook")
        yield WORKBOOK.name, workbook(analysis, found)
    if "svg" in formats:
        on_step("Writing the figures")
        for figure in drawn.values():
            yield f"{figure.name}.svg", utf8(visible(figure.signed(analysis.signature)))


def comma_separated(table: pd.DataFrame) -> bytes:
    """Return `table` as CSV: numbers in full precision, empty cells for unknown values.

    Control characters are replaced. Text that a spreadsheet would read as a formula gets an apostrophe in
    front.
    """
    out = io.BytesIO()
    heading = io.StringIO()
    csv.writer(heading, lineterminator="\n").writerow(map(_harmless, table.columns))
    out.write(utf8(heading.getvalue()))
    # Two columns may have the same name, because a criterion can have any name.
    columns = [pa.array(_harmless_text(column), from_pandas=True) for _, column in table.items()]
    rows = pa.Table.from_arrays(columns, names=[str(number) for number in range(len(columns))])
    arrow_csv.write_csv(rows, out, arrow_csv.WriteOptions(include_header=False, quoting_style="needed"))
    return out.getvalue()


def _harmless_text(column: pd.Series) -> pd.Series:
    holds_text = column.dtype == object or isinstance(column.dtype, (pd.StringDtype, pd.CategoricalDtype))
    return column.map(_harmless) if holds_text else column


def _harmless(cell: object) -> object:
    return harmless_unless_number(visible(cell)) if isinstance(cell, str) else cell


def utf8(text: str) -> bytes:
    """Return `text` in UTF-8; half a surrogate pair, which a file name may contain, becomes `?`."""
    return text.encode("utf-8", errors="replace")
