"""`estimates.html`: all estimates as one page that needs nothing but itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from qc.precision.estimates import Estimates
from qc.render.estimates.sentences import findings
from qc.render.estimates.tables import estimate_tables
from qc.render.figures.figure import Figure
from qc.render.page import POLICY, SHOWN_ROWS


@dataclass(frozen=True)
class _Drawn:
    title: str
    alt: str
    drawing: Markup


def page(estimates: Estimates, figures: Sequence[Figure]) -> str:
    """Return the page. It holds no script and asks for nothing; every text of the data is escaped."""
    return _template().render(
        source=estimates.source,
        findings=findings(estimates),
        notes=estimates.notes,
        figures=[_Drawn(figure.title, figure.alt, Markup(figure.themed)) for figure in figures],  # noqa: S704
        tables=estimate_tables(estimates),
        shown_rows=SHOWN_ROWS,
        signature=estimates.signature,
        style=Markup(resources.files("qc.render").joinpath("page.css").read_text(encoding="utf-8")),  # noqa: S704
        policy=POLICY,
    )


@cache
def _template() -> Template:
    return Environment(
        loader=PackageLoader("qc.render.estimates", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    ).get_template("page.html.jinja")
