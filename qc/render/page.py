"""`report.html`: the whole report as one self-contained page."""

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from candor.common.terminal import visible
from qc.analysis import Analysis
from qc.number_format import decimal, percent, whole
from qc.render.sentences import same_conclusions, verdict, writing_conclusion
from qc.render.table import SIGNIFICANT, SUGGESTIVE
from qc.render.tables import Tables
from qc.render.tables.kept import decisions, points
from qc.render.tables.ranking import ranking
from qc.run import source_name

if TYPE_CHECKING:
    from qc.render.figures import Figure

SHOWN_ROWS = 200
# Content security policy: the browser enforces that the page runs no script and makes no request.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def page(analysis: Analysis, tables: Tables, figures: "Mapping[str, Figure]") -> str:
    """Return the page. It has no script and makes no request; all text from the data is escaped."""
    scored = int(analysis.scores.z["overall"].notna().sum())
    content = template("page.html.jinja").render(
        analysis=analysis,
        source=source_name(analysis.run.source),
        verdict=verdict(analysis),
        writing_conclusion=writing_conclusion,
        notes=all_notes(analysis),
        pairs=scored * (scored - 1) // 2,
        same_conclusions=same_conclusions,
        significant=SIGNIFICANT,
        suggestive=SUGGESTIVE,
        tables={"ranking": ranking(analysis), **_registered(analysis), **tables},
        figures={name: Markup(figure.themed) for name, figure in figures.items()},  # noqa: S704
        files=tables,
        shown_rows=SHOWN_ROWS,
        style=style(),
        policy=POLICY,
    )
    return visible(content)


def all_notes(analysis: Analysis) -> tuple[str, ...]:
    """Return the notes of the run and of each part of the analysis, to read before quoting a number."""
    parts = (analysis.replication, analysis.forecast, analysis.adjusted)
    return (*analysis.notes, *(note for part in parts if part is not None for note in part.notes))


def _registered(analysis: Analysis) -> Tables:
    """Return the tables of the preregistration, if one was given."""
    found = analysis.preregistration
    return {} if found is None else {"registered": points(found), "hypotheses": decisions(found)}


def tight(text: str) -> str:
    """Return `text` with non-breaking spaces between numbers and their names or units."""
    return re.sub(r" (?=[=<%])|(?<=[=<]) ", "\N{NO-BREAK SPACE}", text)


@cache
def template(name: str) -> Template:
    """Return a template of this package; all inserted text is escaped."""
    environment = Environment(
        loader=PackageLoader("qc.render", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(decimal=decimal, percent=percent, tight=tight, whole=whole)
    return environment.get_template(name)


def style() -> Markup:
    """Return the style sheet of all pages."""
    return Markup(resources.files("qc.render").joinpath("page.css").read_text(encoding="utf-8"))  # noqa: S704
