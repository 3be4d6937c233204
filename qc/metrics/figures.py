"""Figures of metrics against people."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.drawing.figure import Drawing
from qc.drawing.heat import MARGIN, Cells, heat_map
from qc.drawing.rows import interval, point, rows
from qc.drawing.sheet import Sheet
from qc.drawing.style import BLUE, MUTED, QUIET, VERMILION, diverging, fitting
from qc.metrics.against_people import OVERALL, AgainstPeople
from qc.number_format import decimal, listed
from qc.statistics.noise import without_noise

FOOT = 30.0
LISTED = 8


def agreement_figure(found: AgainstPeople) -> Drawing | None:
    """Draw r of every metric with people overall, with its interval for other systems; None without r."""
    overall = [each for each in found.agreements if each.on == OVERALL]
    known = [each for each in overall if np.isfinite(each.systems.pearson.value)]
    if not known:
        return None
    known.sort(key=lambda each: -each.systems.pearson.value)
    right = [f"{decimal(each.systems.pearson.value, 2)}  n {each.systems.n}" for each in known]
    ends = np.array([-1.0, 1.0])

    def draw(width: float) -> Sheet:
        panel = rows(width, [each.metric for each in known], "r with people, over systems", ends, right, "r")
        for row, each in enumerate(known):
            r = each.systems.pearson
            interval(panel, r.low, r.high, row, BLUE)
            point(panel, r.value, row, BLUE if r.value >= 0 else VERMILION)
        return panel.page

    values = [f"{each.metric} {decimal(each.systems.pearson.value, 2)}" for each in known]
    alt = f"Dot plot of r of each metric with people, with 95 % intervals: {listed(values, LISTED)}."
    return Drawing("How metrics agree with people", alt, draw)


def rank_figure(found: AgainstPeople) -> Drawing | None:
    """Draw the rank of each system by people and by every metric, with people's best system on the left."""
    table = metric_ranks(found)
    known = np.asarray(np.isfinite(table).all(axis=1))
    if not known[1:].any():
        return None
    names = ["people", *(metric.name for metric in found.names)]
    shown = [name for name, there in zip(names, known, strict=True) if there]
    ranks = table[known]
    shift = (ranks[:1] - ranks) / max(ranks.shape[1] - 1, 1)
    colours = [[diverging(each) for each in line] for line in shift.tolist()]
    colours[0] = [QUIET] * len(colours[0])
    texts = [[f"{rank:g}" for rank in line] for line in ranks]
    systems = found.human.z["system"].to_list()

    def draw(width: float) -> Sheet:
        panel = heat_map(width, shown, systems, Cells(colours, texts), FOOT)
        legend = "rank by each; blue: better than people say, orange: worse"
        panel.page.text((MARGIN, panel.bottom + 22), legend, MUTED, fitting(legend, width - 2 * MARGIN))
        return panel.page

    best = found.human.z["system"].iloc[0]
    firsts = [name for name, line in zip(shown[1:], ranks[1:], strict=True) if line[0] == 1]
    alt = (
        f"Heat map of the ranks that people and {len(shown) - 1} metrics give the systems; people's best, "
        f"{best}, is first by {listed(firsts, LISTED) or 'none of the metrics'}."
    )
    return Drawing("Ranks by people and by metrics", alt, draw)


def metric_ranks(found: AgainstPeople) -> NDArray[np.float64]:
    """Return the ranks of the systems, 1 for the best, ties at their mean: (1 + M, S), people's first."""
    signs = np.array([1.0 if metric.higher_is_better else -1.0 for metric in found.names])
    people = found.human.z[OVERALL].to_numpy(np.float64)
    table = without_noise(np.vstack([people, found.metrics * signs[:, None]]))
    ranks = pd.DataFrame(-table).rank(axis=1).to_numpy(np.float64)
    return np.where(np.isnan(table).any(axis=1, keepdims=True), np.nan, ranks)
