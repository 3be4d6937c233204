"""Every table of a report as a frame, under the name of its file.

Tables that the authors' scripts write too have the authors' columns and order. All numbers are in full
precision; what is not known is empty.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from qc.analysis import Analysis
from qc.method.criteria import CriteriaCorrelation
from qc.method.replication import Correlations
from qc.verdict.intervals import Intervals

Tables = dict[str, pd.DataFrame]
GROUPS = ("passed", "failed", "all")
OVERALL = "overall"


def tables(analysis: Analysis) -> Tables:
    """Return the tables by file name, in the order in which the report has them."""
    parts = (_scores, _certainty, _significance, _criteria, _replication, _forecast, _workers, _kept)
    more = (_agreement, _topics, _effort, _alpha, _persona, _context, _left_out)
    return {name: table for part in (*parts, *more) for name, table in part(analysis)}


Named = Iterator[tuple[str, pd.DataFrame]]


def _scores(analysis: Analysis) -> Named:
    yield "system_scores.csv", _authors_columns(analysis.scores.z, "z")
    yield "system_raw_scores.csv", _authors_columns(analysis.scores.raw, "raw")


def _authors_columns(scores: pd.DataFrame, overall: str) -> pd.DataFrame:
    return scores.rename(columns={"system": "model", "n": "N", OVERALL: overall})


def _certainty(analysis: Analysis) -> Named:
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
    """Return one row per pair of systems, the better one first."""
    better, worse = np.triu_indices(len(found.systems), 1)
    systems = np.array(found.systems, dtype=object)
    overall = analysis.scores.z[OVERALL].to_numpy(np.float64)
    indistinct = set(found.indistinct)
    pairs = list(zip(systems[better], systems[worse], strict=True))
    return pd.DataFrame(
        {
            "system": systems[better],
            "other": systems[worse],
            "difference": overall[better] - overall[worse],
            "low": found.difference_low[better, worse],
            "high": found.difference_high[better, worse],
            "told_apart": [pair not in indistinct and pair[::-1] not in indistinct for pair in pairs],
        }
    )


def _significance(analysis: Analysis) -> Named:
    if (found := analysis.significance) is not None:
        yield "significance_pvalues.csv", _square("", found.systems, found.p)
        yield "significance_holm.csv", _square("", found.systems, found.holm)
    if (clusters := analysis.clusters) is not None:
        corrected = {
            system: number for number, group in enumerate(clusters.holm_groups, 1) for system in group
        }
        rows = [
            (system, number, corrected[system])
            for number, group in enumerate(clusters.groups, 1)
            for system in group
        ]
        yield "clusters.csv", pd.DataFrame(rows, columns=["system", "group", "group_holm"])


def _square(corner: str, names: Sequence[str], values: ArrayLike) -> pd.DataFrame:
    """Return a matrix as the authors write it: its names above, and in a first column without a name."""
    table = pd.DataFrame(np.asarray(values, dtype=np.float64), columns=list(names))
    table.insert(0, corner, list(names), allow_duplicates=True)
    return table


def _criteria(analysis: Analysis) -> Named:
    if (found := analysis.criteria) is not None:
        yield "corr_between_scores.csv", _both_triangles(found["z"], "z")
        yield "corr_between_raw_scores.csv", _both_triangles(found["raw"], "raw")


def _both_triangles(found: CriteriaCorrelation, overall: str) -> pd.DataFrame:
    """Return the authors' table: Pearson above the diagonal, Spearman below, nothing on it."""
    return _square("", (overall, *found.names[1:]), triangles(found))


def triangles(found: CriteriaCorrelation) -> NDArray[np.float64]:
    """Return (1 + K, 1 + K): Pearson above the diagonal, Spearman below, NaN on it."""
    values = np.triu(found.pearson, 1) + np.tril(found.spearman, -1)
    np.fill_diagonal(values, np.nan)
    return values


