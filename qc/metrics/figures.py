"""Figures of `qc.metrics`: agreement of metrics with people, ranks, and conversations."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.drawing.charts import HEAT_EDGE, Cells, heat_map, interval, point, rows
from qc.drawing.panel import Panel, Scale, round_ticks, tick_labels
from qc.drawing.sheet import Drawing, Sheet
from qc.drawing.style import BLUE, MUTED, QUIET, SMALL, VERMILION, diverging, fitting, shortened
from qc.metrics.against_people import AgainstPeople
from qc.metrics.conversations import ConversationAgreement
from qc.statistics.confidence import without_noise
from qc.table import OVERALL, decimal, listed, whole

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
        panel.page.text((HEAT_EDGE, panel.bottom + 22), legend, MUTED, fitting(legend, width - 2 * HEAT_EDGE))
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


# Panels of the scatter figure, and points in each; the curve is of all points.
MOST_PANELS, MOST_DOTS = 6, 300
PANEL_HEIGHT, PANEL_HEAD, PANEL_FOOT, PANEL_LEFT, PANEL_GAP = 150.0, 40.0, 34.0, 44.0, 14.0
TWO_COLUMNS = 500.0
DOT = 3.5


def scatter_figure(found: AgainstPeople) -> Drawing | None:
    """Draw overall z against each of the metrics that agree most, with a smooth curve; None without one."""
    known = [each for each in found.conversations if each.curve is not None]
    known.sort(key=lambda each: -abs(each.r.value))
    shown = known[:MOST_PANELS]
    if not shown:
        return None
    heights = _ends(np.concatenate([each.y[_dots(each)] for each in shown]))

    def draw(width: float) -> Sheet:
        columns = 2 if width >= TWO_COLUMNS and len(shown) > 1 else 1
        block = PANEL_HEAD + PANEL_HEIGHT + PANEL_FOOT
        page = Sheet(width, block * -(-len(shown) // columns))
        wide = width / columns
        for number, each in enumerate(shown):
            left, top = wide * (number % columns) + PANEL_LEFT, block * (number // columns) + PANEL_HEAD
            _scatter(page, (left, top), wide - PANEL_LEFT - PANEL_GAP, each, heights)
        return page

    alt = f"Scatter plots with smooth curves of overall z against {listed([each.metric for each in shown])}."
    return Drawing("Conversations by metrics and by people", alt, draw)


def _scatter(
    page: Sheet, corner: tuple[float, float], width: float, each: ConversationAgreement, heights: Scale
) -> None:
    if each.curve is None:
        raise AssertionError("only metrics with a curve are drawn")
    left, top = corner
    dots = _dots(each)
    scales = _ends(each.x[dots]), heights
    panel = Panel(page, left, top, width, PANEL_HEIGHT, *scales)
    across, up = (
        round_ticks(scale.first, scale.last, most) for scale, most in zip(scales, (4, 4), strict=True)
    )
    panel.y_axis(up, tick_labels(up))
    panel.x_axis(across, tick_labels(across))
    for x, y in zip(each.x[dots].tolist(), each.y[dots].tolist(), strict=True):
        page.marker(panel.at(x, y), "o", MUTED, DOT, opacity=0.45)
    panel.line(each.curve.x, each.curve.y, BLUE, 3.0)
    page.text((left, top - 12), shortened(each.metric, width * 0.7), size=SMALL, bold=True)
    page.text((left + width, top - 12), f"n {whole(each.n)}", MUTED, SMALL, anchor="end")


def _dots(each: ConversationAgreement) -> NDArray[np.intp]:
    """Return the conversations that are drawn, evenly spaced in the order of the metric."""
    order = np.lexsort((each.y, each.x))
    return order[np.linspace(0, len(order) - 1, min(len(order), MOST_DOTS)).astype(np.intp)]


def _ends(values: NDArray[np.float64]) -> Scale:
    low, high = float(values.min()), float(values.max())
    room = 0.05 * (high - low) or 1.0
    return Scale(low - room, high + room)
