"""Draw figures for a paper: vector PDF, text in the size of captions, one or two columns wide.

Widths are those of the style of ACL conferences: 77 mm for one column, 160 mm for both. The same numbers give
the same bytes with the same version of matplotlib.
"""

import io
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Sheet
from matplotlib.typing import RcKeyType

from qc.drawing.style import INK, MUTED, PAPER, RULE
from qc.paper.labels import FONT, fitting
from qc.sections.systems.ranking import Look

MILLIMETRES = 25.4
WIDTHS = {"one-column": 77 / MILLIMETRES, "two-columns": 160 / MILLIMETRES}
TEXT = 8.0
POINTS = 72.0
ROW = 0.18
FOOT = 0.42
# Share of the sheet's width for names.
NAMES = 0.36

_SETTINGS: dict[RcKeyType, Any] = {
    "font.family": FONT,
    "font.size": TEXT,
    "text.color": INK,
    "text.parse_math": False,
    "axes.axisbelow": True,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "xtick.color": RULE,
    "ytick.color": RULE,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "grid.color": RULE,
    "axes.labelsize": TEXT,
    "xtick.labelsize": TEXT - 1,
    "ytick.labelsize": TEXT - 1,
    "axes.linewidth": 0.6,
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.2,
    "xtick.major.pad": 2,
    "ytick.major.pad": 3,
    # Embed TrueType, because many venues refuse Type 3 fonts.
    "pdf.fonttype": 42,
}


@dataclass(frozen=True)
class PaperFigure:
    """A figure as PDF. `name` ends with the width, and has no file ending."""

    name: str
    pdf: bytes


Draw = Callable[[float], Sheet | None]


def drawn(drawers: Mapping[str, Draw], signature: str) -> Iterator[PaperFigure]:
    """Yield every figure with numbers, in each of WIDTHS.

    Args:
        drawers: figure name → function that takes a width in inches and returns None without numbers.
        signature: signature of the numbers, stored in every file.
    """
    for name, draw in drawers.items():
        for ending, width in WIDTHS.items():
            with mpl.rc_context(_SETTINGS), warnings.catch_warnings():
                # Characters that matplotlib's font lacks are drawn as an empty box.
                warnings.filterwarnings("ignore", message="Glyph .* missing from font")
                sheet = draw(width)
                if sheet is not None:
                    yield PaperFigure(f"{name}-{ending}", _pdf(sheet, signature))


def _pdf(sheet: Sheet, signature: str) -> bytes:
    buffer = io.BytesIO()
    told = {
        "Subject": signature,
        "CreationDate": None,
        "ModDate": None,
        "Producer": None,
        "Creator": "Candor",
    }
    sheet.savefig(buffer, format="pdf", metadata=told)
    return buffer.getvalue()


def point(axes: Axes, x: float, y: float, look: Look) -> None:
    """Draw a point with the colour and marker of its system."""
    colour, marker, filled = look
    axes.plot(
        [x],
        [y],
        linestyle="none",
        marker=marker,
        markersize=4,
        markerfacecolor=colour if filled else PAPER,
        markeredgecolor=colour,
        markeredgewidth=1,
        zorder=3,
    )


def name_within(text: str, width: float) -> str:
    """Shorten a name to fit into its share of a sheet of `width` inches."""
    return fitting(text, (NAMES * width - 0.08) * POINTS, TEXT - 1)
