"""Describe the workers, and estimate how often workers pass if their ratings do not depend on the bot."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.method.filter import worker_p_values
from qc.method.sample import Sample, as_given, scale_maximum
from qc.method.workload import assignment_minutes
from qc.run import Run, codes
from qc.statistics.groups import group_medians, group_mode_counts
from qc.statistics.resampling import generator

# Limits of the remarks. In the published runs 14 of the 311 workers who passed get a remark, and 61 of the
# 183 who failed.
MANY_IDENTICAL = 0.5
FEW_MINUTES = 1.0
FEW_WORDS = 2.0
NARROW = 0.05


def describe_workers(sample: Sample) -> pd.DataFrame:
    """Return one row per worker, in the order of the screening; all of a worker's conversations count.

    Columns:
        `worker` (str), `passed` (bool), `p` (float): as in the screening.
        `assignments`, `conversations` (int): numbers of the worker, including those with the QC bot.
        `sd` (float): standard deviation (ddof = 1) of the ratings as the worker gave them, negative criteria
            not reversed, all on one scale; NaN for a single rating.
        `identical` (float): share of the worker's ratings with the most frequent value, 0 to 1.
        `minutes` (float): median over the worker's assignments of the minutes per conversation; NaN if
            unknown.
        `words` (float): median number of words in an input, counted as in `qc.method.workload`; NaN if the
            source does not hold the texts, or the worker wrote nothing.
        `reason` (str): why the worker failed, empty if they passed.
        `remark` (str): unusual values to check, whether the worker passed or failed, joined by "; ": at least
            50 % of the ratings identical, or else their `sd` below 5 % of the scale; less than 1 minute per
            conversation; fewer than 2 words per input. Empty if there are none.
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


# A worker whose p is above this is hardly an honest one.
HALF = 0.5
SIMULATED = 10_000
FEWEST_SHUFFLES = 25
# Number of simulated p-values to keep, evenly spaced in their order, to show the distribution.
SHOWN = 2000
# Ratings processed at a time; limits the memory for any number of conversations.
BLOCK_CELLS = 2**21

# R copies: ratings, (R, rows, criteria), and whether a conversation was with the QC bot, (R, rows).
_Copies = tuple[NDArray[np.float64], NDArray[np.bool_]]
_Shuffled = Callable[[int, np.random.Generator], _Copies]


@dataclass(frozen=True)
class RandomPass:
    """Share of simulated random workers who pass; NaN if there are no workers to make them from.

    Attributes:
        conversations: share if each conversation keeps its ratings, and it is shuffled which conversations of
            an assignment were with the QC bot. This models workers whose opinion of a conversation does not
            depend on the bot. The ratings of a conversation are then correlated, and the test, which assumes
            independence, lets more than α pass.
        ratings: share if all ratings of a worker are shuffled. This models workers who set every slider at
            random: about α, a little less because p-values are discrete.
        error: standard error of `conversations`, over the workers that the simulation is made from; NaN for
            one worker.
        by_model, high_by_model: (models,), shares of the workers of `conversations` that are made from each
            model: those who pass, and those who have p above HALF.
        p: (2000,) or fewer, ascending, p-values of the workers of `conversations`, or an evenly spaced
            selection of them; empty if there are none.
    """

    conversations: float
    ratings: float
    error: float
    by_model: NDArray[np.float64]
    high_by_model: NDArray[np.float64]
    p: NDArray[np.float64]


