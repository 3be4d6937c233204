"""Write the findings of a command as one self-contained page."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from markupsafe import Markup

from qc.render.findings.findings import Findings
from qc.render.page import POLICY, SHOWN_ROWS, style, template
from qc.run import source_name
from qc.terminal import visible

if TYPE_CHECKING:
    from qc.render.figures.figure import Figure


def findings_page(found: Findings, figures: "Mapping[str, Figure]") -> str:
    """Return the page. It holds no script and asks for nothing; every text of the data is escaped."""
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
