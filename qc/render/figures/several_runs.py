"""Figure: scores of systems from run to run."""

import numpy as np
from numpy.typing import NDArray

from qc.drawing.figure import Drawing
from qc.drawing.labels import spread
from qc.drawing.panel import Panel, Scale, round_ticks, tick_labels
from qc.drawing.rows import limits
from qc.drawing.sheet import Sheet
from qc.drawing.style import FAMILY_COLOURS, FAMILY_MARKERS, GAP, MUTED, shortened, text_width
from qc.number_format import decimal, listed, whole
from qc.several_runs import SeveralRuns

LEFT, HEAD, FOOT = 52.0, 34.0, 44.0
LINE, LEADER, FEWEST_LINES = 18.0, 18.0, 16
# Width of the longest names, as a share of the figure's width; horizontal distances between systems, as
# shares of the distance between runs.
NAME, STEP, ASIDE = 0.27, 0.03, 0.14
LISTED = 6


def longitudinal(found: SeveralRuns) -> Drawing | None:
    """Draw overall z of every system in every run, with its interval; None if no system has a score."""
    if not np.isfinite(found.z).any():
        return None
    count, runs = found.z.shape
    moved = asides(count)
    ends = np.concatenate([found.z, found.low, found.high]).ravel()

    def draw(width: float) -> Sheet:
        names = [shortened(name, NAME * width) for name in found.systems]
        right = max(text_width(name) for name in names) + LEADER + GAP
        height = max(FEWEST_LINES, count + 1) * LINE
        page = Sheet(width, HEAD + height + FOOT)
        inner = width - LEFT - right
        panel = Panel(page, LEFT, HEAD, inner, height, Scale(-0.35, runs - 1 + 0.25), Scale(*limits(ends)))
        ticks = round_ticks(panel.y.first, panel.y.last, 6)
        panel.y_axis(ticks, tick_labels(ticks), "overall z")
        room = inner / runs - GAP
        panel.x_axis(list(range(runs)), [shortened(name, room) for name in found.names])
        panel.horizontal(0, MUTED)
        for number in range(count):
            _system(panel, found, number, np.arange(runs) + moved[number])
        _labels(panel, found, names, moved)
        return page

    return Drawing("Overall scores from run to run", _alt(found), draw)


def asides(count: int) -> NDArray[np.float64]:
    """Return horizontal offsets of the systems, so that their intervals do not overlap."""
    step = min(STEP, 2 * ASIDE / max(count - 1, 1))
    return np.asarray((np.arange(count) - (count - 1) / 2) * step)


def look(number: int) -> tuple[str, str]:
    """Return the colour and the marker of the system in row `number`."""
    return FAMILY_COLOURS[number % len(FAMILY_COLOURS)], FAMILY_MARKERS[number % len(FAMILY_MARKERS)]


def _system(panel: Panel, found: SeveralRuns, number: int, across: NDArray[np.float64]) -> None:
    colour, marker = look(number)
    panel.line(across, found.z[number], colour, 1.8)
    for x, low, high in zip(across.tolist(), found.low[number], found.high[number], strict=True):
        if np.isfinite([low, high]).all():
            panel.page.line([panel.at(x, low), panel.at(x, high)], colour, 1.2)
    panel.points(across, found.z[number], colour, marker)


def _labels(panel: Panel, found: SeveralRuns, names: list[str], moved: NDArray[np.float64]) -> None:
    """Name every system at the right, with a line from its last score."""
    scored = np.isfinite(found.z)
    known = np.flatnonzero(scored.any(axis=1))
    last = found.z.shape[1] - 1 - np.argmax(scored[known, ::-1], axis=1)
    values = found.z[known, last]
    span = panel.y.last - panel.y.first
    heights = spread(values, span * LINE / panel.height)
    places = zip(known.tolist(), last.tolist(), values.tolist(), heights.tolist(), strict=True)
    for number, run, z, height in places:
        end, label = panel.at(run + moved[number], z), (panel.right + LEADER, panel.at(0, height)[1])
        panel.page.line([(end[0] + 6, end[1]), (label[0] - 3, label[1])], look(number)[0], 1, "2 3")
        panel.page.beside(label, names[number])


def _alt(found: SeveralRuns) -> str:
    r = [
        f"{row['first']} and {row['second']} r = {decimal(row['pearson'])}"
        for row in found.pairs.to_dict("records")
    ]
    return (
        f"Lines of overall z of {whole(len(found.systems))} systems through {whole(len(found.names))} runs, "
        f"each score with its 95 % interval; {listed(r, LISTED)}."
    )
