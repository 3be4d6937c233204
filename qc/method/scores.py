"""Scores of the systems: standardised and raw, by criterion and scenario, of replies, and beside people.

Source: Ji et al., ACL 2022, tables of system scores (thesis: tables 5.4 and A.2). A system's score on a
criterion is the mean over its kept conversations, and its overall score the mean over the criteria. In a run
of transcripts, the score is the mean over the system's items; an item's value is the mean over the workers
who passed.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.run import codes
from qc.statistics.clustered_means import FEWEST_WORKERS, interval_of_correlation, means_by_group
from qc.statistics.confidence import without_noise
from qc.statistics.correlation import FEWEST_POINTS, correlation_matrix
from qc.statistics.groups import distinct, group_means, group_sums
from qc.statistics.rank_tests import rank_sum_less
from qc.statistics.resampling import generator, unit_sums


@dataclass(frozen=True)
class Scores:
    """Scores of the competing systems, best first.

    `z` and `raw` have the same rows in the same order: by z, then by name. Equal scores share a rank, so a
    row number is not a rank (`places`). Systems without a kept conversation come last.

    Columns: `system` (str), `n` (int: conversations × criteria; in a run of transcripts judgments ×
    criteria), `overall` (float), then one column (float) per criterion in the order of the run's criteria.
    NaN if n is 0. `raw` is on the scale of the ratings, with negative criteria reversed, so higher is better
    for every criterion. If the maxima of the criteria differ, `raw` is on 0 to 100 for all of them.
    """

    z: pd.DataFrame
    raw: pd.DataFrame


def ranks_of(sample: Sample, scores: Scores) -> NDArray[np.intp]:
    """Return the row in the scores of each system, indexed by system code; −1 for the QC bot."""
    return np.asarray(pd.Index(scores.z["system"]).get_indexer(sample.run.systems["system"]))


def places(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rank of each value, 1 for the highest; ties share the best rank, the rank of NaN is NaN."""
    ranks = pd.Series(without_noise(values)).rank(ascending=False, method="min")
    return np.asarray(ranks, np.float64)


def leaders(scores: Scores) -> list[str]:
    """Return the systems with the highest overall z: several if tied, none if no system has a score."""
    first = places(scores.z["overall"].to_numpy(np.float64)) == 1
    return list(scores.z.loc[first, "system"])


def raters_of(sample: Sample, scores: Scores) -> NDArray[np.intp]:
    """Return the number of workers behind each score, (systems,), in the order of the scores."""
    count = len(scores.z)
    rated = ranks_of(sample, scores)[sample.systems[sample.counted]]
    cells = distinct(sample.workers[sample.counted] * count + rated)
    return np.bincount(cells % count, minlength=count)


def score(sample: Sample) -> Scores:
    """Compute the scores of the systems from the workers who passed."""
    counted, competing = sample.counted, sample.run.competing
    z_table = mean_scores(sample, sample.z, counted)[competing]
    by_z = z_table.assign(overall=without_noise(z_table["overall"].to_numpy(np.float64)))
    order = by_z.sort_values(["overall", "system"], ascending=[False, True], na_position="last").index
    return Scores(
        z=z_table.loc[order].reset_index(drop=True),
        raw=mean_scores(sample, sample.raw, counted).loc[order].reset_index(drop=True),
    )


