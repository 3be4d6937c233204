"""Draw a rootogram of workers by a value from 0 to 1; those who failed are stacked on those who passed.

The square-root scale (Tukey, Exploratory Data Analysis, 1977) keeps bins with few workers visible.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from qc.drawing.panel import Panel, Scale
from qc.drawing.sheet import Sheet
from qc.drawing.style import FAILED, GAP, MARGIN, PASSED, text_width
from qc.number_format import whole

HEADING, KEY_LINE, BARS, FOOT = 36.0, 20.0, 198.0, 56.0

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
            page, left, page.height - FOOT - BARS, *size, Scale(0.0, 1.0), Scale(0.0, highest * 1.12, _root)
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
    return key_lines * KEY_LINE + HEADING + BARS + FOOT


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
