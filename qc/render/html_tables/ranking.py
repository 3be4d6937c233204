"""Scores, overall and by criterion."""

from functools import partial

import numpy as np

from qc.analysis import Analysis
from qc.number_format import decimal, percent, ranks, whole
from qc.render.html_tables.html_table import (
    Column,
    Columns,
    HtmlTable,
    Span,
    html_table,
    matrix,
    one,
    shade,
    two,
)
from qc.render.tables.named import OVERALL


def ranking(analysis: Analysis) -> dict[str, HtmlTable]:
    """Return the ranking, with what is known of how sure it is."""
    z, found = analysis.scores.z, analysis.intervals
    table = z[["system", "n", OVERALL]].assign(
        raw=analysis.scores.raw[OVERALL], place=np.arange(1, len(z) + 1)
    )
    place, sure = Column("place", "Rank", whole), Columns()
    if found is not None:
        places = map(ranks, found.rank_low.tolist(), found.rank_high.tolist())
        known = np.isfinite(found.z_low[:, 0])
        table = table.assign(
            place=list(places),
            low=found.z_low[:, 0],
            high=found.z_high[:, 0],
            first=np.where(known, found.best_chance, np.nan),
        )
        place = Column("place", "Rank", str)
        sure = (Span(), Column("first", "First", partial(percent, digits=0)))
    score, raw = Column(OVERALL, "z", decimal), Column("raw", "Raw", two)
    return {
        "ranking": html_table(
            table, Column("system", "System"), place, score, *sure, raw, Column("n", "n", whole)
        )
    }


def scores(analysis: Analysis) -> dict[str, HtmlTable]:
    """Return the scores by criterion. Shades of z are strongest from 1; raw scores have none."""
    names = [OVERALL, *analysis.run.criteria["label"]]
    z, raw = analysis.scores.z, analysis.scores.raw
    systems = z["system"].tolist()
    return {
        "scores z": matrix("System", systems, names, z[names].to_numpy(np.float64), two, shade),
        "scores raw": matrix("System", systems, names, raw[names].to_numpy(np.float64), one),
    }
