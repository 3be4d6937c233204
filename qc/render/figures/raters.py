"""Figure: agreement of single raters with an average."""

from collections.abc import Sequence

import numpy as np

from qc.number_format import decimal, whole
from qc.planning.rater_pools import PoolAgreement
from qc.render.figures.figure import Drawing
from qc.render.figures.rows import point, rows
from qc.render.figures.sheet import Sheet
from qc.render.figures.style import BLUE, INK, VERMILION

SPREAD = 0.28


def one_against_average(pools: Sequence[PoolAgreement]) -> Drawing:
    """Draw r of each rater with the average of a pool, a row for each comparison, with the mean of these.

    Where the average is another pool's, r of the two averages is drawn, too.
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
