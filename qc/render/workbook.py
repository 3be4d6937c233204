"""`report.xlsx`: a front sheet with the verdict and notes, then one sheet for each table."""

import io
from collections.abc import Hashable, Sequence
from functools import cache
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd
import xlsxwriter
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from qc.render.manifest import Tables
from qc.render.sentences import verdict
from qc.run import source_name
from qc.sections.analysis import Analysis
from qc.table import COUNT, Table

# A sheet can hold 1,048,576 rows, but one of this length still opens quickly.
MOST_ROWS = 50_000
LONGEST_TEXT = 32_767
LONGEST_NAME = 31
MEASURED_ROWS = 200
NARROWEST, WIDEST = 9, 60


def workbook(analysis: Analysis, tables: Tables) -> bytes:
    """Return the workbook. Cells have full precision; a table that is cut says where the rest is."""
    entries = [("source", source_name(analysis.run.source))]
    entries += [("verdict", sentence) for sentence in verdict(analysis).sentences]
    entries += [("note", note) for note in analysis.notes]
    entries += [("signature", analysis.signature)]
    return book_of(f"Report on {analysis.run.name}", entries, tables)


def book_of(title: str, entries: Sequence[tuple[str, str]], tables: Tables) -> bytes:
    """Return a workbook with a front sheet (title and labelled texts) and a sheet for each table."""
    out = io.BytesIO()
    with xlsxwriter.Workbook(out, {"constant_memory": True}) as book:
        styles = _Styles(book)
        _write_front(book.add_worksheet("report"), title, entries, tables, styles)
        for file, table in tables.items():
            _write_table(book.add_worksheet(sheet_name(file)), file, table, styles)
    return out.getvalue()


class _Styles:
    """The formats of cells."""

    def __init__(self, book: xlsxwriter.Workbook) -> None:
        self.title = book.add_format({"bold": True, "font_size": 16})
        self.label = book.add_format({"bold": True, "valign": "top"})
        self.prose = book.add_format({"text_wrap": True, "valign": "top"})
        self.link = book.add_format({"font_color": "#0060A0", "underline": 1})
        self.heading = book.add_format({"bold": True, "bottom": 1, "bg_color": "#EEF2F5"})
        self._numbers = cache(lambda form: book.add_format({"num_format": form}))

    def of(self, table: Table, key: Hashable, values: pd.Series) -> Format | None:
        """Return the format of a column; None for text."""
        if not pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values):
            return None
        form = COUNT if pd.api.types.is_integer_dtype(values) else table.form_of(key)
        return self._numbers(form.excel)


def sheet_name(file: str) -> str:
    """Return the name of a table's sheet: its file name without ending, cut to Excel's limit."""
    return PurePath(file).stem[:LONGEST_NAME]


def _write_front(
    sheet: Worksheet, title: str, entries: Sequence[tuple[str, str]], tables: Tables, styles: _Styles
) -> None:
    sheet.set_column(0, 0, 14)
    sheet.set_column(1, 1, 110)
    sheet.write_string(0, 0, title[:LONGEST_TEXT], styles.title)
    for row, (label, text) in enumerate(entries, start=2):
        sheet.write_string(row, 0, label, styles.label)
        sheet.write_string(row, 1, text[:LONGEST_TEXT], styles.prose)
    for row, file in enumerate(tables, start=len(entries) + 3):
        sheet.write_string(row, 0, "table", styles.label)
        sheet.write_url(row, 1, f"internal:'{sheet_name(file)}'!A1", styles.link, string=file)


def _write_table(sheet: Worksheet, file: str, table: Table, styles: _Styles) -> None:
    shown = table.frame.iloc[:MOST_ROWS]
    formats = [styles.of(table, name, column) for name, column in shown.items()]
    columns = [_cells(column) for _, column in shown.items()]
    for number, (name, cells) in enumerate(zip(shown.columns, columns, strict=True)):
        sheet.set_column(number, number, _width(str(name), cells))
        sheet.write_string(0, number, str(name)[:LONGEST_TEXT], styles.heading)
    sheet.freeze_panes(1, 1)
    for row, cells_of_row in enumerate(zip(*columns, strict=True), start=1):
        for number, cell in enumerate(cells_of_row):
            if isinstance(cell, str):
                sheet.write_string(row, number, cell[:LONGEST_TEXT])
            elif cell is not None:
                sheet.write_number(row, number, cell, formats[number])
    if (rest := len(table.frame) - MOST_ROWS) > 0:
        sheet.write_string(MOST_ROWS + 1, 0, f"… and {rest:,} more rows, all in {file}")


def _cells(column: pd.Series) -> Sequence[Any]:
    """Return numbers and texts; None for unknown values."""
    if pd.api.types.is_bool_dtype(column):
        return [None if pd.isna(value) else "yes" if value else "no" for value in column.tolist()]
    values = column.astype(object)
    known = np.isfinite(column) if column.dtype.kind == "f" else column.notna()
    return list(values.where(known, None).tolist())


def _width(name: str, cells: Sequence[Any]) -> int:
    texts = [len(cell) for cell in cells[:MEASURED_ROWS] if isinstance(cell, str)]
    return min(max([NARROWEST, len(name) + 2, *texts]), WIDEST)
