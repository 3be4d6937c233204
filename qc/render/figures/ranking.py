"""Systems by their overall score, with intervals and ranges of ranks."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.method.scores import Scores
from qc.number_format import decimal, listed, ranks
from qc.render.figures.figure import Drawing
from qc.render.figures.rows import FOOT, HEAD, ROW, interval, point, rows, stripes
from qc.render.figures.style import (
    FAMILY_COLOURS,
    FAMILY_MARKERS,
    MARGIN,
    MUTED,
    SMALL,
    Sheet,
    key,
)
from qc.robustness.intervals import Intervals

# Colour, marker and whether it is filled.
Look = tuple[str, str, bool]
Looks = dict[str, Look]
LISTED = 12


def ranking(scores: Scores, looks: Looks, intervals: Intervals | None) -> Drawing | None:
    """Draw the overall z of every system, best first; None if no system has a score.

    Args:
        scores: whose systems are drawn.
        looks: how each system is drawn.
        intervals: of the scores and ranks; None leaves them out.
    """
    names = scores.z["system"].to_list()
    z = scores.z["overall"].to_numpy(np.float64)
    if not np.isfinite(z).any():
        return None
    if intervals is None:
        low, high, right = np.full(len(z), np.nan), np.full(len(z), np.nan), []
    else:
        low, high = intervals.z_low[:, 0], intervals.z_high[:, 0]
        right = list(map(ranks, intervals.rank_low.tolist(), intervals.rank_high.tolist()))
    page, axes = rows(names, "overall score (z)", np.concatenate([z, low, high]), right, "rank")
    stripes(axes, len(names))
    for i, name in enumerate(names):
        colour, marker, filled = looks[name]
        interval(axes, low[i], high[i], i, colour)
        point(axes, z[i], i, colour, marker, filled=filled)
        if not np.isfinite(z[i]):
            axes.text(0, i, " no kept conversation", color=MUTED, va="center_baseline", size=SMALL)
    if len({filled for name, (_, _, filled) in looks.items() if name in names}) > 1:
        _legend(page, HEAD + ROW * len(names) + FOOT)
    return Drawing(page, "Overall scores of the systems", _alt(names, z, intervals))


def system_looks(systems: pd.DataFrame) -> Looks:
    """Return how each system is drawn: its family by colour and marker, hollow without persona.

    Where families or personas tell nothing apart, all look alike.
    """
    competing = systems[~systems["is_qc"]]
    families = list(dict.fromkeys(competing["family"]))
    plain = len(families) == len(competing)
    persona = competing["has_persona"].nunique() > 1
    looks = {}
    for row in competing.itertuples():
        i = 0 if plain else families.index(row.family)
        colour, marker = FAMILY_COLOURS[i % len(FAMILY_COLOURS)], FAMILY_MARKERS[i % len(FAMILY_MARKERS)]
        looks[str(row.system)] = (colour, marker, bool(row.has_persona) or not persona)
    return looks


def _legend(page: Sheet, height: float) -> None:
    left = key(page, MARGIN, height - 10, "●", MUTED, "with persona")
    key(page, left + MARGIN, height - 10, "○", MUTED, "without")


def _alt(names: list[str], z: NDArray[np.float64], intervals: Intervals | None) -> str:
    known = [f"{name} {decimal(value)}" for name, value in zip(names, z, strict=True) if np.isfinite(value)]
    sure = f", each with its {intervals.level:.0%} interval and range of ranks" if intervals else ""
    return f"Dot plot of overall z{sure}, best first: {listed(known, LISTED)}."
