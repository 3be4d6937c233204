"""`report.html`: the whole report as one self-contained page."""

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from candor.common.terminal import visible
from qc.drawing.sheet import Figure
from qc.render.manifest import Tables
from qc.render.sentences import headlines, verdict
from qc.run import source_name
from qc.sections import CHAPTERS, SECTIONS
from qc.sections.analysis import Analysis
from qc.sections.section import Section
from qc.table import decimal, percent, whole

SHOWN_ROWS = 200
# Content security policy: the browser enforces that the page runs no script and makes no request.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:"
# The macros that the template of a chapter may use.
MACROS = '{% from "macros.jinja" import drawing, fact, remarks, table, tiers with context %}\n'


class _Chapter(NamedTuple):
    id: str
    title: str
    content: Markup | None


def page(analysis: Analysis, tables: Tables, figures: Mapping[str, Figure]) -> str:
    """Return the page. It has no script and makes no request; all text from the data is escaped."""
    unfiled = {name: each for section in SECTIONS for name, each in section.unfiled(analysis).items()}
    values = {
        "a": analysis,
        "chatted": analysis.chatted,
        "thing": "conversation" if analysis.chatted else "item",
        "tables": {**unfiled, **tables},
        "figures": {name: Markup(figure.themed) for name, figure in figures.items()},  # noqa: S704
        "files": tables,
        "shown_rows": SHOWN_ROWS,
    }
    content = template("page.html.jinja").render(
        values,
        source=source_name(analysis.run.source),
        verdict=verdict(analysis),
        headlines=headlines(analysis),
        notes=all_notes(analysis),
        chapters=[_chapter(each, analysis, values) for each in CHAPTERS],
        style=style(),
        policy=POLICY,
    )
    return visible(content)


def _chapter(section: Section, analysis: Analysis, values: Mapping[str, object]) -> _Chapter:
    """Return a chapter; its content is None if the page leaves it out."""
    if not section.has_chapter(analysis):
        return _Chapter(section.id, section.title, None)
    found = analysis.of(section.parts[0].kind) if section.parts else None
    content = _environment().from_string(f"{MACROS}{section.page}\n")  # Jinja drops the last line break
    rendered = content.render(values, found=found, **section.words(analysis))
    return _Chapter(section.id, section.title, Markup(rendered))  # noqa: S704  # the template escapes


def all_notes(analysis: Analysis) -> tuple[str, ...]:
    """Return the notes of the run and of each part of the analysis, to read before quoting a number."""
    parts = (part for section in SECTIONS for part in section.parts if part.notes_place == "page")
    return (*analysis.notes, *(note for part in parts for note in part.notes_of(analysis)))


def tight(text: str) -> str:
    """Return `text` with non-breaking spaces between numbers and their names or units."""
    return re.sub(r" (?=[=<%])|(?<=[=<]) ", "\N{NO-BREAK SPACE}", text)


def _percent(share: float, digits: int = 1) -> str:
    """Return a share in per cent, on one line with its sign."""
    return tight(percent(share, digits))


@cache
def template(name: str) -> Template:
    """Return a template of this package; all inserted text is escaped."""
    return _environment().get_template(name)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("qc.render", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(decimal=decimal, percent=_percent, tight=tight, whole=whole)
    return environment


def style() -> Markup:
    """Return the style sheet of all pages: the desk's fonts (50,000 bytes) and colours, and its own."""
    folder = resources.files("qc.render")
    names = ("fonts.css", "tokens.css", "page.css")
    sheets = (folder.joinpath(name).read_text(encoding="utf-8") for name in names)
    return Markup("\n".join(sheets))  # noqa: S704