def mean_scores(sample: Sample, scores: NDArray[np.float64], counted: NDArray[np.bool_]) -> pd.DataFrame:
    """Return one row per system of the run: the means of its counted rows of `scores`.

    Args:
        sample: the conversations, one per row.
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


# Source: Ji et al., ACL 2022; thesis, table 5.7. It is labelled as computed from z but holds the correlations
# of raw scores. Here both are given, each under its own name.
@dataclass(frozen=True)
class CriteriaCorrelation:
    """Correlations over the systems between their scores on K criteria and overall.

    Attributes:
        names: "overall", then the labels of the criteria in the order of the run's.
        pearson: (1 + K, 1 + K), symmetric.
        spearman: (1 + K, 1 + K), symmetric.

    NaN, including the diagonal, if fewer than 3 systems have a score, or if a criterion's scores do not vary.
    """

    names: tuple[str, ...]
    pearson: NDArray[np.float64]
    spearman: NDArray[np.float64]


class CriteriaCorrelations(dict[str, CriteriaCorrelation]):
    """The correlations of the scores `z` and `raw`."""


def correlate_criteria(scores: Scores) -> CriteriaCorrelations:
    """Return the correlations of the `z` and of the `raw` scores, over the systems with a score."""
    return CriteriaCorrelations(z=_correlate(scores.z), raw=_correlate(scores.raw))


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
    """Scores of people from the workers who passed, and comparisons of the systems with them.

    Attributes:
        z: one row per system that is a person, with the columns of `Scores.z`.
        raw: the same for raw scores.
        pairs: `person`, `system` (best first), `criterion` (`overall`, then each), `person_z`, `system_z`,
            `difference` (person minus system), `p` (one-sided: the person is rated higher; the published
            rank-sum test on conversations, without correction).
    """

    z: pd.DataFrame
    raw: pd.DataFrame
    pairs: pd.DataFrame


def find_ceiling(sample: Sample, scores: Scores) -> Ceiling | None:
    """Compare people with the systems of `scores`; None if no system is a person."""
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


# With fewer workers, a score depends strongly on each of them.
FEW_WORKERS = 10


@dataclass(frozen=True)
class ScenarioScores:
    """Scores by scenario, over the workers who passed, like the overall scores.

    Attributes:
        table: `scenario`, `system` (empty: all systems), `n` (conversations), `workers` (int), `z` (mean
            overall z), `low`, `high` (its interval; NaN as in `means_by_group`). By scenario, all
            systems first, then the systems, best first.
        notes: scenarios with few workers.
    """

    table: pd.DataFrame
    notes: tuple[str, ...]


def score_scenarios(sample: Sample, scores: Scores, draws: int, seed: int) -> ScenarioScores | None:
    """Return the scores by scenario; None if the run has no scenarios, or they are unknown.

    Args:
        sample: the conversations.
        scores: gives the order of the systems.
        draws: number of draws for the intervals.
        seed: seed of the draws.
    """
    given = sample.run.scenarios
    if given is None:
        return None
    counted = sample.counted & given.notna().to_numpy(bool)
    labels = given.cat.categories.to_list()
    scenario = codes(given)[counted]
    values, workers = sample.overall["z"][counted], sample.workers[counted]
    systems = scores.z["system"].to_list()
    rank = ranks_of(sample, scores)[sample.systems[counted]]
    cell = np.asarray(scenario * len(systems) + rank, np.intp)
    rng = generator(seed, "bootstrap of scenarios")
    whole = means_by_group(values, workers, scenario, len(labels), draws, rng)
    single = means_by_group(values, workers, cell, len(labels) * len(systems), draws, rng)
    rows = []
    for at, label in enumerate(labels):
        rows.append((label, "", int((scenario == at).sum()), *(part[at] for part in whole)))
        for place, system in enumerate(systems):
            here = at * len(systems) + place
            rows.append((label, system, int((cell == here).sum()), *(part[here] for part in single)))
    columns = ["scenario", "system", "n", "workers", "z", "low", "high"]
    return ScenarioScores(pd.DataFrame(rows, columns=columns), tuple(_few(labels, whole[0].tolist())))


def _few(labels: list[str], workers: list[int]) -> list[str]:
    few = [f"{label} ({n})" for label, n in zip(labels, workers, strict=True) if n < FEW_WORKERS]
    if not few:
        return []
    return [
        f"Scenarios rated by fewer than {FEW_WORKERS} workers who passed, in brackets: {', '.join(few)}. "
        f"Their scores stand on few shoulders, and below {FEWEST_WORKERS} workers there are no intervals."
    ]


@dataclass(frozen=True)
class TurnRatings:
    """Ratings of single replies by workers who passed, from 0 to 100; for thumbs, the share of thumbs up.

    Attributes:
        systems: `system` (people first, then best first by the scores of conversations, the QC bot last),
            `human` (bool: a person in a chatbot's place), `replies` (NaN if the texts are unknown), `rated`
            (int), `rated_share` (of the replies), `workers` (int), `mean`, `low`, `high` (its interval; NaN
            as in `means_by_group`).
        conversations: number of conversations that enter `r`: with a system, with a rated reply, and by a
            worker who has several such conversations.
        r: Pearson's correlation, over these conversations, of the mean of the rated replies with overall z,
            both as deviations from the worker's own mean; NaN if it does not exist.
        r_low, r_high: its interval; NaN as in `interval_of_correlation`.
    """

    systems: pd.DataFrame
    conversations: int
    r: float
    r_low: float
    r_high: float


def describe_turn_ratings(sample: Sample, scores: Scores, draws: int, seed: int) -> TurnRatings | None:
    """Return the ratings of replies by the workers who passed; None if there are none, or they are unknown.

    Args:
        sample: the conversations.
        scores: gives the order of the systems.
        draws: number of resamples of workers.
        seed: seed of the resamples.
    """
    run = sample.run
    if run.turn_ratings is None:
        return None
    row = run.turn_ratings["conversation"].to_numpy(np.intp)
    kept = sample.kept[row]
    row, values = row[kept], run.turn_ratings["value"].to_numpy(np.float64)[kept]
    r, r_low, r_high, conversations = _with_scores(sample, row, values, draws, seed)
    return TurnRatings(_by_system(sample, scores, row, values, draws, seed), conversations, r, r_low, r_high)


def _by_system(
    sample: Sample,
    scores: Scores,
    row: NDArray[np.intp],
    values: NDArray[np.float64],
    draws: int,
    seed: int,
) -> pd.DataFrame:
    names = sample.run.systems["system"]
    rng = generator(seed, "bootstrap of rated replies")
    systems = sample.systems[row]
    workers, mean, low, high = means_by_group(
        values, sample.workers[row], systems, len(names), draws, rng, (0, 100)
    )
    replies, rated = _replies(sample), np.bincount(systems, minlength=len(names))
    table = pd.DataFrame(
        {
            "system": names,
            "human": names.isin(sample.run.people).to_numpy(bool),
            "replies": replies,
            "rated": rated,
            "rated_share": rated / np.where(replies > 0, replies, np.nan),
            "workers": workers,
            "mean": mean,
            "low": low,
            "high": high,
        }
    )
    qc = names[sample.run.systems["is_qc"]].to_list()
    people = names[names.isin(sample.run.people)].to_list()
    return table.set_index("system").loc[[*people, *scores.z["system"], *qc]].reset_index()


def _replies(sample: Sample) -> NDArray[np.float64]:
    """Return the number of each system's replies to the workers who passed; NaN if unknown."""
    run = sample.run
    if run.words is None:
        return np.full(len(run.systems), np.nan)
    said = run.words.exchanges
    row = said.loc[said["reply"].notna(), "conversation"].to_numpy(np.intp)
    row = row[sample.kept[row]]
    return np.bincount(codes(run.conversations["system"])[row], minlength=len(run.systems)).astype(np.float64)


def _with_scores(
    sample: Sample, row: NDArray[np.intp], values: NDArray[np.float64], draws: int, seed: int
) -> tuple[float, float, float, int]:
    """Return `r`, `r_low`, `r_high` and `conversations` of `TurnRatings`."""
    here, conversation = np.unique(row[sample.counted[row]], return_inverse=True)
    mean = group_means(values[sample.counted[row]], conversation, len(here))
    names, worker = np.unique(sample.workers[here], return_inverse=True)
    several = np.bincount(worker, minlength=len(names))[worker] > 1
    x, y = (_own(part, worker, len(names))[several] for part in (mean, sample.overall["z"][here]))
    count = int(several.sum())
    if count < FEWEST_POINTS or not x.any() or not y.any():
        return np.nan, np.nan, np.nan, count
    products = np.column_stack([x * x, y * y, x * y])
    who = worker[several].astype(np.intp)
    sums = unit_sums(products, who, np.zeros(count, np.intp), (len(names), 1))[:, 0]
    sums = sums[np.bincount(who, minlength=len(names)) > 0]
    rng = generator(seed, "bootstrap of replies and scores")
    return *interval_of_correlation(sums, draws, rng), count


def _own(values: NDArray[np.float64], worker: NDArray[np.intp], count: int) -> NDArray[np.float64]:
    """Return `values` as deviations from their worker's mean."""
    total, number = group_sums(values, worker, count), np.bincount(worker, minlength=count)
    return np.asarray(values - (total / number)[worker])
