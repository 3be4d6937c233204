"""Figure: systems by their overall score, with intervals and ranges of ranks."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.method.scores import Scores
from qc.number_format import decimal, listed, ranks
from qc.render.drawing.figure import Drawing
from qc.render.drawing.rows import interval, point, rows
from qc.render.drawing.sheet import Sheet
from qc.render.drawing.style import FAMILY_COLOURS, FAMILY_MARKERS, MUTED
from qc.robustness.intervals import Intervals

# Colour, marker, and whether it is filled.
Look = tuple[str, str, bool]
Looks = dict[str, Look]
LISTED = 12
PERSONA_KEY = (("●", MUTED, "with persona"), ("○", MUTED, "without"))


def ranking(scores: Scores, looks: Looks, intervals: Intervals | None) -> Drawing | None:
    """Draw the overall z of every system, best first; None if no system has a score.

    Args:
        scores: scores of the systems.
        looks: colour, marker and filling of each system.
        intervals: intervals of the scores and ranks; None leaves them out.
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
    personas = len({filled for name, (_, _, filled) in looks.items() if name in names}) > 1

    def draw(width: float) -> Sheet:
        extent, legend = np.concatenate([z, low, high]), PERSONA_KEY if personas else ()
        panel = rows(width, names, "overall score (z)", extent, right, "rank", legend=legend)
        for i, name in enumerate(names):
            colour, marker, filled = looks[name]
            interval(panel, low[i], high[i], i, colour)
            point(panel, z[i], i, colour, marker, filled=filled)
            if not np.isfinite(z[i]):
                panel.page.beside(panel.at(0, i), " no kept conversation", MUTED)
        return panel.page

    return Drawing("Overall scores of the systems", _alt(names, z, intervals), draw)


def system_looks(systems: pd.DataFrame) -> Looks:
    """Return colour, marker and filling of each system: by its family, and hollow without persona.

    If families or personas do not distinguish the systems, all look the same.
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


def _alt(names: list[str], z: NDArray[np.float64], intervals: Intervals | None) -> str:
    known = [f"{name} {decimal(value)}" for name, value in zip(names, z, strict=True) if np.isfinite(value)]
    sure = f", each with its {intervals.level:.0%} interval and range of ranks" if intervals else ""
    return f"Dot plot of overall z{sure}, best first: {listed(known, LISTED)}."
