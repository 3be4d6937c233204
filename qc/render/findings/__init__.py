"""Findings of a command: their options, terminal output, page, tables, figures and JSON."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from markupsafe import Markup

from candor.common.terminal import Console, visible
from qc.command import names_in, output_console, progress
from qc.errors import OutputError
from qc.options import OnStep, no_step
from qc.render import FORMATS, writing_steps
from qc.render.document import json_text
from qc.render.files import DRAWN, comma_separated, utf8
from qc.render.page import POLICY, SHOWN_ROWS, style, template
from qc.render.terminal import ascii_minus, grid
from qc.run import source_name
from qc.table import Table, counted

if TYPE_CHECKING:
    from qc.drawing.sheet import Drawing, Figure


@dataclass(frozen=True)
class FindingsTable:
    """A table with an explanation for readers.

    Attributes:
        name: lower case with underscores; its file name without command and ending, and its key in the JSON.
        title: title of the table.
        text: how to read it, in sentences.
        table: the numbers.
        on_terminal: number of rows to print on the terminal; None for all, 0 to leave the table out.
    """

    name: str
    title: str
    text: str
    table: Table
    on_terminal: int | None = None


@dataclass(frozen=True)
class FindingsFigure:
    """A figure with an explanation for readers.

    Attributes:
        name: lower case with hyphens; its file name without the ending.
        title: title of the figure, a sentence.
        text: how to read it, in sentences.
        draw: draws the figure; returns None if there is no number to draw. It is called only if figures are
            requested, because the drawing code is slow to import.
    """

    name: str
    title: str
    text: str
    draw: "Callable[[], Drawing | None]"


@dataclass(frozen=True)
class Findings:
    """Findings of a command.

    Attributes:
        command: name of the command; the page, the JSON and the workbook are named after it.
        title: title of the findings.
        source: where the data were read from; "" if nothing was read. Files show only its name.
        verdict: the main results, in sentences.
        notes: what to know before quoting a number, in sentences.
        tables: in reading order. Tables without rows are not shown or written.
        figures: in reading order.
        method: the methods and their sources, in sentences.
        signature: the data and options behind the numbers, on one line.
    """

    command: str
    title: str
    source: str
    verdict: tuple[str, ...]
    notes: tuple[str, ...]
    tables: tuple[FindingsTable, ...]
    figures: tuple[FindingsFigure, ...]
    method: str
    signature: str

    @property
    def files(self) -> dict[str, FindingsTable]:
        """The tables that have rows, by file name.

        File names start with the name of the command, so that several commands can share a directory.
        """
        return {f"{self.command}_{each.name}.csv": each for each in self.tables if len(each.table.frame)}


def show_findings(found: Findings, console: Console) -> None:
    """Print the verdict and notes first, then the tables."""
    console.print(f"{found.title}  ({found.source})" if found.source else found.title, style="bold")
    for sentence in found.verdict:
        console.print(ascii_minus(sentence))
    for note in found.notes:
        console.print(f"! {ascii_minus(note)}", style="yellow")
    for file, each in found.files.items():
        if each.on_terminal != 0:
            console.print(grid(each.title, each.table, each.on_terminal, file))
            console.print(ascii_minus(each.text), style="dim")
    console.print(f"Signature: {found.signature}", soft_wrap=True)


Metrics = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="CSV with metrics of the outputs, by output or by item and system."),
]
Criterion = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Criterion to compare. Default: the only one, or `overall`, or the mean of all criteria.",
    ),
]
PerWorkerZ = Annotated[bool, typer.Option("--z", help="Take judgments standardised per worker.")]
Out = Annotated[Path | None, typer.Option(help="Output directory; created if missing.", metavar="DIR")]
Formats = Annotated[
    str,
    typer.Option(
        "--format", metavar="NAMES", help=f"What to write, separated by commas: {', '.join(FORMATS)}."
    ),
]


def wanted_formats(given: str, out: Path | None) -> frozenset[str]:
    """Return the formats that `--format` names; none without `--out`.

    Raises:
        OptionError: a format is unknown.
    """
    names = names_in("--format", given, FORMATS)
    return names if out else frozenset()


def write_all(found: Findings, out: Path | None, formats: frozenset[str], stderr: Console) -> list[Path]:
    """Write the findings and return the files; without a directory, write nothing."""
    if out is None:
        return []
    with progress(stderr, writing_steps(formats)) as on_step:
        return write_findings(found, out, formats, on_step)


def tell(found: Findings, out: Path | None, files: list[Path]) -> None:
    """Print the findings and the location of the files on stdout."""
    console = output_console()
    show_findings(found, console)
    if out is None:
        console.print("Nothing was written. With --out DIR you get a page, tables and figures.")
    elif files:
        console.print(
            f"{counted(len(files), 'file')} written to {out}; begin with {files[0].name}.", soft_wrap=True
        )


def findings_page(found: Findings, figures: "Mapping[str, Figure]") -> str:
    """Return the page. It has no script and makes no request; all text from the data is escaped."""
    content = template("findings.html.jinja").render(
        found=found,
        source=source_name(found.source),
        tables={file: each.table for file, each in found.files.items()},
        files=(),  # the template itself names the file of every table, long or short
        figures={name: Markup(figure.themed) for name, figure in figures.items()},  # noqa: S704
        shown_rows=SHOWN_ROWS,
        style=style(),
        policy=POLICY,
    )
    return visible(content)


def write_findings(
    found: Findings, directory: Path, formats: frozenset[str], on_step: OnStep = no_step
) -> list[Path]:
    """Write findings into `directory`, which is created if missing; return the files.

    Files with the same names are replaced; no other file is touched.

    Args:
        found: the findings.
        directory: output directory.
        formats: some of FORMATS: a page, a document for programs, a file for each table, a workbook of all
            tables, a file for each figure.
        on_step: called with a description when a format begins.

    Raises:
        OutputError: the directory or a file cannot be written.
    """
    files: list[Path] = []
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, content in _contents(found, formats, on_step):
            (directory / name).write_bytes(content)
            files.append(directory / name)
    except OSError as error:
        raise OutputError(
            f"{directory}: the results cannot be written ({error.strerror or error}). Name another --out."
        ) from None
    return files


def _contents(found: Findings, formats: frozenset[str], on_step: OnStep) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each file."""
    figures: dict[str, Figure] = {}
    if formats & DRAWN:
        on_step("Drawing the figures")
        figures = _drawn(found)
    if "html" in formats:
        from qc.render.findings import findings_page  # noqa: PLC0415  # takes long to import

        on_step("Writing the page")
        yield f"{found.command}.html", utf8(findings_page(found, figures))
    if "json" in formats:
        on_step(f"Writing {found.command}.json")
        yield f"{found.command}.json", utf8(_document(found))
    if "csv" in formats:
        on_step("Writing the tables")
        for name, each in found.files.items():
            yield name, comma_separated(each.table.frame)
    if "xlsx" in formats:
        on_step("Writing the workbook")
        yield f"{found.command}.xlsx", _workbook(found)
    if "svg" in formats:
        on_step("Writing the figures")
        for figure in figures.values():
            yield f"{figure.name}.svg", utf8(visible(figure.signed(found.signature)))


def _drawn(found: Findings) -> "dict[str, Figure]":
    from qc.drawing.sheet import finish  # noqa: PLC0415  # only where something is drawn

    drawn = ((figure.name, figure.draw()) for figure in found.figures)
    return {name: finish(name, each) for name, each in drawn if each is not None}


def _document(found: Findings) -> str:
    return json_text(
        {
            "command": found.command,
            "title": found.title,
            "signature": found.signature,
            "source": source_name(found.source),
            "verdict": found.verdict,
            "notes": found.notes,
            **{each.name: each.table.frame for each in found.files.values()},
        }
    )


def _workbook(found: Findings) -> bytes:
    from qc.render.workbook import book_of  # noqa: PLC0415  # takes long to import

    entries = [("source", source_name(found.source))] if found.source else []
    entries += [("verdict", sentence) for sentence in found.verdict]
    entries += [("note", note) for note in found.notes]
    entries += [("method", found.method), ("signature", found.signature)]
    return book_of(found.title, entries, {file: each.table for file, each in found.files.items()})
