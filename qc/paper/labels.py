"""Label points, and measure and shorten text, in the font of a paper's figures."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path
from numpy.typing import NDArray

from qc.drawing.labels import Spot, free_spots

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
