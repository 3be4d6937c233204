"""Draw the distributions of workers who passed and who failed, one over the other."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from qc.drawing.panel import Panel, Scale, round_ticks, tick_labels
from qc.drawing.sheet import Sheet
from qc.drawing.style import FAILED, MARGIN, PASSED

DASHES = "9 4"
# Bins for correlations, from -1 to 1.
BINS = np.linspace(-1, 1, 21)
TICKS = (-1.0, -0.5, 0.0, 0.5, 1.0)
HEIGHT, HEAD, FOOT, LEFT, RIGHT = 336.0, 88.0, 56.0, 50.0, 16.0


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
        page = Sheet(width, HEIGHT)
        size = (width - LEFT - RIGHT, HEIGHT - HEAD - FOOT)
        panel = Panel(page, LEFT, HEAD, *size, Scale(-1.0, 1.0), density_scale(groups, BINS))
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