def _replication(analysis: Analysis) -> Named:
    found = analysis.replication
    if found is None:
        return
    yield "corr_zscore_r1r2.csv", _correlations(found.z, "z")
    yield "corr_rawscore_r1r2.csv", _correlations(found.raw, "raw")
    if found.without_shared is not None:
        yield "corr_zscore_r1r2_without_shared_workers.csv", _correlations(found.without_shared, "z")
    same = found.same_conclusions
    yield (
        "replication.csv",
        pd.DataFrame(
            {
                "run": [found.name],
                "systems": [len(found.systems)],
                "same_conclusions": [same.n],
                "pairs": [same.of],
                "alpha": [same.alpha],
                "shared_workers": [found.shared_workers],
            }
        ),
    )
    yield "replication_points.csv", found.points


def _correlations(found: Correlations, overall: str) -> pd.DataFrame:
    """Return the authors' table: a row per coefficient, a column per criterion."""
    rows = {"pearson": found.pearson, "spearman": found.spearman, "kendall": found.kendall}
    table = pd.DataFrame(list(rows.values())).rename(columns={OVERALL: overall})
    table.insert(0, "", list(rows), allow_duplicates=True)
    return table


def _forecast(analysis: Analysis) -> Named:
    if (found := analysis.forecast) is not None:
        yield (
            "forecast.csv",
            pd.DataFrame(
                [(OVERALL, found.r, found.low, found.high)]
                + [(label, r, np.nan, np.nan) for label, r in found.criteria.items()],
                columns=["criterion", "r", "low", "high"],
            ),
        )


def _workers(analysis: Analysis) -> Named:
    yield "worker_pvalues.csv", analysis.sample.screening.workers[["worker", "p"]]
    if (found := analysis.filter_check) is not None:
        yield "workers.csv", found.workers
        yield (
            "filter.csv",
            pd.DataFrame(
                {
                    "expected_random_pass": [found.expected_random_pass],
                    "simulated_random_pass": [found.simulated_random_pass],
                    "random_share": [found.random_share],
                    "random_among_passed": [found.random_among_passed],
                    "random_among_passed_bound": [found.random_among_passed_bound],
                    "everyone_r": [found.everyone_r],
                    "everyone_rho": [found.everyone_rho],
                }
            ),
        )
        yield "everyone.csv", found.everyone


def _kept(analysis: Analysis) -> Named:
    rates, minutes, load, cost = analysis.rates, analysis.minutes, analysis.workload, analysis.cost
    yield (
        "passrate.csv",
        pd.DataFrame(
            [
                (name, count.passed, count.total, count.rate)
                for name, count in (("HIT", rates.hits), ("Worker", rates.workers))
            ],
            columns=["", "passed", "total", "passrate"],
        ),
    )
    yield (
        "duration.csv",
        pd.DataFrame([(minutes.passed, minutes.failed, minutes.all)], columns=["passed", "failed", "all"]),
    )
    yield (
        "kept.csv",
        pd.DataFrame(
            [
                (name, count.passed, count.total - count.passed, count.total, count.rate)
                for name, count in (
                    ("workers", rates.workers),
                    ("assignments", rates.assignments),
                    ("HIT ids", rates.hits),
                    ("conversations with systems", rates.conversations),
                )
            ],
            columns=["unit", "passed", "failed", "total", "rate"],
        ),
    )
    spreads = [(group, getattr(load, group)) for group in GROUPS]
    yield (
        "workload.csv",
        pd.DataFrame(
            [(group, spread.count, spread.mean, spread.median, spread.maximum) for group, spread in spreads],
            columns=["group", "workers", "mean", "median", "maximum"],
        ),
    )
    yield (
        "cost.csv",
        pd.DataFrame(
            {
                "reward": [cost.reward],
                "paid_assignments": [cost.paid_assignments],
                "total": [cost.total],
                "per_kept_assignment": [cost.per_kept_assignment],
                "per_kept_conversation": [cost.per_kept_conversation],
            }
        ),
    )


