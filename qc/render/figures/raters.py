"""How single raters agree with an average."""

from collections.abc import Sequence

import numpy as np

from qc.number_format import decimal, whole
from qc.planning.rater_pools import PoolAgreement
from qc.render.figures.figure import Drawing
from qc.render.figures.rows import point, rows, stripes
from qc.render.figures.style import BLUE, INK, VERMILION

SPREAD = 0.28


def one_against_average(pools: Sequence[PoolAgreement]) -> Drawing:
    """Draw r of each rater with the average of a pool, a row for each comparison, with the mean of these.

    Where the average is another pool's, r of the two averages is drawn, too.
    """
    labels = [each.label for each in pools]
    extent = np.concatenate([np.array([-1.0, 1.0]), *(each.agreement.single for each in pools)])
    page, axes = rows(
        labels, "r of one rater with the average", extent, [_mean(each) for each in pools], "mean"
    )
    stripes(axes, len(pools))
    for i, each in enumerate(pools):
        r = np.sort(each.agreement.single[np.isfinite(each.agreement.single)])
        heights = i + SPREAD * np.resize([-1.0, 0, 1, -0.5, 0.5], len(r))
        axes.plot(r, heights, "o", color=BLUE, alpha=0.35, markersize=5, markeredgewidth=0)
        point(axes, each.agreement.mean, i, INK, "D")
        if np.isfinite(each.agreement.averages):
            point(axes, each.agreement.averages, i, VERMILION, "s")
    found = "; ".join(
        f"{each.label}: {whole(np.isfinite(each.agreement.single).sum())} raters, mean r {_mean(each)}"
        for each in pools
    )
    return Drawing(
        page, "One rater against the average", f"Correlation of single raters with an average. {found}."
    )


def _mean(pool: PoolAgreement) -> str:
    return decimal(pool.agreement.mean, 2)
