"""Estimate how often workers pass whose ratings do not depend on the bot."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.method.filter import worker_p_values
from qc.method.sample import Sample
from qc.method.standardise import as_given, scale_maximum
from qc.method.workload import assignment_minutes
from qc.run import Run, codes
from qc.statistics.groups import group_medians, group_mode_counts
from qc.statistics.resampling import generator

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


SIMULATED = 10_000
FEWEST_SHUFFLES = 25
# So many of the simulated p-values, evenly spaced in their order, show how they are distributed.
SHOWN = 2000
# Ratings that are worked on at a time; this bounds the memory, however many conversations a worker held.
BLOCK_CELLS = 2**21

# Ratings, (R, rows, criteria), and which conversations were the qc bot's, (R, rows), of R copies.
_Copies = tuple[NDArray[np.float64], NDArray[np.bool_]]
_Shuffled = Callable[[int, np.random.Generator], _Copies]


@dataclass(frozen=True)
class RandomPass:
    """Share of simulated workers who pass; NaN if there is nobody to make them from.

    Attributes:
        conversations: of workers who keep what they gave each conversation, while which of an assignment's
            conversations were the qc bot's is shuffled. Right for workers who form an opinion of each
            conversation that has nothing to do with the bot: ratings of a conversation then hang together,
            and the test, which takes them as independent, passes more than α.
        ratings: of workers all of whose ratings are shuffled. Right for workers who set every slider anew
            at random: about α, a little less because p-values are discrete.
        error: standard error of `conversations`, over the workers that they were made from, who differ; NaN
            for one.
        p: (2000,) or fewer, ascending, p-values of the workers of `conversations`, or evenly spaced ones of
            them; empty if there are none.
    """

    conversations: float
    ratings: float
    error: float
    p: NDArray[np.float64]


def simulate_random_workers(sample: Sample, models: NDArray[np.bool_], seed: int) -> RandomPass:
    """Return how often random workers pass who are made from workers of the run.

    Args:
        sample: where the workers are from.
        models: (workers,), from whose ratings random workers are made. About SIMULATED are made, equally
            many from each; if there are too many models for FEWEST_SHUFFLES each, some of them are drawn.
        seed: of the shuffles.
    """
    rng = generator(seed, "random workers")
    chosen = np.flatnonzero(models)
    if not len(chosen):
        return RandomPass(float("nan"), float("nan"), float("nan"), np.empty(0))
    if len(chosen) > SIMULATED // FEWEST_SHUFFLES:
        chosen = np.sort(rng.choice(chosen, SIMULATED // FEWEST_SHUFFLES, replace=False))
    made, times, alpha = _Models.of(sample, chosen), SIMULATED // len(chosen), sample.screening.alpha
    conversations = made.p_values(times, made.shuffled_bots, rng)
    by_model = (conversations.reshape(times, len(chosen)) < alpha).mean(axis=0)
    ratings = made.p_values(times, made.shuffled_ratings, rng)
    return RandomPass(
        conversations=float((conversations < alpha).mean()),
        ratings=float((ratings < alpha).mean()),
        error=float(by_model.std(ddof=1) / np.sqrt(len(chosen))) if len(chosen) > 1 else float("nan"),
        p=_thinned(np.sort(conversations)),
    )


def _thinned(ordered: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the middle one of every so many values, at most SHOWN."""
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
        """Return the p-values of N × `times` workers, made by `shuffled`; one without variance has p = 1."""
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
    """Return (times, rows) orders that shuffle within `groups`, codes in ascending order."""
    return np.argsort(groups + rng.random((times, len(groups))), axis=1)
