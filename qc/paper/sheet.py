"""Draw figures for a paper: vector PDF, labels that cover nothing, text in the size of captions.

Widths are those of the style of ACL conferences: 77 mm for one column, 160 mm for both. The same numbers give
the same bytes with the same version of matplotlib.
"""

import io
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Sheet
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path
from matplotlib.typing import RcKeyType
from numpy.typing import NDArray

from qc.drawing.panel import Spot, free_spots
from qc.drawing.style import INK, MUTED, PAPER, RULE
from qc.sections.systems.ranking import Look

FONT = "DejaVu Sans"
# Distances in lines of text: from a point to its label, the height of a label, and half the size of a point.
REACH, LINE, HALF_POINT = 0.55, 1.2, 0.4
NARROWEST = 0.275  # advance of an apostrophe, over the size; no letter of FONT has less
# Possible positions of a label of a point below the diagonal, best first: side of the point (1 is right, 0
# the middle), and lines up. Above the diagonal they are mirrored.
SPOTS = ((1, 0.0), (1, -0.9), (0, -1.2), (1, 0.9), (-1, -0.9), (-1, 0.0), (0, 1.2), (-1, 0.9))
ALIGNMENT = {1: "left", 0: "center", -1: "right"}


@lru_cache(maxsize=4096)
def text_width(text: str, size: float) -> float:
    """Return the width of a line, in points."""
    font = FontProperties(family=FONT, size=size)
    return float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0])


def fitting(text: str, width: float, size: float) -> str:
    """Return `text` on one line, with an ellipsis in the middle if it is wider than `width` points.

    Half a surrogate pair, which is in no font, becomes `?`.
    """
    text = " ".join(text.encode("utf-8", errors="replace").decode().split())
    if text_width(text, size) <= width:
        return text
    # Start from the largest number of letters that can fit, so that names of any length are fast.
    kept = min(len(text) - 1, int(width / (NARROWEST * size)) + 1)
    while True:
        short = f"{text[: (kept + 1) // 2].rstrip()}…{text[len(text) - kept // 2 :].lstrip()}"
        if kept <= 2 or text_width(short, size) <= width:
            return short
        kept -= 1


def parts_within(parts: Sequence[str], width: float, size: float) -> str:
    """Return the parts on one line, or on a line each if one line is wider than `width` points."""
    text = "; ".join(parts)
    return text if text_width(text, size) <= width else ";\n".join(parts)


def label_points(
    axes: Axes, x: NDArray[np.float64], y: NDArray[np.float64], labels: Sequence[str], size: float
) -> None:
    """Label points in the given order; a label without a free spot is left out."""
    scale = axes.figure.dpi / 72
    points = axes.transData.transform(np.column_stack([x, y])) / scale
    frame = axes.get_window_extent()
    places = free_spots(
        [(px, py) for px, py in points.tolist()],
        [text_width(label, size) for label in labels],
        (y > x).tolist(),
        [Spot(side, side * size * REACH, up * size) for side, up in SPOTS],
        height=size * LINE,
        half=HALF_POINT * size,
        frame=(frame.x0 / scale, frame.y0 / scale, frame.x1 / scale, frame.y1 / scale),
    )
    for place, label in zip(places, labels, strict=True):
        if place is not None:
            _write(axes, (place.x, place.y), label, ALIGNMENT[place.side], size)


def _write(axes: Axes, at: tuple[float, float], label: str, alignment: str, size: float) -> None:
    axes.annotate(label, at, xycoords="figure points", ha=alignment, va="center_baseline", size=size)


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
