"""Scores, and how sure they and their order are."""

import numpy as np
import pandas as pd

from qc.analysis import Analysis
from qc.render.tables.named import OVERALL, Named
from qc.robustness.intervals import Intervals


def scores(analysis: Analysis) -> Named:
    """Yield the scores of the systems."""
    yield "system_scores.csv", _authors_columns(analysis.scores.z, "z")
    yield "system_raw_scores.csv", _authors_columns(analysis.scores.raw, "raw")


def _authors_columns(scores: pd.DataFrame, overall: str) -> pd.DataFrame:
    return scores.rename(columns={"system": "model", "n": "N", OVERALL: overall})


def certainty(analysis: Analysis) -> Named:
    """Yield the intervals of scores, ranks and differences."""
    found = analysis.intervals
    if found is None:
        return
    yield "intervals.csv", _interval_table(analysis, found)
    yield (
        "ranks.csv",
        pd.DataFrame(
            {
                "system": list(found.systems),
                "rank": np.arange(1, len(found.systems) + 1),
                "low": found.rank_low,
                "high": found.rank_high,
                "best_chance": found.best_chance,
            }
        ),
    )
    yield "differences.csv", _difference_table(analysis, found)


def _interval_table(analysis: Analysis, found: Intervals) -> pd.DataFrame:
    """Return one row per scale, system and criterion."""
    names = [OVERALL, *analysis.run.criteria["label"]]
    parts = [
        pd.DataFrame(
            {
                "scale": scale,
                "system": np.repeat(list(found.systems), len(names)),
                "criterion": np.tile(names, len(found.systems)),
                "score": scores[names].to_numpy(np.float64).ravel(),
                "low": low.ravel(),
                "high": high.ravel(),
            }
        )
        for scale, scores, low, high in (
            ("z", analysis.scores.z, found.z_low, found.z_high),
            ("raw", analysis.scores.raw, found.raw_low, found.raw_high),
        )
    ]
    return pd.concat(parts, ignore_index=True)


def _difference_table(analysis: Analysis, found: Intervals) -> pd.DataFrame:
    """Return one row per pair of systems, the better one first; empty where one has no score."""
    better, worse = np.triu_indices(len(found.systems), 1)
    systems = np.array(found.systems, dtype=object)
    overall = analysis.scores.z[OVERALL].to_numpy(np.float64)
    indistinct = set(found.indistinct)
    pairs = zip(systems[better], systems[worse], strict=True)
    differences = overall[better] - overall[worse]
    told_apart = pd.array(
        [pair not in indistinct and pair[::-1] not in indistinct for pair in pairs], "boolean"
    )
    told_apart[np.isnan(differences)] = pd.NA
    return pd.DataFrame(
        {
            "system": systems[better],
            "other": systems[worse],
            "difference": differences,
            "low": found.difference_low[better, worse],
            "high": found.difference_high[better, worse],
            "told_apart": told_apart,
        }
    )
