"""Ratings of single replies, by system, if a study asks for them."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.method.scores import Scores
from qc.run import codes
from qc.statistics.clustered_means import interval_of_correlation, means_by_group
from qc.statistics.correlation import FEWEST_POINTS
from qc.statistics.groups import group_means, group_sums
from qc.statistics.resampling import generator, unit_sums


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
