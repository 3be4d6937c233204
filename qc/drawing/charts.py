"""Charts: rows of points with intervals, distributions, heat maps and rootograms.

The square-root scale (Tukey, Exploratory Data Analysis, 1977) keeps bins with few workers visible.
"""

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from qc.drawing.panel import Panel, Scale, round_ticks, tick_labels
from qc.drawing.sheet import Sheet
from qc.drawing.style import (
    FAILED,
    GAP,
    INK,
    LONGEST_LABEL,
    MARGIN,
    MUTED,
    PAPER,
    PASSED,
    QUIET,
    RULE,
    SMALL,
    colour_on,
    fitting,
    shortened,
    text_width,
)
from qc.table import whole

ROW = 30.0
HEAD, FOOT, LEGEND = 30.0, 56.0, 26.0
ROW_EDGE = 14.0
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
    left = min(longest * 1.1, widest) + GAP + ROW_EDGE / 2
    reserved = max((text_width(text) for text in (*right, heading)), default=0.0) + (
        GAP + ROW_EDGE if right else ROW_EDGE
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
    page.keys((ROW_EDGE, page.height - 12), legend)
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


DASHES = "9 4"
# Bins for correlations, from -1 to 1.
BINS = np.linspace(-1, 1, 21)
TICKS = (-1.0, -0.5, 0.0, 0.5, 1.0)
DENSITY_HEIGHT, DENSITY_HEAD, DENSITY_FOOT, DENSITY_LEFT, DENSITY_RIGHT = 336.0, 88.0, 56.0, 50.0, 16.0


def correlations(
    passed: NDArray[np.float64], failed: NDArray[np.float64], axis: str, words: tuple[str, str]
) -> Callable[[float], Sheet]:
    """Return a function that draws the distributions of correlations of those who passed and who failed.

    Args:
        passed, failed: correlations of each group; rounding may have put them a little beyond -1 and 1.
        axis: title of the axis.
        words: description of each group in the key.
    """
    groups = np.clip(passed, -1, 1), np.clip(failed, -1, 1)

    def draw(width: float) -> Sheet:
        page = Sheet(width, DENSITY_HEIGHT)
        size = (width - DENSITY_LEFT - DENSITY_RIGHT, DENSITY_HEIGHT - DENSITY_HEAD - DENSITY_FOOT)
        panel = Panel(page, DENSITY_LEFT, DENSITY_HEAD, *size, Scale(-1.0, 1.0), density_scale(groups, BINS))
        share_axis(panel)
        panel.x_axis(TICKS, tick_labels(TICKS), axis)
        panel.vertical(0)
        for values, group in zip(groups, (True, False), strict=True):
            density(panel, values, BINS, passed=group)
        density_key(page, MARGIN, 20, *words)
        return page

    return draw


def densities(values: NDArray[np.float64], bins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the density of `values` in each of `bins`, (bins,), relative to all; 0 if there are none."""
    return np.asarray(np.histogram(values, bins)[0] / max(len(values), 1) / np.diff(bins))


def density_scale(groups: tuple[NDArray[np.float64], ...], bins: NDArray[np.float64]) -> Scale:
    """Return a scale from 0 that holds the densities of all groups."""
    highest = max(float(densities(values, bins).max(initial=0)) for values in groups)
    return Scale(0.0, highest * 1.05 or 1.0)


def share_axis(panel: Panel) -> None:
    """Draw the axis of densities: share of a group in each bin, divided by the width of the bin."""
    ticks = round_ticks(panel.y.first, panel.y.last, 4)
    panel.y_axis(ticks, tick_labels(ticks), "density")


def density(panel: Panel, values: NDArray[np.float64], bins: NDArray[np.float64], *, passed: bool) -> None:
    """Draw the distribution of `values` over `bins`, and their median; nothing if there are none.

    The group that passed is a filled area, the group that failed a dashed outline. Values outside the bins
    count in the median but not in the drawn area.
    """
    if len(values) == 0:
        return
    colour, dash = (PASSED, "") if passed else (FAILED, DASHES)
    upper, lower = panel.steps(densities(values, bins), bins)
    if passed:
        panel.page.polygon([*upper, *reversed(lower)], colour, opacity=0.35)
    panel.page.line([lower[0], *upper, lower[-1]], colour, 2.2, dash)
    median = float(np.median(values))
    panel.vertical(median, colour, 2.2, dash)
    if 0 <= panel.x.share(median) <= 1:
        top = panel.at(median, panel.y.last)
        panel.page.marker(top, "v", colour, filled=passed)


def density_key(page: Sheet, left: float, top: float, passed: str, failed: str) -> None:
    """Write the key of the two areas, on two lines."""
    page.key((left, top), "■", PASSED, passed)
    page.key((left, top + 22), "□", FAILED, failed)


HEAT_EDGE = 4.0
TALLEST_CELL, LOWEST_CELL = 46.0, 17.0
SMALLEST_PRINT, SMALLEST_LABEL = 12.5, 12.5
SHORT_LABEL = 24.0
# Share of the width.
LONGEST_ROW_LABEL = 0.3
LONGEST_COLUMN_LABEL = 110.0
NONE = "none"


@dataclass(frozen=True)
class Cells:
    """Colours and texts of the cells, row by row; QUIET or NONE colours cells without information."""

    colours: Sequence[Sequence[str]]
    texts: Sequence[Sequence[str]]


def heat_map(
    width: float, row_labels: Sequence[str], column_labels: Sequence[str], cells: Cells, foot: float
) -> Panel:
    """Return a panel on a new sheet with the cells, and `foot` units below them.

    Cell (i, j) is the unit square around x = j, y = i. Column labels are horizontal if they fit, else
    slanted. Numbers that would be too small to read are left out.
    """
    names = [shortened(label, LONGEST_ROW_LABEL * width) for label in row_labels]
    heads = [shortened(label, LONGEST_COLUMN_LABEL) for label in column_labels]
    widest = max(text_width(head) for head in heads)
    left = max(text_width(name) for name in names) + GAP + HEAT_EDGE
    fitting = SMALL * (width - left - HEAT_EDGE) / len(heads) / (widest + GAP / 2)
    level = fitting >= SMALLEST_LABEL or widest <= SHORT_LABEL
    # A slanted label of the last column extends beyond the column.
    right = HEAT_EDGE if level else max(HEAT_EDGE, widest * 0.5 - 10)
    top = SMALL + GAP if level else widest * 0.87 + SMALL + GAP
    cell = (width - left - right) / len(heads)
    row = min(max(cell, LOWEST_CELL), TALLEST_CELL)
    page = Sheet(width, top + row * len(names) + foot)
    scales = Scale(-0.5, len(heads) - 0.5), Scale(len(names) - 0.5, -0.5)
    panel = Panel(page, left, top, width - left - right, row * len(names), *scales)
    for i, name in enumerate(names):
        page.beside((left - GAP + 2, panel.at(0, i)[1]), name, size=min(SMALL, row * 0.8), anchor="end")
    for j, head in enumerate(heads):
        x = panel.at(j, 0)[0]
        if level:
            page.text((x, top - 6), head, size=min(SMALL, fitting), anchor="middle")
        else:
            page.text((x + 4, top - 6), head, turned=60)
    _paint(panel, cells.colours, cell, row)
    _print(panel, cells, cell, row)
    return panel


def _paint(panel: Panel, colours: Sequence[Sequence[str]], width: float, height: float) -> None:
    for i, line in enumerate(colours):
        for j, colour in enumerate(line):
            if colour != NONE:
                corner = panel.at(j - 0.5, i - 0.5)
                panel.page.rectangle(corner, (width, height), colour, edge=PAPER)


def _print(panel: Panel, cells: Cells, width: float, height: float) -> None:
    widest = max((text_width(text, 1.0) for line in cells.texts for text in line), default=0.0)
    size = min(SMALL, height * 0.6, (width - 3) / widest if widest else SMALL)
    if size < SMALLEST_PRINT:
        return
    for i, (line, colours) in enumerate(zip(cells.texts, cells.colours, strict=True)):
        for j, (text, colour) in enumerate(zip(line, colours, strict=True)):
            if text:
                ink = MUTED if colour in (QUIET, NONE) else colour_on(colour)
                panel.page.beside(panel.at(j, i), text, ink, size, "middle")


HEADING, KEY_LINE, BARS, BAR_FOOT = 36.0, 20.0, 198.0, 56.0

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Rootogram:
    """Numbers of workers who `passed` and who `failed` in the bins between `edges`, all from 0 to 1."""

    edges: Array
    passed: Array
    failed: Array

    def panel(self, page: Sheet) -> Panel:
        """Return a panel with the bars and the vertical axis, at the bottom of the sheet, full width."""
        highest = max(1, int((self.passed + self.failed).max()))
        ticks = _ticks(highest)
        left = MARGIN + GAP + max(text_width(whole(tick)) for tick in ticks)
        size = (page.width - left - MARGIN - GAP, BARS)
        panel = Panel(
            page,
            left,
            page.height - BAR_FOOT - BARS,
            *size,
            Scale(0.0, 1.0),
            Scale(0.0, highest * 1.12, _root),
        )
        panel.y_axis(ticks, [whole(tick) for tick in ticks], "workers (√ scale)")
        # The outline of those who passed is drawn last, on top where nobody failed.
        self._bars(panel, self.passed + self.failed, self.passed, FAILED, 0.4)
        self._bars(panel, self.passed, np.zeros(len(self.passed)), PASSED, 1.0)
        return panel

    def _bars(self, panel: Panel, heights: Array, base: Array, colour: str, opacity: float) -> None:
        upper, lower = panel.steps(heights, self.edges, base)
        panel.page.polygon([*upper, *reversed(lower)], colour, opacity=opacity, edge=colour, width=1)


def height(key_lines: int) -> float:
    """Return the height of a sheet with `key_lines` lines of key above the bars."""
    return key_lines * KEY_LINE + HEADING + BARS + BAR_FOOT


def rootogram(values: Array, passed: NDArray[np.bool_], edges: Array) -> Rootogram:
    """Count `values` in each bin, for those who passed and who failed, without values that are not finite."""
    known = np.isfinite(values)
    counts = (np.histogram(values[group & known], edges)[0] for group in (passed, ~passed))
    return Rootogram(edges, *(count.astype(np.float64) for count in counts))


def _root(count: float) -> float:
    return sqrt(max(count, 0.0))


def _ticks(highest: int) -> list[float]:
    """Return round numbers from 0 to about `highest`, about evenly spaced on a square-root scale."""
    steps = [highest * (i / 4) ** 2 for i in range(1, 5)]
    return [0.0, *sorted({max(1.0, float(f"{step:.1g}")) for step in steps})]
