"""Figure: scores of two runs against each other."""

import numpy as np

from qc.method.replication import Replication
from qc.number_format import decimal
from qc.render.drawing.figure import Drawing
from qc.render.drawing.labels import label_points
from qc.render.drawing.panel import Panel, Scale, round_ticks, tick_labels
from qc.render.drawing.rows import limits, point
from qc.render.drawing.sheet import Sheet
from qc.render.drawing.style import MUTED, TEXT, shortened
from qc.render.figures.ranking import Looks
from qc.render.sentences import same_conclusions

LEFT, HEAD, FOOT, RIGHT = 52.0, 34.0, 58.0, 12.0
# Width of the longest names, as a share of the figure's width, and in units.
NAME, LONGEST_NAME = 0.27, 150.0
# Share of the axis for labels left of the lowest points.
SIDE_ROOM = 0.1


def replication(result: Replication, looks: Looks) -> Drawing | None:
    """Draw the overall z of every system in the second run against that in the first; None if there is none.

    Args:
        result: the scores of both runs.
        looks: colour, marker and filling of each system.
    """
    points = result.points.dropna(subset=["first", "second"])
    first, second = points["first"].to_numpy(np.float64), points["second"].to_numpy(np.float64)
    if len(points) == 0:
        return None
    low, high = limits(np.concatenate([first, second]))
    ends = np.array([low - (high - low) * SIDE_ROOM, high])
    r = result.z.pearson["overall"]

    def draw(width: float) -> Sheet:
        side = width - LEFT - RIGHT
        page = Sheet(width, HEAD + side * 0.8 + FOOT)
        scale = Scale(*ends.tolist())
        panel = Panel(page, LEFT, HEAD, side, side * 0.8, scale, scale)
        ticks = round_ticks(scale.first, scale.last, 5)
        panel.y_axis(ticks, tick_labels(ticks), f"overall z, {_name(result)}")
        panel.x_axis(ticks, tick_labels(ticks), "overall z, first run")
        panel.horizontal(0)
        panel.vertical(0)
        panel.line(ends, ends, MUTED, 1.5, "7 4")
        for name, x, y in zip(points["system"], first, second, strict=True):
            colour, marker, filled = looks[name]
            point(panel, x, y, colour, marker, filled=filled)
        label_points(panel, first, second, [shortened(name, width * NAME) for name in points["system"]])
        if np.isfinite(r):
            page.text((LEFT + 8, HEAD + 20), f"r = {decimal(r)}", size=TEXT, bold=True)
        return page

    title = f"Two runs: r = {decimal(r, 3)}" if np.isfinite(r) else "Two runs"
    return Drawing(title, _alt(result, len(points), r), draw)


def _name(result: Replication) -> str:
    return f"second run ({shortened(result.name, LONGEST_NAME)})"


def _alt(result: Replication, count: int, r: float) -> str:
    same = result.same_conclusions
    return (
        f"Scatter plot of overall z of {count} systems in two runs, r = {decimal(r)}; at "
        f"p < {same.alpha:g}, {same_conclusions(same)}."
    )
