"""Scores by criterion, and how criteria go together."""

import numpy as np
from matplotlib.colors import to_rgba
from numpy.typing import NDArray

from qc.method.criteria import CriteriaCorrelation
from qc.method.scores import Scores
from qc.number_format import decimal, listed
from qc.render.figures.figure import Drawing
from qc.render.figures.heat import MARGIN, Cells, heat_map
from qc.render.figures.style import DIVERGING, ON_LIGHT, QUIET, WIDTH, note, text_width

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
    page, axes, bottom = heat_map(names, columns, _diverging(z, _bound(z)), FOOT)
    axes.axvline(0.5, color=ON_LIGHT, linewidth=1.6)
    note(page, MARGIN, bottom + 22, "z: blue above the mean of the workers, orange below")
    return Drawing(page, "Scores by criterion", _profile_alt(names, columns, z))


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
    page, _, bottom = heat_map(names, names, _diverging(values, 1.0), FOOT)
    below, above = "◣ below the diagonal: Spearman", "◥ above: Pearson"
    note(page, MARGIN, bottom + 22, below)
    note(page, WIDTH - MARGIN - text_width(above), bottom + 22, above)
    title = f"Correlations between criteria, {SCALES[scale]}"
    return Drawing(page, title, _correlation_alt(result, scale))


def _bound(values: NDArray[np.float64]) -> float:
    return float(np.nanmax(np.abs(values))) or 1.0


def _diverging(values: NDArray[np.float64], bound: float) -> Cells:
    known = np.isfinite(values)
    colours = DIVERGING(np.where(known, values, 0.0) / bound / 2 + 0.5)
    colours[~known] = to_rgba(QUIET)
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
