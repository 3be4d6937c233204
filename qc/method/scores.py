"""Scores of the systems, standardised and raw, their correlation by criterion, and their ceiling.

Source: Ji et al., ACL 2022, tables of system scores (thesis: tables 5.4 and A.2). A system's score on a
criterion is the mean over its kept conversations, its overall score the mean over the criteria. In a run of
transcripts it is the mean over its items, each with the mean over the workers who passed.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.statistics.correlation import correlation_matrix
from qc.statistics.groups import distinct, group_sums
from qc.statistics.noise import without_noise
from qc.statistics.rank_tests import rank_sum_less


@dataclass(frozen=True)
class Scores:
    """Scores of the competing systems, best first.

    `z` and `raw` have the same rows in the same order, by z, then by name, which is no rank (`places`);
    systems without a kept conversation come last. Columns: `system` (str), `n` (int: conversations ×
    criteria; of transcripts judgments × criteria), `overall` (float), then one column (float) per criterion
    in the order of the run's criteria. NaN where n is 0. `raw` is on the scale of the ratings, reversed:
    higher is better for every criterion. It is 0 to 100 for all criteria if their maxima differ.
    """

    z: pd.DataFrame
    raw: pd.DataFrame


def ranks_of(sample: Sample, scores: Scores) -> NDArray[np.intp]:
    """Return, by the code of each system, its row in the scores; −1 for the qc bot."""
    return np.asarray(pd.Index(scores.z["system"]).get_indexer(sample.run.systems["system"]))


def places(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rank of each value, 1 for the highest; equal ones share the best of theirs, NaN has none."""
    ranks = pd.Series(without_noise(values)).rank(ascending=False, method="min")
    return np.asarray(ranks, np.float64)


def leaders(scores: Scores) -> list[str]:
    """Return the systems with the highest overall z: one, or several that are equal; none without a score."""
    first = places(scores.z["overall"].to_numpy(np.float64)) == 1
    return list(scores.z.loc[first, "system"])


def raters_of(sample: Sample, scores: Scores) -> NDArray[np.intp]:
    """Return how many different workers a score is from, (systems,), in the order of the scores."""
    count = len(scores.z)
    rated = ranks_of(sample, scores)[sample.systems[sample.counted]]
    cells = distinct(sample.workers[sample.counted] * count + rated)
    return np.bincount(cells % count, minlength=count)


def score(sample: Sample) -> Scores:
    """Return the scores that the workers who passed gave to the systems."""
    counted, competing = sample.counted, sample.run.competing
    z_table = mean_scores(sample, sample.z, counted)[competing]
    by_z = z_table.assign(overall=without_noise(z_table["overall"].to_numpy(np.float64)))
    order = by_z.sort_values(["overall", "system"], ascending=[False, True], na_position="last").index
    return Scores(
        z=z_table.loc[order].reset_index(drop=True),
        raw=mean_scores(sample, sample.raw, counted).loc[order].reset_index(drop=True),
    )


def mean_scores(sample: Sample, scores: NDArray[np.float64], counted: NDArray[np.bool_]) -> pd.DataFrame:
    """Return one row per system of the run: the means of those rows of `scores` that are counted.

    Args:
        sample: whose conversations the rows are.
        scores: (conversations, criteria).
        counted: (conversations,).
    """
    run = sample.run
    systems = sample.systems[counted]
    count = len(run.systems)
    labels = run.criteria["label"].to_list()
    weights = sample.weights[counted]
    total = group_sums(weights, systems, count)
    means = pd.DataFrame(
        {
            label: group_sums(scores[counted, j] * weights, systems, count)
            / np.where(total > 0, total, np.nan)
            for j, label in enumerate(labels)
        }
    )
    means.insert(0, "overall", means[labels].mean(axis=1))
    means.insert(0, "n", np.bincount(systems, minlength=count) * len(labels))
    means.insert(0, "system", run.systems["system"])
    return means


# Source: Ji et al., ACL 2022; thesis, table 5.7, which is printed as if computed from z but holds the
# correlations of raw scores. Here both are given, each under its name.
@dataclass(frozen=True)
class CriteriaCorrelation:
    """Correlations over the systems between their scores on K criteria and overall.

    Attributes:
        names: "overall", then the labels of the criteria in the order of the run's.
        pearson: (1 + K, 1 + K), symmetric.
        spearman: (1 + K, 1 + K), symmetric.

    NaN with fewer than 3 systems that have a score, and where a criterion's scores do not vary, the
    diagonal included.
    """

    names: tuple[str, ...]
    pearson: NDArray[np.float64]
    spearman: NDArray[np.float64]


def correlate_criteria(scores: Scores) -> dict[str, CriteriaCorrelation]:
    """Return the correlations of the `z` and of the `raw` scores; systems without a score take no part."""
    return {"z": _correlate(scores.z), "raw": _correlate(scores.raw)}


def _correlate(table: pd.DataFrame) -> CriteriaCorrelation:
    columns = table.drop(columns=["system", "n"])
    values = columns.to_numpy(np.float64)
    return CriteriaCorrelation(
        names=tuple(columns.columns),
        pearson=correlation_matrix(values, "pearson"),
        spearman=correlation_matrix(values, "spearman"),
    )


@dataclass(frozen=True)
class Ceiling:
    """What the workers who passed said of people, and each system beside them.

    Attributes:
        z: one row per system that is a person, with the columns of `Scores.z`.
        raw: the same of raw scores.
        pairs: `person`, `system` (best first), `criterion` (`overall`, then each), `person_z`, `system_z`,
            `difference` (of the person from the system), `p` (one-sided: the person is rated higher; the
            published rank-sum test on conversations, without correction).
    """

    z: pd.DataFrame
    raw: pd.DataFrame
    pairs: pd.DataFrame


def find_ceiling(sample: Sample, scores: Scores) -> Ceiling | None:
    """Return where people stand beside the systems of `scores`; None where no system is another worker."""
    run = sample.run
    people = run.systems["system"].isin(run.people).to_numpy(bool)
    if not people.any():
        return None
    counted = sample.kept & people[sample.systems]
    z, raw = (
        mean_scores(sample, values, counted)[people].reset_index(drop=True)
        for values in (sample.z, sample.raw)
    )
    return Ceiling(z, raw, _pairs(sample, scores, z))


def _pairs(sample: Sample, scores: Scores, people: pd.DataFrame) -> pd.DataFrame:
    values = {
        "overall": sample.overall["z"],
        **dict(zip(sample.run.criteria["label"], sample.z.T, strict=True)),
    }
    codes = pd.Index(sample.run.systems["system"])
    rows = []
    for person in people.itertuples():
        theirs = sample.kept & (sample.systems == codes.get_loc(person.system))
        for system in scores.z["system"]:
            its = sample.kept & (sample.systems == codes.get_loc(system))
            for criterion, z in values.items():
                first, second = without_noise(z[theirs]), without_noise(z[its])
                means = [float(np.mean(of)) if len(of) else np.nan for of in (first, second)]
                p = rank_sum_less(second, first)
                rows.append((person.system, system, criterion, *means, means[0] - means[1], p))
    columns = ["person", "system", "criterion", "person_z", "system_z", "difference", "p"]
    return pd.DataFrame(rows, columns=columns)
