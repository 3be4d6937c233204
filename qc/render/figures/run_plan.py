"""Figure: forecast of a run against its number of workers."""

from collections.abc import Sequence

import numpy as np

from qc.number_format import decimal, listed, whole
from qc.render.figures.figure import Drawing
from qc.render.figures.panel import Panel, Scale, round_ticks, tick_labels
from qc.render.figures.sheet import Sheet
from qc.render.figures.style import BLUE

LEFT, HEAD, FOOT, RIGHT, HEIGHT = 62.0, 24.0, 58.0, 24.0, 220.0
TICK_ROOM = 80.0


def curve(workers: Sequence[int], values: Sequence[float], title: str, axis: str) -> Drawing:
    """Draw a curve through what numbers of workers would show, from 0 up."""
    across, up = np.array(workers, np.float64), np.array(values, np.float64)

    def draw(width: float) -> Sheet:
        page = Sheet(width, HEAD + HEIGHT + FOOT)
        highest = float(np.nanmax(up, initial=0.0)) * 1.08 or 1.0
        ends = Scale(0.0, float(across[-1]) * 1.03), Scale(0.0, highest)
        panel = Panel(page, LEFT, HEAD, width - LEFT - RIGHT, HEIGHT, *ends)
        heights = round_ticks(0.0, highest, 5)
        panel.y_axis(heights, tick_labels(heights), axis)
        ticks = round_ticks(0.0, panel.x.last, max(2, int(panel.width / TICK_ROOM)), whole=True)
        panel.x_axis(ticks, [whole(tick) for tick in ticks], "workers")
        panel.line(across, up, BLUE)
        panel.points(across, up, BLUE)
        return page

    shown = [f"{decimal(value, 3)} with {whole(count)}" for count, value in zip(workers, values, strict=True)]
    return Drawing(title.rstrip("."), f"{axis}, by the number of workers: {listed(shown)}.", draw)
