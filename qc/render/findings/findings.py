"""What a command found, as one value. The terminal, the page and all files are made from it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qc.render.table import Table

if TYPE_CHECKING:
    from qc.render.figures.figure import Drawing


@dataclass(frozen=True)
class Part:
    """A table with what a reader must know of it.

    Attributes:
        name: lower case with underscores; of its file without the ending, and its key in the JSON.
        title: what it shows, a sentence.
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
        draw: draws it; drawing takes long to import, so it is done for those who want figures only.
    """

    name: str
    title: str
    text: str
    draw: "Callable[[], Drawing]"


@dataclass(frozen=True)
class Findings:
    """What a command found.

    Attributes:
        command: its name, which the page, the JSON and the workbook are called by.
        title: of what was looked at.
        source: where that was read from; "" if nothing was read.
        verdict: what to say first, in sentences.
        notes: what to know before quoting a number, in sentences.
        parts: the tables, in the order in which they are read.
        figures: in that order, too.
        method: how it was computed and by whose method, in sentences.
        signature: what the numbers were made of and how, on one line.
    """

    command: str
    title: str
    source: str
    verdict: tuple[str, ...]
    notes: tuple[str, ...]
    parts: tuple[Part, ...]
    figures: tuple[FindingsFigure, ...]
    method: str
    signature: str

    @property
    def tables(self) -> dict[str, Table]:
        """The tables by the name of their file."""
        return {f"{self.command}_{part.name}.csv": part.table for part in self.parts}
