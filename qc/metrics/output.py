"""Findings on a terminal, and as files in a directory: a page, JSON, tables, a workbook, figures."""

import io
import json
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table as Grid

from qc.errors import OutputError
from qc.metrics.against_people import AgainstPeople
from qc.metrics.findings import Findings, Part
from qc.progress import OnStep
from qc.render.files import comma_separated

if TYPE_CHECKING:
    from qc.render.figures.figure import Figure

FORMATS = ("html", "json", "csv", "xlsx", "svg")
DRAWN = frozenset({"html", "svg"})
PAGE, DOCUMENT, WORKBOOK = "metrics.html", "metrics.json", "metrics.xlsx"
LONGEST_SHEET_NAME = 31
SHOWN_ROWS = 200
# No script, no request: a browser enforces what the page promises.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def show(found: Findings, console: Console) -> None:
    """Print the verdict and notes first, then the tables."""
    console.print(f"Metrics of {found.run}  ({found.source})", style="bold")
    for sentence in found.verdict:
        console.print(_ascii_minus(sentence))
    for note in found.notes:
        console.print(f"! {note}", style="yellow")
    for part in found.parts:
        if part.on_terminal != 0:
            console.print(_grid(part))
            console.print(_ascii_minus(part.text), style="dim")
    console.print(f"Signature: {found.signature}", soft_wrap=True)


def writing_steps(formats: frozenset[str]) -> int:
    """Return how often `write` calls `on_step`."""
    return len(formats) + bool(formats & DRAWN)


def write(
    found: Findings, against: AgainstPeople, directory: Path, formats: frozenset[str], on_step: OnStep
) -> list[Path]:
    """Write `found` into `directory`, made if it is not there; return the files, the one to read first.

    Args:
        found: what is written.
        against: what the figures are drawn of.
        directory: where to.
        formats: of FORMATS.
        on_step: called with a description when a format is begun.

    Raises:
        OutputError: the directory or a file cannot be written.
    """
    files: list[Path] = []
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, content in _contents(found, against, formats, on_step):
            (directory / name).write_bytes(content)
            files.append(directory / name)
    except OSError as error:
        raise OutputError(
            f"{directory}: the results cannot be written ({error.strerror or error}). Name another --out."
        ) from None
    return files


def file_name(part: Part) -> str:
    """Return the name of a part's file; it begins so that a report's files may lie beside it."""
    return f"metrics_{part.name}.csv"


def _contents(
    found: Findings, against: AgainstPeople, formats: frozenset[str], on_step: OnStep
) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each file."""
    figures: list[Figure] = []
    if formats & DRAWN:
        on_step("Drawing the figures")
        figures = _figures(against)
    if "html" in formats:
        on_step("Writing the page")
        yield PAGE, _utf8(_page(found, figures))
    if "json" in formats:
        on_step(f"Writing {DOCUMENT}")
        yield DOCUMENT, _utf8(_document(found))
    if "csv" in formats:
        on_step("Writing the tables")
        for part in found.parts:
            yield file_name(part), comma_separated(part.table.frame)
    if "xlsx" in formats:
        on_step("Writing the workbook")
        yield WORKBOOK, _workbook(found)
    if "svg" in formats:
        on_step("Writing the figures")
        for figure in figures:
            yield f"{figure.name}.svg", _utf8(figure.signed(found.signature))


def _figures(against: AgainstPeople) -> "list[Figure]":
    # Half a second of imports that those who want no figure need not wait for.
    from qc.metrics.figures import agreement_figure, rank_figure  # noqa: PLC0415
    from qc.render.figures.figure import finish  # noqa: PLC0415
    from qc.render.figures.style import drawing  # noqa: PLC0415

    with drawing():
        drawn = {"metric-agreement": agreement_figure(against), "metric-ranks": rank_figure(against)}
        return [finish(name, each) for name, each in drawn.items() if each is not None]


def _page(found: Findings, figures: "list[Figure]") -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415  # for those who write a page
    from markupsafe import Markup  # noqa: PLC0415

    environment = Environment(
        loader=PackageLoader("qc.metrics", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = resources.files("qc.render").joinpath("page.css").read_text(encoding="utf-8")
    return environment.get_template("page.html.jinja").render(
        found=found,
        parts=[
            {
                "name": part.name,
                "file": file_name(part),
                "title": part.title,
                "text": part.text,
                "shown": part.table.shown,
                "rows": part.table.cells(SHOWN_ROWS) if part.table.shown else [],
            }
            for part in found.parts
        ],
        figures=[{"title": each.title, "drawing": Markup(each.themed)} for each in figures],  # noqa: S704
        style=Markup(style),  # noqa: S704
        policy=POLICY,
    )


def _document(found: Findings) -> str:
    content = {
        "signature": found.signature,
        "run": found.run,
        "source": found.source,
        "verdict": found.verdict,
        "notes": found.notes,
        **{part.name: _records(part.table.frame) for part in found.parts},
    }
    return json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows in the types of JSON, in full precision; what is not known is null."""
    values = {str(name): _cells(column) for name, column in frame.items()}
    return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]


def _cells(column: pd.Series) -> list[Any]:
    known = np.isfinite(column) if column.dtype.kind == "f" else column.notna()
    return list(column.astype(object).where(known, None).tolist())


def _workbook(found: Findings) -> bytes:
    import xlsxwriter  # noqa: PLC0415  # for those who write a workbook

    out = io.BytesIO()
    with xlsxwriter.Workbook(out, {"constant_memory": True, "strings_to_formulas": False}) as book:
        front = book.add_worksheet("metrics")
        lines = [f"Metrics of {found.run}", found.source, *found.verdict, *found.notes, found.signature]
        for row, line in enumerate(lines):
            front.write_string(row, 0, line)
        for part in found.parts:
            sheet = book.add_worksheet(part.name[:LONGEST_SHEET_NAME])
            sheet.write_row(0, 0, [str(name) for name in part.table.frame.columns])
            for row, record in enumerate(_records(part.table.frame), start=1):
                for number, cell in enumerate(record.values()):
                    if cell is not None:
                        sheet.write(row, number, cell)
            sheet.freeze_panes(1, 1)
    return out.getvalue()


def _grid(part: Part) -> Grid:
    more = len(part.table.shown_rows) - (part.on_terminal or len(part.table.shown_rows))
    caption = f"… and {more} more, all in {file_name(part)}" if more > 0 else None
    grid = Grid(title=part.title, title_justify="left", caption=caption, caption_justify="left")
    for number, column in enumerate(part.table.shown):
        grid.add_column(
            column.head or "",
            justify="right" if column.form else "left",
            overflow="ellipsis" if number else "fold",
            no_wrap=column.upper is not None,
        )
    for row in part.table.cells(part.on_terminal):
        grid.add_row(*(_ascii_minus(cell.text) for cell in row))
    return grid


def _ascii_minus(text: str) -> str:
    """Return `text` with a minus that every terminal can show: a `?` before a number would mislead."""
    return text.replace("−", "-")


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", errors="replace")