def _agreement(analysis: Analysis) -> Named:
    found = analysis.agreement
    if found is None:
        return
    groups = {"passed": found.passed, "failed": found.failed}
    yield (
        "rater_agreement.csv",
        pd.DataFrame(
            [(group, pairs.pairs, pairs.median_r, pairs.sampled) for group, pairs in groups.items()],
            columns=["group", "pairs", "median_r", "sampled"],
        ),
    )
    yield (
        "rater_agreement_r.csv",
        pd.concat(
            [pd.DataFrame({"group": group, "r": pairs.r}) for group, pairs in groups.items()],
            ignore_index=True,
        ),
    )


def _topics(analysis: Analysis) -> Named:
    found = analysis.topics
    if found is None:
        return
    yield (
        "topics_opinions.csv",
        pd.DataFrame(
            [
                (which, group, shares.n, shares.like, shares.ambivalent, shares.dislike)
                for which, by_group in (("opening", found.opening), ("every", found.every))
                for group, shares in by_group.items()
            ],
            columns=["topics", "group", "n", "like", "ambivalent", "dislike"],
        ),
    )
    yield (
        "topic_changes.csv",
        pd.DataFrame(
            [
                (group, kind, count, count / changes.n if changes.n else np.nan)
                for group, changes in found.changes.items()
                for kind, count in changes.counts.items()
            ],
            columns=["group", "kind", "count", "share"],
        ),
    )
    yield "topic_words.csv", pd.DataFrame(found.words, columns=["word", "count"])


def _effort(analysis: Analysis) -> Named:
    found = analysis.effort
    if found is None:
        return
    measures = (
        "inputs_per_conversation",
        "words_per_input",
        "words_per_conversation",
        "characters_per_input",
        "characters_per_conversation",
    )
    lengths = [
        (group, measure, getattr(getattr(found, group), measure)) for group in GROUPS for measure in measures
    ]
    yield (
        "effort.csv",
        pd.DataFrame(
            [(group, measure, each.n, each.mean, each.median) for group, measure, each in lengths],
            columns=["group", "measure", "n", "mean", "median"],
        ),
    )


def _alpha(analysis: Analysis) -> Named:
    found = analysis.alpha
    if found is None:
        return
    rows = [
        (level.alpha, level.workers, level.conversations, level.ranking_rho, level.replication_r, *level.z)
        for level in found.levels
    ]
    columns = ["alpha", "workers", "conversations", "ranking_rho", "replication_r"]
    yield "alpha.csv", pd.DataFrame(rows, columns=[*columns, *(f"z {system}" for system in found.systems)])


def _persona(analysis: Analysis) -> Named:
    found = analysis.persona
    if found is None:
        return
    pooled = () if found.pooled is None else (found.pooled,)
    yield (
        "persona.csv",
        pd.DataFrame(
            [
                (f.family, f.with_persona, f.without, f.z_with, f.z_without, f.difference, f.low, f.high, f.p)
                for f in (*found.families, *pooled)
            ],
            columns=[
                "family",
                "with_persona",
                "without",
                "z_with",
                "z_without",
                "difference",
                "low",
                "high",
                "p",
            ],
        ),
    )


def _context(analysis: Analysis) -> Named:
    if (found := analysis.context) is not None:
        yield (
            "context.csv",
            pd.DataFrame(
                [
                    (
                        effect.name,
                        level.name,
                        level.n,
                        level.effect,
                        level.low,
                        level.high,
                        effect.statistic_name,
                        effect.statistic,
                        effect.p,
                    )
                    for effect in found.effects
                    for level in effect.levels
                ],
                columns=["effect", "level", "n", "mean", "low", "high", "statistic_name", "statistic", "p"],
            ),
        )
    if (adjusted := analysis.adjusted) is not None:
        yield (
            "adjusted.csv",
            pd.DataFrame(
                {
                    "system": list(adjusted.systems),
                    "plain": adjusted.plain,
                    "adjusted": adjusted.adjusted,
                    "low": adjusted.low,
                    "high": adjusted.high,
                }
            ),
        )
        yield "adjusted_coefficients.csv", adjusted.coefficients


def _left_out(analysis: Analysis) -> Named:
    yield (
        "left_out.csv",
        pd.DataFrame(
            [(out.assignment, out.worker, out.reason) for out in analysis.run.left_out],
            columns=["assignment", "worker", "reason"],
        ),
    )
