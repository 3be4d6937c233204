"""A section of the report: its results, tables, figures, keys of `report.json`, and its part of the page."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Generic, Literal, TypeVar

from qc.drawing.sheet import Drawing
from qc.sections.analysis import Analysis
from qc.table import Table

Json = dict[str, Any]
T = TypeVar("T")
Made = TypeVar("Made")


@dataclass(frozen=True)
class ReportFile:
    """A file of a report.

    Attributes:
        name: file name with its ending.
        holds: description of its content.
        option: key of `qc.options.SECTIONS`; without it there is no file. None if it belongs to no option.
    """

    name: str
    holds: str
    option: str | None = field(default=None, kw_only=True)

    @property
    def stem(self) -> str:
        """The name without its ending."""
        return self.name.rpartition(".")[0]


@dataclass(frozen=True)
class MadeFile(ReportFile, Generic[Made]):
    """A table or a figure.

    Attributes:
        make: creates it from an analysis; None if the analysis has no data for it.
        on_page: whether a figure is drawn on the page. It is only a file if the page has a coloured table.
    """

    make: Callable[[Analysis], Made | None]
    on_page: bool = field(default=True, kw_only=True)


def _unchanged(found: object) -> object:
    return found


def _no_notes(_: object) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Part(Generic[T]):
    """A result that a section computes.

    Attributes:
        kind: its type, by which `Analysis.of` returns it. No other part has this type.
        make: computes it from the results so far; None if the run has no data for it.
        key: its key in `report.json`; None if it has none.
        schema: JSON Schema of this key.
        content: returns what the key holds.
        option: key of `qc.options.SECTIONS`; it is not computed if this was not requested. None for always.
        of_chats: whether it exists only if workers chatted.
        notes: sentences that follow from it, to know before quoting a number.
        notes_place: their place: before those on the sample, after them, or on the page alone.
    """

    kind: type[T]
    make: Callable[[Analysis], T | None]
    key: str | None = None
    schema: Json = field(default_factory=dict)
    content: Callable[[T], object] = _unchanged
    option: str | None = None
    of_chats: bool = False
    notes: Callable[[T], tuple[str, ...]] = _no_notes
    notes_place: Literal["first", "last", "page"] = "last"

    def file(
        self, name: str, holds: str, make: Callable[[T], Made | None], *, on_page: bool = True
    ) -> MadeFile[Made]:
        """Return the file that `make` creates from this result."""

        def made(analysis: Analysis) -> Made | None:
            found = analysis.of(self.kind)
            return None if found is None else make(found)

        return MadeFile(name, holds, made, option=self.option, on_page=on_page)

    def notes_of(self, analysis: Analysis) -> tuple[str, ...]:
        """Return the notes that follow from this result in `analysis`."""
        found = analysis.of(self.kind)
        return () if found is None else self.notes(found)

    def content_of(self, analysis: Analysis) -> object:
        """Return what `report.json` holds of this result; None if there is none."""
        found = analysis.of(self.kind)
        return None if found is None else self.content(found)


@dataclass(frozen=True)
class TitledTable:
    """A table for a terminal; with `instead`, it is printed if all workers are listed, else this sentence."""

    title: str
    table: Table
    instead: str | None = None


def _nothing(_: Analysis) -> Json:
    return {}


def _silence(_: Analysis) -> Iterable[TitledTable | str]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Section:
    """A section of the report.

    Attributes:
        id: the anchor of its chapter.
        title: heading of its chapter.
        parts: the results that it computes, in this order.
        tables: its tables with a file.
        figures: its figures.
        document: more keys of `report.json`, which are there in every report.
        schema: JSON Schema of these keys.
        summary: the lines and tables that the terminal prints.
        page: the Jinja template of its chapter, below the heading; "" if it has none. It knows `a`, the
            analysis, and `found`, the result of the first part.
        is_shown: whether the page has the chapter; by default if one of its parts has a result.
        words: more values for the template.
        unfiled: the tables of the chapter that have no file.
    """

    id: str
    title: str = ""
    parts: tuple[Part[Any], ...] = ()
    tables: tuple[MadeFile[Table], ...] = ()
    figures: tuple[MadeFile[Drawing], ...] = ()
    document: Callable[[Analysis], Json] = _nothing
    schema: Json = field(default_factory=dict)
    summary: Callable[[Analysis], Iterable[TitledTable | str]] = _silence
    page: str = ""
    is_shown: Callable[[Analysis], object] | None = None
    words: Callable[[Analysis], Mapping[str, object]] = _nothing
    unfiled: Callable[[Analysis], Mapping[str, Table]] = _nothing

    def has_chapter(self, analysis: Analysis) -> bool:
        """Return whether the page has a chapter on this section."""
        if not self.page:
            return False
        if self.is_shown is not None:
            return bool(self.is_shown(analysis))
        return any(analysis.of(part.kind) is not None for part in self.parts)


def always(_: Analysis) -> bool:
    """Show the chapter in every report."""
    return True


def fields_of(result: Any) -> Json:
    """Return the fields of a result by name, unchanged."""
    return {field.name: getattr(result, field.name) for field in fields(result)}
