"""Table of every worker: filter result, amount of work, and use of the scale."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.method.duration import assignment_minutes
from qc.method.sample import Sample
from qc.method.standardise import as_given, scale_maximum
from qc.run import Run, codes
from qc.statistics.groups import group_medians, group_mode_counts

# In the published runs 14 of the 311 workers who passed get a remark, and 61 of the 183 who failed.
MANY_IDENTICAL = 0.5
FEW_MINUTES = 1.0
FEW_WORDS = 2.0
NARROW = 0.05


def describe_workers(sample: Sample) -> pd.DataFrame:
    """Return one row per worker, in the order of the screening; all of a worker's conversations count.

    Columns:
        `worker` (str), `passed` (bool), `p` (float): as in the screening.
        `assignments`, `conversations` (int): how many the worker did; the qc bot's count.
        `sd` (float): standard deviation (ddof = 1) of the ratings as the worker gave them, negative criteria
            not reversed, all on one scale; NaN with a single rating.
        `identical` (float): share of the worker's ratings that have the most frequent value, 0 to 1.
        `minutes` (float): median over the worker's assignments of the minutes per conversation; NaN if
            unknown.
        `words` (float): median number of words in an input, counted as in `qc.method.effort`; NaN if the
            source does not hold what was said, or the worker said nothing.
        `reason` (str): why the worker failed, empty if they passed.
        `remark` (str): what a closer look may be worth at, whether the worker passed or failed, joined by
            "; ": at least 50 % of the ratings identical, or else their `sd` below 5 % of the scale; less than
            1 minute per conversation; fewer than 2 words per input. Empty if there is none.
    """
    run, screened = sample.run, sample.screening.workers
    count = len(screened)
    owners, ratings = np.repeat(sample.workers, sample.raw.shape[1]), as_given(run).ravel()
    size = np.bincount(owners, minlength=count)
    table = pd.DataFrame(
        {
            "worker": screened["worker"],
            "passed": screened["passed"],
            "p": screened["p"],
            "assignments": np.bincount(codes(run.assignments["worker"]), minlength=count),
            "conversations": np.bincount(sample.workers, minlength=count),
            "sd": _deviations(ratings, owners, size),
            "identical": group_mode_counts(ratings, owners, count) / np.where(size > 0, size, np.nan),
            "minutes": _minutes(run, count),
            "words": _words(sample, count),
            "reason": screened["reason"],
        }
    )
    return table.assign(remark=_remarks(table, scale_maximum(run)))


def _remarks(workers: pd.DataFrame, maximum: float) -> pd.Series:
    identical, minutes, words = (
        workers[name].to_numpy(np.float64) for name in ("identical", "minutes", "words")
    )
    spread = workers["sd"].to_numpy(np.float64) / maximum
    remarks = pd.Series("", workers.index, dtype=str)
    for suspicious, text, values in (
        (identical >= MANY_IDENTICAL, "%.0f %% identical ratings", 100 * identical),
        (
            (spread < NARROW) & (identical < MANY_IDENTICAL),
            "ratings within a few points: sd %.1f %% of the scale",
            100 * spread,
        ),
        (minutes < FEW_MINUTES, "%.1f minutes per conversation", minutes),
        (words < FEW_WORDS, "%.1f words per input", words),
    ):
        remarks[suspicious] += pd.Series(
            np.char.mod(f"{text}; ", values[suspicious]), remarks.index[suspicious], dtype=str
        )
    return remarks.str.removesuffix("; ")


def _deviations(
    ratings: NDArray[np.float64], owners: NDArray[np.intp], size: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the standard deviation of each worker's ratings, exactly 0 if they are all the same."""
    first = np.zeros(len(size))
    first[owners[::-1]] = ratings[::-1]
    from_first = ratings - first[owners]
    sums, squares = (np.bincount(owners, power, len(size)) for power in (from_first, from_first**2))
    above = np.maximum(squares - sums**2 / np.maximum(size, 1), 0)
    return np.asarray(np.sqrt(above / np.where(size > 1, size - 1, np.nan)))


def _minutes(run: Run, count: int) -> NDArray[np.float64]:
    minutes = assignment_minutes(run)
    known = np.isfinite(minutes)
    return group_medians(minutes[known], codes(run.assignments["worker"])[known], count)


def _words(sample: Sample, count: int) -> NDArray[np.float64]:
    words = sample.run.words
    if words is None:
        return np.full(count, np.nan)
    known = sample.inputs_kept
    speakers = sample.workers[words.exchanges["conversation"].to_numpy()[known]]
    return group_medians(sample.input_lengths.words[known].astype(np.float64), speakers, count)
