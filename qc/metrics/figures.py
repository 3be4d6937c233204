"""Figures of metrics against people. Importing this imports matplotlib, so it is left to those who draw."""

import numpy as np
from matplotlib.colors import to_rgba
from numpy.typing import NDArray
from scipy.stats import rankdata

from qc.metrics.against_people import OVERALL, AgainstPeople
from qc.number_format import decimal, listed
from qc.render.figures.figure import Drawing
from qc.render.figures.heat import MARGIN, Cells, heat_map
from qc.render.figures.rows import interval, point, rows, stripes
from qc.render.figures.style import BLUE, DIVERGING, QUIET, VERMILION, note
from qc.statistics.noise import without_noise

FOOT = 30.0
LISTED = 8


def agreement_figure(found: AgainstPeople) -> Drawing | None:
    """Draw r of every metric with people overall, and its interval for other systems; None without any."""
    overall = [each for each in found.agreements if each.on == OVERALL]
    known = [each for each in overall if np.isfinite(each.systems.pearson.value)]
    if not known:
        return None
    known.sort(key=lambda each: -each.systems.pearson.value)
    right = [f"{decimal(each.systems.pearson.value, 2)}  n {each.systems.n}" for each in known]
    ends = np.array([-1.0, 1.0])
    page, axes = rows([each.metric for each in known], "r with people, over systems", ends, right, "r")
    stripes(axes, len(known))
    for row, each in enumerate(known):
        r = each.systems.pearson
        interval(axes, r.low, r.high, row, BLUE)
        point(axes, r.value, row, BLUE if r.value >= 0 else VERMILION)
    values = [f"{each.metric} {decimal(each.systems.pearson.value, 2)}" for each in known]
    alt = f"Dot plot of r of each metric with people, with 95 % intervals: {listed(values, LISTED)}."
    return Drawing(page, "How metrics agree with people", alt)


def rank_figure(found: AgainstPeople) -> Drawing | None:
    """Draw the rank that people and every metric give each system, people's best at the left."""
    table = metric_ranks(found)
    known = np.asarray(np.isfinite(table).all(axis=1))
    if not known[1:].any():
        return None
    names = ["people", *(metric.name for metric in found.names)]
    shown = [name for name, there in zip(names, known, strict=True) if there]
    ranks = table[known]
    shift = (ranks[:1] - ranks) / max(ranks.shape[1] - 1, 1)
    colours = DIVERGING(shift / 2 + 0.5)
    colours[0] = to_rgba(QUIET)
    texts = [[f"{rank:g}" for rank in line] for line in ranks]
    page, _, bottom = heat_map(shown, found.human.z["system"].to_list(), Cells(colours, texts), FOOT)
    note(page, MARGIN, bottom + 22, "rank by each; blue: better than people say, orange: worse")
    best = found.human.z["system"].iloc[0]
    firsts = [name for name, line in zip(shown[1:], ranks[1:], strict=True) if line[0] == 1]
    alt = (
        f"Heat map of the ranks that people and {len(shown) - 1} metrics give the systems; people's best, "
        f"{best}, is first by {listed(firsts, LISTED) or 'none of the metrics'}."
    )
    return Drawing(page, "Ranks by people and by metrics", alt)


def metric_ranks(found: AgainstPeople) -> NDArray[np.float64]:
    """Return the ranks of the systems, 1 for the best, ties at their mean: (1 + M, S), people's first."""
    signs = np.array([1.0 if metric.higher_is_better else -1.0 for metric in found.names])
    people = found.human.z[OVERALL].to_numpy(np.float64)
    table = without_noise(np.vstack([people, found.metrics * signs[:, None]]))
    return np.asarray(rankdata(-table, axis=1, nan_policy="propagate"))
