"""Figures of plans: forecasts against the number of workers, and pools of raters."""

from collections.abc import Sequence

import numpy as np

from qc.drawing.figure import Drawing
from qc.drawing.panel import Panel, Scale, round_ticks, tick_labels
from qc.drawing.rows import point, rows
from qc.drawing.sheet import Sheet
from qc.drawing.style import BLUE, INK, VERMILION
from qc.number_format import decimal, listed, whole
from qc.planning.randomised_pairs import PoolAgreement

SPREAD = 0.28


def one_against_average(pools: Sequence[PoolAgreement]) -> Drawing:
    """Draw r of each rater with the average of a pool, and the mean r; a row for each comparison.

    If the average is another pool's, r of the two averages is drawn too.
    """
    labels = [each.label for each in pools]
    extent = np.concatenate([np.array([-1.0, 1.0]), *(each.agreement.single for each in pools)])
    means = [_mean(each) for each in pools]

    def draw(width: float) -> Sheet:
        panel = rows(width, labels, "r of one rater with the average", extent, means, "mean")
        for i, each in enumerate(pools):
            r = np.sort(each.agreement.single[np.isfinite(each.agreement.single)])
            heights = i + SPREAD * np.resize([-1.0, 0, 1, -0.5, 0.5], len(r))
            for one in zip(r.tolist(), heights.tolist(), strict=True):
                panel.page.marker(panel.at(*one), "o", BLUE, 5, opacity=0.35)
            point(panel, each.agreement.mean, i, INK, "D")
            if np.isfinite(each.agreement.averages):
                point(panel, each.agreement.averages, i, VERMILION, "s")
        return panel.page

    found = "; ".join(
        f"{each.label}: {whole(np.isfinite(each.agreement.single).sum())} raters, mean r {_mean(each)}"
        for each in pools
    )
    alt = f"Correlation of single raters with an average. {found}."
    return Drawing("One rater against the average", alt, draw)


def _mean(pool: PoolAgreement) -> str:
    return decimal(pool.agreement.mean, 2)


LEFT, HEAD, FOOT, RIGHT, HEIGHT = 62.0, 24.0, 58.0, 24.0, 220.0
TICK_ROOM = 80.0


def curve(workers: Sequence[int], values: Sequence[float], title: str, axis: str) -> Drawing:
    """Draw a curve of forecast values against the number of workers, from 0 up."""
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