def simulate_random_workers(sample: Sample, models: NDArray[np.bool_], seed: int) -> RandomPass:
    """Simulate random workers by shuffling ratings of the run's workers, and return how often they pass.

    Args:
        sample: the run.
        models: (workers,), whether random workers are made from this worker's ratings. About SIMULATED are
            made, the same number from each model; if there are too many models for FEWEST_SHUFFLES each, a
            random selection of them is used.
        seed: seed of the shuffles.
    """
    rng = generator(seed, "random workers")
    chosen = np.flatnonzero(models)
    if not len(chosen):
        return RandomPass(float("nan"), float("nan"), float("nan"), *(np.empty(0) for _ in range(3)))
    if len(chosen) > SIMULATED // FEWEST_SHUFFLES:
        chosen = np.sort(rng.choice(chosen, SIMULATED // FEWEST_SHUFFLES, replace=False))
    made, times, alpha = _Models.of(sample, chosen), SIMULATED // len(chosen), sample.screening.alpha
    conversations = made.p_values(times, made.shuffled_bots, rng)
    of_models = conversations.reshape(times, len(chosen))
    by_model = (of_models < alpha).mean(axis=0)
    ratings = made.p_values(times, made.shuffled_ratings, rng)
    return RandomPass(
        conversations=float((conversations < alpha).mean()),
        ratings=float((ratings < alpha).mean()),
        error=float(by_model.std(ddof=1) / np.sqrt(len(chosen))) if len(chosen) > 1 else float("nan"),
        by_model=by_model,
        high_by_model=(of_models > HALF).mean(axis=0),
        p=_thinned(np.sort(conversations)),
    )


def _thinned(ordered: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return at most SHOWN values: the middle one of each block of equal size."""
    step = -(-len(ordered) // SHOWN)
    return ordered[step // 2 :: step]


@dataclass(frozen=True)
class _Models:
    """The conversations of N workers, ordered by worker and assignment.

    Attributes:
        count: N.
        workers: (rows,), codes from 0 to N - 1.
        assignments: (rows,), codes in ascending order.
        is_qc: (rows,).
        ratings: (rows, criteria that count for quality control), higher is better.
    """

    count: int
    workers: NDArray[np.intp]
    assignments: NDArray[np.intp]
    is_qc: NDArray[np.bool_]
    ratings: NDArray[np.float64]

    @classmethod
    def of(cls, sample: Sample, chosen: NDArray[np.intp]) -> "_Models":
        code = np.full(len(sample.screening.workers), -1)
        code[chosen] = np.arange(len(chosen))
        assignments = codes(sample.run.conversations["assignment"])
        rows = np.flatnonzero(code[sample.workers] >= 0)
        rows = rows[np.lexsort((assignments[rows], code[sample.workers[rows]]))]
        begins = np.diff(assignments[rows], prepend=-1) != 0
        return cls(
            count=len(chosen),
            workers=code[sample.workers[rows]],
            assignments=np.cumsum(begins),
            is_qc=sample.is_qc[rows],
            ratings=sample.raw[:, sample.run.criteria["counts_for_qc"].to_numpy(bool)][rows],
        )

    def p_values(self, times: int, shuffled: _Shuffled, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return the p-values of N × `times` workers made by `shuffled`; p = 1 for one without variance."""
        block = max(1, BLOCK_CELLS // self.ratings.size)
        sizes = [min(block, times - start) for start in range(0, times, block)]
        return np.concatenate([self._tested(*shuffled(size, rng)) for size in sizes])

    def shuffled_bots(self, times: int, rng: np.random.Generator) -> _Copies:
        """Return copies whose `is_qc` is shuffled within each assignment."""
        order = _shuffles(self.assignments, times, rng)
        return np.broadcast_to(self.ratings, (times, *self.ratings.shape)), self.is_qc[order]

    def shuffled_ratings(self, times: int, rng: np.random.Generator) -> _Copies:
        """Return copies with all ratings of a worker shuffled."""
        order = _shuffles(np.repeat(self.workers, self.ratings.shape[1]), times, rng)
        ratings = self.ratings.ravel()[order].reshape(times, *self.ratings.shape)
        return ratings, np.broadcast_to(self.is_qc, (times, len(self.is_qc)))

    def _tested(self, ratings: NDArray[np.float64], is_qc: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the p-values of all copies, (N × copies,)."""
        times, rows = is_qc.shape
        workers = (self.workers + self.count * np.arange(times)[:, None]).ravel()
        return worker_p_values(ratings.reshape(times * rows, -1), workers, is_qc.ravel(), self.count * times)


def _shuffles(groups: NDArray[np.intp], times: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return (times, rows) random orders within each of `groups`, codes in ascending order."""
    return np.argsort(groups + rng.random((times, len(groups))), axis=1)
