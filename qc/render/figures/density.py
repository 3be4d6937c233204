"""Distributions of workers who passed and who failed, one over the other."""

import numpy as np
from numpy.typing import NDArray

from qc.render.figures.panel import Panel, Scale, round_ticks, tick_labels
from qc.render.figures.sheet import Sheet
from qc.render.figures.style import FAILED, PASSED

DASHES = "9 4"


def densities(values: NDArray[np.float64], bins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how dense `values` are in each of `bins`, (bins,), of all of them; 0 if there are none."""
    return np.asarray(np.histogram(values, bins)[0] / max(len(values), 1) / np.diff(bins))


def density_scale(groups: tuple[NDArray[np.float64], ...], bins: NDArray[np.float64]) -> Scale:
    """Return a scale from 0 that holds the densities of all groups."""
    highest = max(float(densities(values, bins).max(initial=0)) for values in groups)
    return Scale(0.0, highest * 1.05 or 1.0)


def share_axis(panel: Panel) -> None:
    """Draw the axis of densities: what share of a group lies in each bin, by the width of the bins."""
    ticks = round_ticks(panel.y.first, panel.y.last, 4)
    panel.y_axis(ticks, tick_labels(ticks), "density")


def density(panel: Panel, values: NDArray[np.float64], bins: NDArray[np.float64], *, passed: bool) -> None:
    """Draw how `values` are distributed over `bins`, and their median; nothing if there are none.

    Those who passed are a filled area, those who failed a dashed outline. Values outside the bins have no
    part in the area drawn, but in the median.
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
    """Write which area is whose, on two lines."""
    page.key((left, top), "■", PASSED, passed)
    page.key((left, top + 22), "□", FAILED, failed)
