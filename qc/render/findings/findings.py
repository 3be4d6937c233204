"""Findings of a command, from which the terminal, the page and all files are made."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qc.render.table import Table

if TYPE_CHECKING:
    from qc.render.drawing.figure import Drawing
from qc.render.terminal import ascii_minus, grid
from qc.terminal import Console


@dataclass(frozen=True)
class FindingsTable:
    """A table with what a reader must know of it.

    Attributes:
        name: lower case with underscores; of its file without command and ending, and its key in the JSON.
        title: what it shows.
        text: how to read it, in sentences.
        table: the numbers.
        on_terminal: how many of its rows the terminal shows; None for all, 0 for no table at all.
    """

    name: str
    title: str
    text: str
    table: Table
    on_terminal: int | None = None


@dataclass(frozen=True)
class FindingsFigure:
    """A figure with what a reader must know of it.

    Attributes:
        name: lower case with hyphens; of its file without the ending.
        title: what it shows, a sentence.
        text: how to read it, in sentences.
        draw: draws it, None if there is no number to draw; drawing takes long to import, so it is done for
            those who want figures only.
    """

    name: str
    title: str
    text: str
    draw: "Callable[[], Drawing | None]"


@dataclass(frozen=True)
class Findings:
    """What a command found.

    Attributes:
        command: its name, which the page, the JSON and the workbook are called by.
        title: of what was looked at.
        source: where that was read from; "" if nothing was read. Files have its name only.
        verdict: what to say first, in sentences.
        notes: what to know before quoting a number, in sentences.
        tables: in the order in which they are read. Those without rows are not shown or written.
        figures: in that order, too.
        method: how it was computed and by whose method, in sentences.
        signature: what the numbers were made of and how, on one line.
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
        """The tables that have rows, by the name of their file.

        It begins with the command's, so that what other commands write may lie beside it.
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
