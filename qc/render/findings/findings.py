"""Findings of a command: the source of its terminal output, page and files."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from candor.common.terminal import Console
from qc.render.terminal import ascii_minus, grid
from qc.table import Table

if TYPE_CHECKING:
    from qc.drawing.sheet import Drawing


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
