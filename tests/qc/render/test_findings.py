"""Tests of findings in every output format, with made-up findings that combine rare cases."""

import io
import json
from dataclasses import replace
from pathlib import Path

import openpyxl
import pandas as pd
import pytest
from rich.console import Console

from qc.drawing.sheet import Drawing, Sheet
from qc.errors import OutputError
from qc.render import FORMATS, writing_steps
from qc.render.findings import Findings, FindingsFigure, FindingsTable, show_findings, write_findings
from qc.render.page import SHOWN_ROWS
from qc.table import THREE, Column, Table

COLUMNS = (Column("system", "System"), Column("mean", "Mean", THREE))
LONG = pd.DataFrame({"system": [f"s{row}" for row in range(SHOWN_ROWS + 1)], "mean": -0.5, "more": None})


def drawing() -> Drawing:
    return Drawing("A sheet", "Nothing", lambda width: Sheet(width, 90.0))


FOUND = Findings(
    command="guess",
    title="Guesses of <b>things</b>",
    source="things.csv",
    verdict=("r = −0.5.",),
    notes=("Few.",),
    tables=(
        FindingsTable("long", "Long one", "Read it.", Table(LONG, COLUMNS), 2),
        FindingsTable("empty", "Empty one", "Nothing.", Table(LONG[:0], COLUMNS)),
        FindingsTable("for_programs", "For programs", "Only a file.", Table(LONG), 0),
    ),
    figures=(
        FindingsFigure(
            "drawn",
            "A sheet.",
            "It is empty.",
            drawing,
        ),
        FindingsFigure("undrawn", "No sheet.", "There is no number.", lambda: None),
    ),
    method="By guessing.",
    signature="guess=1",
)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The findings in every format; to be read only."""
    directory = tmp_path_factory.mktemp("findings")
    steps: list[str] = []
    files = write_findings(FOUND, directory, frozenset(FORMATS), steps.append)
    assert set(files) == set(directory.iterdir())
    assert files[0].name == "guess.html"
    assert len(steps) == writing_steps(frozenset(FORMATS))
    return directory


@pytest.fixture(scope="module")
def page(written: Path) -> str:
    return (written / "guess.html").read_text(encoding="utf-8")


def test_only_what_holds_something_is_written(written: Path) -> None:
    assert {file.name for file in written.iterdir()} == {
        "guess.html",
        "guess.json",
        "guess.xlsx",
        "guess_long.csv",
        "guess_for_programs.csv",
        "drawn.svg",
    }


def test_the_document_has_every_row(written: Path) -> None:
    document = json.loads((written / "guess.json").read_text(encoding="utf-8"))
    assert len(document.pop("long")) == len(document.pop("for_programs")) == SHOWN_ROWS + 1
    assert document == {
        "command": "guess",
        "title": "Guesses of <b>things</b>",
        "signature": "guess=1",
        "source": "things.csv",
        "verdict": ["r = −0.5."],
        "notes": ["Few."],
    }


def test_the_workbook_begins_with_what_to_know(written: Path) -> None:
    book = openpyxl.load_workbook(written / "guess.xlsx")
    assert book.sheetnames == ["report", "guess_long", "guess_for_programs"]
    entries = {row[0]: row[1] for row in book["report"].iter_rows(min_row=3, values_only=True)}
    assert entries["verdict"] == "r = −0.5."
    assert entries["method"] == "By guessing."


def test_the_page_says_how_much_of_a_table_it_shows(page: str) -> None:
    assert page.count("<tr>") == 1 + SHOWN_ROWS
    written = "<code>--format csv</code> writes all rows to <code>guess_{}.csv</code>.</p>"
    assert "<p>The first 200 of 201 rows are shown. " + written.format("long") in page
    assert "<p>Only a file.</p>\n<p>" + written.format("for_programs") in page
    assert "Empty one" not in page
    assert page.count("<svg") == 2  # wide and narrow
    assert "No sheet." not in page
    assert "&lt;b&gt;things&lt;/b&gt;" in page


def test_without_verdict_or_figures_the_page_has_no_place_for_them(tmp_path: Path) -> None:
    write_findings(replace(FOUND, verdict=(), figures=()), tmp_path, frozenset({"html"}))
    page = (tmp_path / "guess.html").read_text(encoding="utf-8")
    assert "Verdict" not in page
    assert "Figures" not in page


def test_the_terminal_shows_the_beginning_of_a_table() -> None:
    console = Console(markup=False, file=io.StringIO(), width=100)
    show_findings(FOUND, console)
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert shown.startswith("Guesses of <b>things</b>  (things.csv)\nr = -0.5.\n! Few.\n")
    assert "199 more, all in guess_long.csv" in " ".join(shown.split())
    assert "s1 " in shown
    assert "s2 " not in shown
    assert "For programs" not in shown


def test_where_nothing_can_be_written_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="Name another --out"):
        write_findings(FOUND, tmp_path / "file" / "out", frozenset({"json"}))
