"""Tables of scores, and of the uncertainty of scores and ranks."""

import numpy as np
import pandas as pd

from qc.analysis import Analysis
from qc.method.scores import Ceiling, places, raters_of
from qc.number_format import ranks, whole
from qc.render.table import (
    COUNT,
    INTERVAL,
    ONE,
    OVERALL,
    ROUGH_SHARE,
    SHARE,
    THREE,
    TWO,
    WRITTEN,
    Column,
    Form,
    Table,
    Tone,
    matrix,
    no_tone,
    shade,
)

# Added to the name of a person in a chatbot's place.
CEILING = " (human, the ceiling)"


def ranking(analysis: Analysis) -> Table:
    """Return the systems, best first, with the uncertainty of their order, if computed."""
    z, found = analysis.scores.z, analysis.intervals
    rank = places(z[OVERALL].to_numpy(np.float64))
    table = z[["system", "n", OVERALL]].assign(raw=analysis.scores.raw[OVERALL], rank=list(map(whole, rank)))
    columns = [Column("system", "System"), Column("rank", "Rank", WRITTEN), Column(OVERALL, "z", THREE)]
    if found is not None:
        table = table.assign(
            rank=list(map(ranks, found.rank_low.tolist(), found.rank_high.tolist())),
            low=found.z_low[:, 0],
            high=found.z_high[:, 0],
            first=np.where(np.isfinite(found.z_low[:, 0]), found.best_chance, np.nan),
        )
        columns += [INTERVAL, Column("first", "First", ROUGH_SHARE)]
    unit = "Conver\u00adsations" if analysis.run.items is None else "Judg\u00adments"
    table = table.assign(
        conversations=table["n"] // len(analysis.run.criteria),
        raters=raters_of(analysis.sample, analysis.scores),
    )
    counts = Column("conversations", unit, COUNT), Column("raters", "Raters", COUNT)
    if analysis.ceiling is not None:
        table = pd.concat([_people(analysis, analysis.ceiling), table], ignore_index=True)
    return Table(table, (*columns, Column("raw", "Raw", TWO), *counts))


def _people(analysis: Analysis, ceiling: Ceiling) -> pd.DataFrame:
    """Return the rows of people, which are above the systems and have no rank."""
    sample, names = analysis.sample, analysis.run.systems["system"]
    with_them = [sample.kept & (sample.systems == names.eq(name).argmax()) for name in ceiling.z["system"]]
    return pd.DataFrame(
        {
            "system": ceiling.z["system"] + CEILING,
            "rank": "–",
            OVERALL: ceiling.z[OVERALL],
            "raw": ceiling.raw[OVERALL],
            "n": ceiling.z["n"],
            "conversations": ceiling.z["n"] // len(analysis.run.criteria),
            "raters": [len(np.unique(sample.workers[rows])) for rows in with_them],
        }
    )


def ceiling(found: Ceiling) -> Table:
    """Return comparisons of each system with people by criterion; a reader sees them ordered by system."""
    columns = (
        Column("person", "Human"),
        Column("system", "System"),
        Column("criterion", "Criterion"),
        Column("person_z", "Human, z", TWO),
        Column("system_z", "System, z", TWO),
        Column("difference", "Difference", TWO),
        Column("p", "p (human higher)", THREE),
    )
    return Table(found.pairs, columns)


def z_scores(analysis: Analysis) -> Table:
    """Return z by criterion. The shading is strongest from 1 on."""
    return _scores(analysis.scores.z, "z", TWO, shade)


def raw_scores(analysis: Analysis) -> Table:
    """Return the raw scores by criterion."""
    return _scores(analysis.scores.raw, "raw", ONE)


def _scores(scores: pd.DataFrame, overall: str, form: Form, tone: Tone = no_tone) -> Table:
    """Return scores with the authors' headings in the file, and with our headings for a reader."""
    values = scores.drop(columns=["system", "n"])
    file = scores.rename(columns={"system": "model", "n": "N", OVERALL: overall})
    return matrix(file, "System", scores["system"], values.columns, values.to_numpy(np.float64), form, tone)


def intervals(analysis: Analysis) -> Table | None:
    """Return the interval of every score: one row per scale, system and criterion."""
    if (found := analysis.intervals) is None:
        return None
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
    return Table(pd.concat(parts, ignore_index=True))


def rank_ranges(analysis: Analysis) -> Table | None:
    """Return the ranges of ranks, chances to be the best, effective numbers of raters, and groups."""
    if (found := analysis.intervals) is None:
        return None
    scores = analysis.scores.z[OVERALL].to_numpy(np.float64)
    group = {system: number for number, members in enumerate(found.groups, 1) for system in members}
    return Table(
        pd.DataFrame(
            {
                "system": list(found.systems),
                "rank": pd.Series(places(scores)).astype("Int64"),
                "low": found.rank_low,
                "high": found.rank_high,
                "best_chance": found.best_chance,
                "effective_raters": found.effective_raters,
                "group": pd.array([group.get(system) for system in found.systems], "Int64"),
            }
        ),
        (
            Column("best_chance", form=SHARE),
            Column("effective_raters", form=ONE),
            Column("group", form=COUNT),
        ),
    )


def differences(analysis: Analysis) -> Table | None:
    """Return one row per pair of systems, the better one first; empty cells if one has no score.

    A reader sees only the pairs that are not distinguished.
    """
    if (found := analysis.intervals) is None:
        return None
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
    frame = pd.DataFrame(
        {
            "system": systems[better],
            "other": systems[worse],
            "difference": differences,
            "low": found.difference_low[better, worse],
            "high": found.difference_high[better, worse],
            "simultaneous_low": found.simultaneous_low[better, worse],
            "simultaneous_high": found.simultaneous_high[better, worse],
            "told_apart": told_apart,
        }
    )
    columns = (
        Column("system", "System"),
        Column("other", "Other"),
        Column("difference", "Difference in z", THREE),
        Column("simultaneous_low", INTERVAL.head, THREE, upper="simultaneous_high"),
    )
    return Table(frame, columns, frame[frame["told_apart"].eq(False).fillna(value=False)])
