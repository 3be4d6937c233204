"""Intervals of scores, ranks and differences, and the groups of systems that they make."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from qc.method.scores import places
from qc.robustness.intervals import Intervals, intervals
from qc.sections import schema
from qc.sections.analysis import Analysis
from qc.sections.section import Json, MadeFile, Part, Section
from qc.table import COUNT, INTERVAL, ONE, OVERALL, SHARE, SYSTEM_COLUMN, THREE, Column, Table


def score_intervals(analysis: Analysis) -> Table | None:
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
        SYSTEM_COLUMN,
        Column("other", "Other"),
        Column("difference", "Difference in z", THREE),
        Column("simultaneous_low", INTERVAL.head, THREE, upper="simultaneous_high"),
    )
    return Table(frame, columns, frame[frame["told_apart"].eq(False).fillna(value=False)])


def _differences(found: Intervals) -> Json:
    return {
        "level": found.level,
        "systems": found.systems,
        "difference_low": found.difference_low,
        "difference_high": found.difference_high,
        "simultaneous_low": found.simultaneous_low,
        "simultaneous_high": found.simultaneous_high,
        "indistinct": found.indistinct,
        "groups": found.groups,
    }


_INTERVALS_SCHEMA = schema.record(
    "Differences between systems, from a bootstrap of whole workers.",
    level=schema.number("Chance that an interval holds the truth, here and in `systems`."),
    systems=schema.array("Names of rows and columns, best first.", schema.text()),
    difference_low=schema.shared(
        "matrix", "Lower ends of the differences of overall z, row − column, each pair for itself."
    ),
    difference_high=schema.shared("matrix", "Upper ends."),
    simultaneous_low=schema.shared("matrix", "Lower ends of the same differences, all pairs together."),
    simultaneous_high=schema.shared("matrix", "Upper ends."),
    indistinct=schema.array(
        "Pairs that cannot be told apart: the simultaneous interval holds 0 or is unknown.",
        {"type": "array", "items": schema.text(), "minItems": 2, "maxItems": 2},
    ),
    groups=schema.array(
        "Systems of a higher group are told apart from all of a lower one, best first.",
        schema.array(None, schema.text()),
    ),
)


def _summary(analysis: Analysis) -> Iterator[str]:
    """Yield a line for each group of distinguished systems, if there are two or more."""
    found = analysis.intervals
    if found is None or len(found.groups) < 2:
        return
    yield "Groups: every system of one is told apart from all of the next, all pairs taken together:"
    for place, group in enumerate(found.groups, start=1):
        yield f"  {place}. {', '.join(group)}"
    yield ""


INTERVALS = Part(
    kind=Intervals,
    make=lambda a: intervals(a.sample, a.scores, a.options.bootstrap, a.options.seed),
    key="intervals",
    content=_differences,
    option="intervals",
    notes=lambda found: found.notes,
    schema=_INTERVALS_SCHEMA,
)

# The chapters on the ranking and on differences show the results.
SECTION = Section(
    id="intervals",
    parts=(INTERVALS,),
    tables=(
        MadeFile("intervals.csv", "interval of every score", score_intervals, option="intervals"),
        MadeFile(
            "ranks.csv",
            "range of each system’s rank, its chance to be the best, its effective number of raters, its "
            "group",
            rank_ranges,
            option="intervals",
        ),
        MadeFile(
            "differences.csv",
            "difference of each pair of systems, its interval, whether they can be told apart",
            differences,
            option="intervals",
        ),
    ),
    summary=_summary,
)
