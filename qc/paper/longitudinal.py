"""The figure of a paper that shows the scores of systems from run to run. Lengths are in inches."""

import numpy as np
from matplotlib.figure import Figure as Sheet

from qc.paper.labels import fitting, text_width
from qc.paper.sheet import POINTS, ROW, TEXT, name_within, point
from qc.render.figures.labels import spread
from qc.render.figures.rows import limits
from qc.render.figures.several_runs import asides, look
from qc.render.figures.style import MUTED
from qc.several_runs import SeveralRuns

LEFT, HEAD, UNDER, FEWEST_ROWS = 0.48, 0.06, 0.2, 8
# Between the names of two runs; from the last run's edge to a system's name.
GAP, LEADER = 0.04, 0.16
BEFORE, AFTER = -0.35, 0.25  # of the way between two runs, left of the first and right of the last


def longitudinal(found: SeveralRuns, width: float) -> Sheet | None:
    """Draw the overall z of every system in every run, with its interval; None if no system has a score."""
    if not np.isfinite(found.z).any():
        return None
    count, runs = found.z.shape
    rows = max(count, FEWEST_ROWS)
    height = ROW * rows + UNDER + HEAD
    sheet = Sheet(figsize=(width, height))
    names = [name_within(name, width) for name in found.systems]
    reserved = max(text_width(name, TEXT - 1) for name in names) / POINTS + LEADER + GAP
    inner = width - LEFT - reserved
    axes = sheet.add_axes((LEFT / width, UNDER / height, inner / width, ROW * rows / height))
    low, high = limits(np.concatenate([found.z, found.low, found.high]).ravel())
    axes.set(xlim=(BEFORE, runs - 1 + AFTER), ylim=(low, high), ylabel="overall z")
    room = (inner / runs - GAP) * POINTS
    axes.set_xticks(range(runs), [fitting(name, room, TEXT - 1) for name in found.names])
    axes.grid(axis="y")
    axes.axhline(0, color=MUTED, linewidth=0.6, zorder=1)
    moved = asides(count)
    for number in range(count):
        across, (colour, marker) = np.arange(runs) + moved[number], look(number)
        axes.plot(across, found.z[number], color=colour, zorder=2)
        axes.vlines(across, found.low[number], found.high[number], color=colour, linewidth=0.8, zorder=2)
        for x, z in zip(across.tolist(), found.z[number].tolist(), strict=True):
            point(axes, x, z, (colour, marker, True))
    known = np.flatnonzero(np.isfinite(found.z).any(axis=1))
    last = runs - 1 - np.argmax(np.isfinite(found.z[known])[:, ::-1], axis=1)
    heights = spread(found.z[known, last], (high - low) / rows)
    away = LEADER * (runs - 1 + AFTER - BEFORE) / inner
    for number, run, label in zip(known.tolist(), last.tolist(), heights.tolist(), strict=True):
        edge = runs - 1 + AFTER + away
        way = [run + moved[number], edge], [found.z[number, run], label]
        axes.plot(*way, color=look(number)[0], linewidth=0.5, linestyle=":", clip_on=False, zorder=1)
        axes.text(edge, label, names[number], va="center_baseline", size=TEXT - 1)
    return sheet
