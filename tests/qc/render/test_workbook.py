"""report.xlsx, read again by another library."""

import io
from typing import Any

import openpyxl
import pytest

from qc.analysis import Analysis
from qc.render import tables
from qc.render import workbook as module
from qc.render.sentences import verdict
from qc.render.workbook import LONGEST_NAME, sheet_name, workbook
from tests.qc.support.analyses import NASTY, bare, whole


def opened(analysis: Analysis) -> Any:
    return openpyxl.load_workbook(io.BytesIO(workbook(analysis, tables(analysis))))


@pytest.fixture(scope="module")
def book() -> Any:
    return opened(whole())


def test_a_sheet_for_each_table_after_the_first(book: Any) -> None:
    names = [sheet_name(file) for file in tables(whole())]
    assert book.sheetnames == ["report", *names]
    assert len({name.lower() for name in names}) == len(names)
    assert max(map(len, names)) <= LONGEST_NAME
    assert opened(bare()).sheetnames == ["report", *map(sheet_name, tables(bare()))]


def test_the_first_sheet_says_what_to_know(book: Any) -> None:
    texts = [cell.value for row in book["report"].iter_rows() for cell in row if cell.value]
    for expected in (*verdict(whole()).sentences, *whole().notes, whole().signature):
        assert expected in texts


def test_cells_hold_every_digit(book: Any) -> None:
    for file, table in tables(whole()).items():
        rows = list(book[sheet_name(file)].iter_rows(values_only=True))
        assert [name or "" for name in rows[0]] == [str(name) for name in table.frame.columns], file
        assert len(rows) == len(table.frame) + 1, file
    scores = whole().scores.z
    sheet = book["system_scores"]
    assert sheet["A2"].value == scores["system"].iloc[0]
    assert sheet["C2"].value == pytest.approx(scores["overall"].iloc[0], rel=1e-15)


def test_numbers_are_shown_short_and_headings_stay(book: Any) -> None:
    assert book["system_scores"]["C2"].number_format == "0.000"
    assert book["significance_pvalues"]["C2"].number_format == "0.0000"
    assert book["kept"]["E2"].number_format == "0.0%"
    assert book["kept"]["D2"].number_format == "#,##0"
    assert book["workers"].freeze_panes == "B2"


def test_texts_of_the_data_are_no_formulas(book: Any) -> None:
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
    assert not [cell.value for cell in cells if cell.data_type == "f"]
    assert {"=1+1", NASTY} <= {cell.value for cell in cells}


def test_a_table_too_long_for_a_sheet_says_where_the_rest_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ROWS", 5)
    workers = len(tables(whole())["workers.csv"].frame)
    rows = list(opened(whole())["workers"].iter_rows(values_only=True))
    assert len(rows) == 1 + 5 + 1
    assert rows[-1][0] == f"… and {workers - 5} more rows, all in workers.csv"


def test_what_is_not_known_is_an_empty_cell() -> None:
    assert opened(bare())["cost"]["A2"].value is None
