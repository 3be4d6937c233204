"""Draw rows of points with intervals on one axis, for figures that compare things line by line."""

from collections.abc import Container, Sequence

import numpy as np
from numpy.typing import NDArray

from qc.drawing.panel import Panel, Scale, round_ticks, tick_labels
from qc.drawing.sheet import Sheet
from qc.drawing.style import GAP, INK, LONGEST_LABEL, MUTED, RULE, fitting, shortened, text_width

ROW = 30.0
HEAD, FOOT, LEGEND = 30.0, 56.0, 26.0
MARGIN = 14.0
# Units of an axis per tick.
TICK_ROOM = 50.0


def rows(
    width: float,
    labels: Sequence[str],
    axis: str,
    extent: NDArray[np.float64],
    right: Sequence[str] = (),
    heading: str = "",
    strong: Container[int] = (),
    legend: Sequence[tuple[str, str, str]] = (),
    *,
    striped: bool = True,
) -> Panel:
    """Return a panel on a new sheet with one row for each label, the first on top, row i at height i.

    Args:
        width: width of the sheet.
        labels: labels of the rows; an empty one leaves a gap.
        axis: title of the axis.
        extent: all values that the axis must include; those that are not finite are ignored.
        right: texts at the right of the rows.
        heading: heading above `right`.
        strong: rows with bold labels.
        legend: sign, colour and meaning of each kind of marker, if there are several.
        striped: shade every other row, so that a label and its point are easy to match.
    """
    longest = LONGEST_LABEL * width
    shown = [shortened(label, longest) for label in labels]
    widest = max(text_width(label, bold=i in strong) for i, label in enumerate(shown))
    left = min(longest * 1.1, widest) + GAP + MARGIN / 2
    reserved = max((text_width(text) for text in (*right, heading)), default=0.0) + (
        GAP + MARGIN if right else MARGIN
    )
    page = Sheet(width, HEAD + ROW * len(labels) + FOOT + (LEGEND if legend else 0))
    low, high = limits(extent)
    panel = Panel(
        page,
        left,
        HEAD,
        width - left - reserved,
        ROW * len(labels),
        Scale(low, high),
        Scale(len(labels) - 0.5, -0.5),
    )
    if striped:
        _stripes(panel, len(labels))
    ticks = round_ticks(low, high, max(2, min(6, int(panel.width / TICK_ROOM))))
    panel.x_axis(ticks, tick_labels(ticks), grid=True)
    page.text((panel.right, panel.bottom + FOOT - 14), axis, size=fitting(axis, panel.right), anchor="end")
    page.keys((MARGIN, page.height - 12), legend)
    panel.vertical(0, width=1.2)
    for i, label in enumerate(shown):
        if label:
            page.beside((left - GAP, panel.at(low, i)[1]), label, anchor="end", bold=i in strong)
    for i, text in enumerate(right):
        aside(panel, i, text)
    if right:
        aside(panel, -0.5 - HEAD / 2 / ROW, heading, MUTED)
    return panel


def aside(panel: Panel, row: float, text: str, colour: str = INK) -> None:
    """Write `text` at the right of a row."""
    panel.page.beside((panel.right + GAP, panel.at(panel.x.last, row)[1]), text, colour)


def limits(extent: NDArray[np.float64]) -> tuple[float, float]:
    """Return the ends of an axis that includes 0 and every finite value, with room at both ends."""
    finite = np.append(extent[np.isfinite(extent)], 0.0)
    low, high = float(finite.min()), float(finite.max())
    room = (high - low) * 0.06 or 1.0
    return low - room, high + room


def _stripes(panel: Panel, count: int) -> None:
    for i in range(1, count, 2):
        top = panel.at(panel.x.first, i - 0.5)
        panel.page.rectangle(top, (panel.width, ROW), RULE, opacity=0.3)


def point(
    panel: Panel,
    x: float,
    y: float,
    colour: str,
    marker: str = "o",
    *,
    filled: bool = True,
    size: float = 9.0,
) -> None:
    """Draw one marker, if its position is finite."""
    if np.isfinite(x):
        panel.page.marker(panel.at(x, y), marker, colour, size, filled=filled)


def interval(panel: Panel, low: float, high: float, y: float, colour: str) -> None:
    """Draw an interval as a line, if its ends are finite."""
    if np.isfinite(low) and np.isfinite(high):
        panel.page.line([panel.at(low, y), panel.at(high, y)], colour, 2.5, rounded=True)
