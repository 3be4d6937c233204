"""Figures of estimates: widths against n, and how intervals narrow while data come in."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qc.drawing.figure import Drawing
from qc.drawing.panel import Panel, Scale, round_ticks, tick_labels
from qc.drawing.sheet import Sheet
from qc.drawing.style import BLUE, GREEN, MARGIN, MUTED, VERMILION, shortened
from qc.number_format import decimal, whole
from qc.precision.estimates import EstimatesOfPart

LEFT, HEAD, FOOT, RIGHT, HEIGHT = 62.0, 40.0, 58.0, 24.0, 300.0
LINE = 22.0
LONGEST_NAME = 160.0
TICK_ROOM = 80.0
FIRST, MOST_POINTS = 19, 500

Array = NDArray[np.float64]


class CurveLine(NamedTuple):
    """A line: its sign in the legend, colour, SVG dash pattern, meaning, and values."""

    sign: str
    colour: str
    dash: str
    text: str
    values: Array


def widths(part: EstimatesOfPart) -> Drawing:
    """Draw the width of the interval against n, without and with the strongest metric.

    `part` must have a curve.
    """
    curve = part.curve
    assert curve is not None  # noqa: S101
    metric = part.metrics[0].metric
    lines = [
        CurveLine("■", MUTED, "", "mean of the judgments", curve.mean),
        CurveLine(
            "●", BLUE, "", f"with {shortened(metric, LONGEST_NAME)} as control variate", curve.control_variate
        ),
    ]
    n = np.asarray(curve.n, np.float64)

    def draw(width: float) -> Sheet:
        panel = _frame(width, lines, n, "judgments", "width of the 95 % interval")
        for each, shape in zip(lines, ("s", "o"), strict=True):
            panel.line(n, each.values, each.colour)
            panel.points(n, each.values, each.colour, shape)
        return panel.page

    title = f"Width against judgments: {part.criterion}, {part.system}"
    alt = (
        f"At {whole(curve.n[-1])} judgments the interval is {decimal(curve.mean[-1], 3)} wide, and "
        f"{decimal(curve.control_variate[-1], 3)} with {metric}; data efficiency by resampling "
        f"{decimal(curve.de, 2)}, with an endless pool and as if judgments were independent."
    )
    return Drawing(title, alt, draw)


def narrowing(part: EstimatesOfPart) -> Drawing:
    """Draw how intervals narrow while data come in.

    `part` must have looks.
    """
    looks = part.looks
    assert looks is not None  # noqa: S101
    n = np.arange(1, looks.n + 1, dtype=np.float64)
    lines = [
        CurveLine("┄", MUTED, "6 4", "fixed n: not to be looked at again and again", looks.fixed.half_width),
        CurveLine("━", BLUE, "", "at any n", looks.plain.half_width),
    ]
    if looks.varied is not None:
        text = f"at any n, with {shortened(looks.metric, LONGEST_NAME)}"
        lines.append(CurveLine("┉", GREEN, "3 3", text, looks.varied.half_width))
    if looks.exact is not None:
        lines.append(CurveLine("━", VERMILION, "", "at any n, exact", looks.exact.half_width))
    # Leave out the first intervals, which are too wide for the scale, and limit the number of points.
    shown = np.unique(np.linspace(min(FIRST, looks.n - 1), looks.n - 1, MOST_POINTS).astype(np.intp))
    lines = [each._replace(values=each.values[shown]) for each in lines]

    def draw(width: float) -> Sheet:
        panel = _frame(width, lines, n[shown], looks.unit, "half-width at 95 %")
        for each in lines:
            panel.line(n[shown], each.values, each.colour, 2.0, each.dash)
        return panel.page

    title = f"While data come in: {part.criterion}, {part.system}"
    alt = (
        f"After {whole(looks.n)} {looks.unit} the interval that may be looked at any time reaches "
        f"{decimal(looks.plain.half_width[-1], 3)} to each side; the one for a fixed n "
        f"{decimal(looks.fixed.half_width[-1], 3)}."
    )
    return Drawing(title, alt, draw)


def _frame(width: float, lines: Sequence[CurveLine], n: Array, across: str, up: str) -> Panel:
    """Return a panel on a new sheet, with a scale from 0 for all lines, axes, and a legend above."""
    head = HEAD + LINE * len(lines)
    page = Sheet(width, head + HEIGHT + FOOT)
    highest = max(float(np.nanmax(each.values, initial=0.0)) for each in lines)
    ends = Scale(float(n[0]) if len(n) > 1 else 0.0, float(n[-1])), Scale(0.0, highest * 1.08 or 1.0)
    panel = Panel(page, LEFT, head, width - LEFT - RIGHT, HEIGHT, *ends)
    heights = round_ticks(0.0, panel.y.last, 5)
    panel.y_axis(heights, tick_labels(heights), up)
    ticks = round_ticks(panel.x.first, panel.x.last, max(2, int(panel.width / TICK_ROOM)), whole=True)
    panel.x_axis(ticks, [whole(tick) for tick in ticks], across)
    for i, each in enumerate(lines):
        page.key((MARGIN, 24 + LINE * i), each.sign, each.colour, each.text)
    return panel
