"""Scores of two runs against each other."""

import numpy as np

from qc.method.replication import Replication
from qc.number_format import decimal
from qc.render.figures.figure import Drawing
from qc.render.figures.labels import label_points
from qc.render.figures.ranking import Looks
from qc.render.figures.rows import limits, point
from qc.render.figures.style import MUTED, WIDTH, panel, sheet, shortened
from qc.render.sentences import same_conclusions

LEFT, HEAD, FOOT, RIGHT = 66.0, 12.0, 58.0, 12.0
SIDE = WIDTH - LEFT - RIGHT
LONGEST_NAME = 150.0
# Of the axis, for labels left of the lowest points.
SIDE_ROOM = 0.1


def replication(result: Replication, looks: Looks) -> Drawing | None:
    """Draw the overall z of every system in the second run against that in the first; None if there is none.

    Args:
        result: the scores of both runs.
        looks: how each system is drawn.
    """
    points = result.points.dropna(subset=["first", "second"])
    first, second = points["first"].to_numpy(np.float64), points["second"].to_numpy(np.float64)
    if len(points) == 0:
        return None
    page = sheet(HEAD + SIDE * 0.8 + FOOT)
    axes = panel(page, LEFT, HEAD, SIDE, SIDE * 0.8)
    low, high = limits(np.concatenate([first, second]))
    ends = (low - (high - low) * SIDE_ROOM, high)
    axes.set(xlim=ends, ylim=ends, xlabel="overall z, first run", ylabel=f"overall z, {_name(result)}")
    axes.axhline(0, color=MUTED, linewidth=1)
    axes.axvline(0, color=MUTED, linewidth=1)
    axes.plot(ends, ends, color=MUTED, linewidth=1.5, linestyle=(0, (5, 3)))
    for name, x, y in zip(points["system"], first, second, strict=True):
        colour, marker, filled = looks[name]
        point(axes, x, y, colour, marker, filled=filled)
    label_points(axes, first, second, [shortened(name, LONGEST_NAME) for name in points["system"]])
    r = result.z.pearson["overall"]
    if np.isfinite(r):
        axes.text(0.02, 0.98, f"r = {decimal(r)}", transform=axes.transAxes, va="top", weight="bold")
    title = f"Two runs: r = {decimal(r, 3)}" if np.isfinite(r) else "Two runs"
    return Drawing(page, title, _alt(result, len(points), r))


def _name(result: Replication) -> str:
    return f"second run ({shortened(result.name, LONGEST_NAME)})"


def _alt(result: Replication, count: int, r: float) -> str:
    same = result.same_conclusions
    return (
        f"Scatter plot of overall z of {count} systems in two runs, r = {decimal(r)}; at "
        f"p < {same.alpha:g}, {same_conclusions(same)}."
    )
