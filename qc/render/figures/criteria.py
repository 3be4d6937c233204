"""Figures: scores by criterion, and correlations between criteria."""

import numpy as np
from numpy.typing import NDArray

from qc.method.scores import CriteriaCorrelation, Scores
from qc.number_format import decimal, listed
from qc.render.drawing.figure import Drawing
from qc.render.drawing.heat import MARGIN, Cells, heat_map
from qc.render.drawing.sheet import Sheet
from qc.render.drawing.style import MUTED, ON_LIGHT, QUIET, diverging, fitting, text_width

FOOT = 30.0
LISTED = 12
SCALES = {"z": "z scores", "raw": "raw scores"}


def criteria_profile(scores: Scores) -> Drawing | None:
    """Draw the z of every system, best first, overall and on each criterion; None if there is none."""
    columns = [column for column in scores.z.columns if column not in ("system", "n")]
    names = scores.z["system"].to_list()
    z = scores.z[columns].to_numpy(np.float64)
    if not np.isfinite(z).any():
        return None
    cells = _diverging(z, _bound(z))

    def draw(width: float) -> Sheet:
        panel = heat_map(width, names, columns, cells, FOOT)
        panel.vertical(0.5, ON_LIGHT, 1.6)
        legend = "z: blue above the mean of the workers, orange below"
        panel.page.text((MARGIN, panel.bottom + 22), legend, MUTED, fitting(legend, width - 2 * MARGIN))
        return panel.page

    return Drawing("Scores by criterion", _profile_alt(names, columns, z), draw)


def criteria_correlation(result: CriteriaCorrelation, scale: str) -> Drawing | None:
    """Draw correlations between criteria: Pearson above the diagonal, Spearman below; None if unknown.

    Args:
        result: the correlations.
        scale: `z` or `raw`.
    """
    names, count = list(result.names), len(result.names)
    upper = np.triu(np.ones((count, count), bool), 1)
    values = np.where(upper, result.pearson, result.spearman)
    np.fill_diagonal(values, np.nan)
    if not np.isfinite(result.pearson[upper]).any():
        return None
    cells = _diverging(values, 1.0)
    below, above = "◣ below the diagonal: Spearman", "◥ above: Pearson"

    def draw(width: float) -> Sheet:
        panel = heat_map(width, names, names, cells, 2 * FOOT)
        panel.page.text((MARGIN, panel.bottom + 22), below, MUTED)
        beside = width - MARGIN - text_width(above)
        if beside > MARGIN + text_width(below):
            panel.page.text((beside, panel.bottom + 22), above, MUTED)
        else:
            panel.page.text((MARGIN, panel.bottom + 44), above, MUTED)
        return panel.page

    title = f"Correlations between criteria, {SCALES[scale]}"
    return Drawing(title, _correlation_alt(result, scale), draw)


def _bound(values: NDArray[np.float64]) -> float:
    return float(np.nanmax(np.abs(values))) or 1.0


def _diverging(values: NDArray[np.float64], bound: float) -> Cells:
    colours = [
        [diverging(value / bound) if np.isfinite(value) else QUIET for value in line]
        for line in values.tolist()
    ]
    texts = [[decimal(value, 2) if np.isfinite(value) else "" for value in line] for line in values]
    return Cells(colours, texts)


def _profile_alt(names: list[str], columns: list[str], z: NDArray[np.float64]) -> str:
    best = [
        f"{column} {names[int(np.nanargmax(z[:, j]))]}"
        for j, column in enumerate(columns)
        if np.isfinite(z[:, j]).any()
    ]
    return f"Heat map of z by system and criterion; highest on {listed(best, LISTED)}."


def _correlation_alt(result: CriteriaCorrelation, scale: str) -> str:
    above = np.triu_indices(len(result.names), 1)
    pearson = result.pearson[above]
    i = int(np.nanargmin(pearson))
    first, second = result.names[above[0][i]], result.names[above[1][i]]
    return (
        f"Heat map of correlations between criteria over the systems, {SCALES[scale]}: Pearson from "
        f"{decimal(pearson[i], 2)} ({first} with {second}) to {decimal(np.nanmax(pearson), 2)}."
    )
