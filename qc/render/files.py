"""All that is written into the directory of a report."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa
from pyarrow import csv as arrow_csv

from qc.analysis import Analysis, OnStep
from qc.errors import OutputError
from qc.render.document import document
from qc.render.tables import tables
from qc.render.workbook import workbook

if TYPE_CHECKING:
    from qc.render.figures import Figure

FORMATS = ("html", "json", "csv", "xlsx", "svg")


def _no_step(_: str) -> None:
    """Nobody watches."""


def write(
    analysis: Analysis,
    directory: Path,
    formats: frozenset[str] = frozenset(FORMATS),
    on_step: OnStep = _no_step,
) -> list[Path]:
    """Write the results into `directory`, made if it is not there; return the files, the one to read first.

    Args:
        analysis: the results.
        directory: where to.
        formats: of FORMATS: `html` is report.html, `json` report.json, `xlsx` report.xlsx, `csv` a file for
            each table, `svg` a file for each figure.
        on_step: called with a description when a format is begun.

    Raises:
        OutputError: the directory or a file cannot be written.
    """
    files: list[Path] = []
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, content in _contents(analysis, formats, on_step):
            (directory / name).write_bytes(content)
            files.append(directory / name)
    except OSError as error:
        raise OutputError(
            f"{directory}: the results cannot be written ({error.strerror or error}). Name another --out."
        ) from None
    return files


def _contents(analysis: Analysis, formats: frozenset[str], on_step: OnStep) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each file."""
    found = tables(analysis)
    drawn = _drawn(analysis) if formats & {"html", "svg"} else {}
    if "html" in formats:
        on_step("Writing the page")
        yield "report.html", _utf8(_page(analysis, found, drawn))
    if "json" in formats:
        on_step("Writing report.json")
        yield "report.json", _utf8(document(analysis))
    if "csv" in formats:
        on_step("Writing the tables")
        for name, table in found.items():
            yield name, comma_separated(table)
        yield "signature.txt", _utf8(analysis.signature + "\n")
    if "xlsx" in formats:
        on_step("Writing the workbook")
        yield "report.xlsx", workbook(analysis, found)
    if "svg" in formats:
        on_step("Writing the figures")
        for figure in drawn.values():
            yield f"{figure.name}.svg", _utf8(figure.signed(analysis.signature))


def _page(analysis: Analysis, found: dict[str, pd.DataFrame], drawn: "dict[str, Figure]") -> str:
    from qc.render.page import page  # noqa: PLC0415  # as for the figures

    return page(analysis, found, drawn)


def _drawn(analysis: Analysis) -> "dict[str, Figure]":
    # Half a second of imports that those who want no figure need not wait for.
    from qc.render.figures import figures  # noqa: PLC0415

    return figures(analysis)


def comma_separated(table: pd.DataFrame) -> bytes:
    """Return `table` as CSV: numbers with as many digits as they have, empty where nothing is known."""
    out = io.BytesIO()
    heading = io.StringIO()
    csv.writer(heading, lineterminator="\n").writerow(table.columns)
    out.write(_utf8(heading.getvalue()))
    # Two columns may have one name: a criterion can be called as it likes.
    columns = [pa.array(column, from_pandas=True) for _, column in table.items()]
    rows = pa.Table.from_arrays(columns, names=[str(number) for number in range(len(columns))])
    arrow_csv.write_csv(rows, out, arrow_csv.WriteOptions(include_header=False, quoting_style="needed"))
    return out.getvalue()


def _utf8(text: str) -> bytes:
    """Return `text` encoded; half a surrogate pair, which a JSON source may hold, comes out as `?`."""
    return text.encode("utf-8", errors="replace")
