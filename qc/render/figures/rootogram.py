"""How many workers lie where from 0 to 1: those who passed, and those who failed on top of them.

A rootogram (Tukey, Exploratory Data Analysis, 1977): few workers at one place stay visible beside many.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from qc.number_format import whole
from qc.render.figures.panel import Panel, Scale
from qc.render.figures.sheet import Sheet
from qc.render.figures.style import FAILED, GAP, MARGIN, PASSED, text_width

HEIGHT, HEAD, FOOT = 350.0, 96.0, 56.0

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Rootogram:
    """Numbers of workers who `passed` and who `failed` in the bins between `edges`, all from 0 to 1."""

    edges: Array
    passed: Array
    failed: Array

    def panel(self, page: Sheet) -> Panel:
        """Return a panel that fills the width of a sheet of HEIGHT, with its bars and its upright axis."""
        highest = max(1, int((self.passed + self.failed).max()))
        ticks = _ticks(highest)
        left = MARGIN + GAP + max(text_width(whole(tick)) for tick in ticks)
        size = (page.width - left - MARGIN - GAP, HEIGHT - HEAD - FOOT)
        panel = Panel(page, left, HEAD, *size, Scale(0.0, 1.0), Scale(0.0, highest * 1.12, _root))
        panel.y_axis(ticks, [whole(tick) for tick in ticks], "workers (√ scale)")
        self._bars(panel, self.passed, np.zeros(len(self.passed)), PASSED, 1.0)
        self._bars(panel, self.passed + self.failed, self.passed, FAILED, 0.4)
        return panel

    def _bars(self, panel: Panel, heights: Array, base: Array, colour: str, opacity: float) -> None:
        upper, lower = panel.steps(heights, self.edges, base)
        panel.page.polygon([*upper, *reversed(lower)], colour, opacity=opacity, edge=colour, width=1)


def rootogram(values: Array, passed: NDArray[np.bool_], edges: Array) -> Rootogram:
    """Return how many of `values` lie in each bin, by who passed; those that are not finite are left out."""
    known = np.isfinite(values)
    counts = (np.histogram(values[group & known], edges)[0] for group in (passed, ~passed))
    return Rootogram(edges, *(count.astype(np.float64) for count in counts))


def _root(count: float) -> float:
    return sqrt(max(count, 0.0))


def _ticks(highest: int) -> list[float]:
    """Return round numbers from 0 to about `highest`, about evenly spaced on a square-root scale."""
    steps = [highest * (i / 4) ** 2 for i in range(1, 5)]
    return [0.0, *sorted({max(1.0, float(f"{step:.1g}")) for step in steps})]
