"""Distributions of workers who passed and who failed, one over the other."""

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from qc.render.figures.style import FAILED, PAPER, PASSED, Sheet, key

DASHED = (0, (4, 2))


def density(axes: Axes, values: NDArray[np.float64], bins: NDArray[np.float64], *, passed: bool) -> None:
    """Draw how `values` are distributed over `bins`, and their median; nothing if there are none.

    Those who passed are a filled area, those who failed a dashed outline. Values outside the bins have no
    part in the area drawn, but in the median.
    """
    if len(values) == 0:
        return
    colour, line = (PASSED, "-") if passed else (FAILED, DASHED)
    heights = np.histogram(values, bins)[0] / len(values) / np.diff(bins)
    if passed:
        axes.stairs(heights, bins, fill=True, color=colour, alpha=0.35, linewidth=0)
    axes.stairs(heights, bins, color=colour, linewidth=2.2, linestyle=line)
    median = float(np.median(values))
    axes.axvline(median, color=colour, linewidth=2.2, linestyle=line)
    axes.plot(
        [median],
        [1.0],
        transform=axes.get_xaxis_transform(),
        color=colour,
        marker="v",
        markerfacecolor=colour if passed else PAPER,
        markeredgewidth=2,
        clip_on=False,
    )


def density_key(page: Sheet, left: float, top: float, passed: str, failed: str) -> None:
    """Write which area is whose, on two lines."""
    key(page, left, top, "■", PASSED, passed)
    key(page, left, top + 22, "□", FAILED, failed)
