"""The ratings of a run as arrays, also standardised by worker, from which every statistic is computed.

Source: Ji et al., ACL 2022, the section on scores: negative criteria are reversed, then every worker's
scores are scaled to mean 0 and standard deviation 1. The authors divide by sd + 1e-6. Without the 1e-6 no z
changes by more than 4e-8, and z does not depend on how widely a worker spreads their ratings.

The filter and z pool a worker's ratings on several criteria, which is only valid on one scale. If the
criteria of a run have different maxima (the published ones do not), all ratings are rescaled to 0 to 100.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.errors import EmptyRunError
from qc.method.filter import Screening, screen
from qc.run import REMOVED, Run, codes
from qc.statistics.confidence import without_noise
from qc.statistics.groups import group_means, group_sums, group_varies
from qc.statistics.text import TextLengths, written_lengths

COMMON_MAXIMUM = 100.0


def oriented(run: Run) -> NDArray[np.float64]:
    """Return the scores of `run`, (conversations, criteria): ratings on one scale, negative ones reversed."""
    ratings = run.ratings.to_numpy(np.float64)
    negative = run.criteria["negative"].to_numpy(bool)
    reversed_where_negative = np.where(negative, _maxima(run) - ratings, ratings)
    return _on_one_scale(reversed_where_negative, run)


def as_given(run: Run) -> NDArray[np.float64]:
    """Return the ratings of `run`, (conversations, criteria), on one scale, none of them reversed."""
    return _on_one_scale(run.ratings.to_numpy(np.float64), run)


def scale_maximum(run: Run) -> float:
    """Return the upper end of the scale of the scores of `run`; the lower end is 0."""
    return float(_maxima(run)[0]) if has_one_scale(run) else COMMON_MAXIMUM


def has_one_scale(run: Run) -> bool:
    """Return whether all criteria have the same maximum; if not, ratings are rescaled to 0 to 100."""
    return bool((_maxima(run) == _maxima(run)[:1]).all())


def _on_one_scale(values: NDArray[np.float64], run: Run) -> NDArray[np.float64]:
    # Multiply first, so that 1 of 3 and 2 of 6 give exactly the same number.
    return values if has_one_scale(run) else values * COMMON_MAXIMUM / _maxima(run)


def _maxima(run: Run) -> NDArray[np.float64]:
    return run.criteria["maximum"].to_numpy(np.float64)


def standardise(scores: NDArray[np.float64], workers: NDArray[np.intp], count: int) -> NDArray[np.float64]:
    """Return z = (score - mean) / sd, mean and sd (ddof = 1) over all scores of the worker.

    Args:
        scores: (conversations, criteria), including conversations with the QC bot.
        workers: (conversations,), codes from 0 to `count` - 1.
        count: number of workers.

    Returns:
        (conversations, criteria); NaN for a worker whose scores are all the same.
    """
    deviation = scores - group_means(scores, workers, count)[workers, None]
    # For a worker without variance the deviations may be rounding noise, so sd = 0 does not detect them.
    uneven = (scores != scores[:, :1]).any(axis=1)
    varies = group_varies(scores, workers, count) | (np.bincount(workers[uneven], minlength=count) > 0)
    degrees = np.where(varies, np.bincount(workers, minlength=count) * scores.shape[1] - 1, np.nan)
    sd = np.sqrt(group_sums(deviation * deviation, workers, count) / degrees)
    return np.asarray(deviation / sd[workers, None])


@dataclass(frozen=True)
class Sample:
    """A run with screened workers and standardised scores; rows are its conversations.

    In a run of transcripts, rows are judgments, each of one worker on one item, instead of
    `run.conversations`.

    C is the number of conversations, K the number of criteria, in the order of the run. Codes are those of
    the run's categories: a worker's code is the row in `screening.workers`, a system's the row in
    `run.systems`.

    Attributes:
        run: the data.
        screening: which workers passed.
        workers: (C,), codes.
        systems: (C,), codes.
        is_qc: (C,), whether the conversation was with the quality-control bot.
        raw: (C, K), ratings with negative criteria reversed, on one scale (`qc.method.sample.oriented`);
            higher is better.
        z: (C, K), `raw` standardised per worker; NaN for a worker whose ratings are all the same.
        items: (C,), codes of the judged items; None in a run of conversations.
    """

    run: Run
    screening: Screening
    workers: NDArray[np.intp]
    systems: NDArray[np.intp]
    is_qc: NDArray[np.bool_]
    raw: NDArray[np.float64]
    z: NDArray[np.float64]
    items: NDArray[np.intp] | None = None

    @cached_property
    def kept(self) -> NDArray[np.bool_]:
        """(C,), whether the worker passed; includes conversations with the QC bot and with people."""
        return self.screening.keeps(self.workers)

    @cached_property
    def competes(self) -> NDArray[np.bool_]:
        """(C,), whether the conversation was with a system that competes."""
        return self.run.competing[self.systems] & ~self.is_qc

    @cached_property
    def counted(self) -> NDArray[np.bool_]:
        """(C,), whether the conversation enters the scores: its system competes, its worker passed."""
        return self.kept & self.competes

    @cached_property
    def overall(self) -> dict[str, NDArray[np.float64]]:
        """For the scales `z` and `raw`: (C,), the mean over the criteria of each conversation."""
        return {"z": self.z.mean(axis=1), "raw": self.raw.mean(axis=1)}

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """(C,), weight of a counted row in its system's mean: 1 / (number of counted judgments of its item).

        So every item has the same weight, however many workers who passed judged it.
        """
        if self.items is None:
            return np.ones(len(self.systems))
        judgments = np.bincount(self.items[self.counted], minlength=int(self.items.max(initial=-1)) + 1)
        return 1 / np.maximum(judgments, 1)[self.items]

    @cached_property
    def tested(self) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Overall z and system of each unit in comparisons of systems, both (T,).

        A unit is a conversation, or an item with the mean of its judgments. Rounding noise is removed.
        """
        values, systems = self.overall["z"][self.counted], self.systems[self.counted]
        if self.items is not None:
            _, first, item = np.unique(self.items[self.counted], return_index=True, return_inverse=True)
            values, systems = group_means(values, item, len(first)), systems[first]
        return without_noise(values), systems

    @cached_property
    def input_lengths(self) -> TextLengths:
        """Words and characters of the inputs, in the order of `run.words.exchanges`; empty without words."""
        words = self.run.words
        return written_lengths(pd.Series([], dtype="str") if words is None else words.exchanges["input"])

    @cached_property
    def inputs_kept(self) -> NDArray[np.bool_]:
        """Whether each input's text is still there, in the order of `run.words.exchanges`."""
        words = self.run.words
        # Compare in pandas: for a large run, an array of strings takes seconds and a gigabyte.
        return np.ones(0, bool) if words is None else (words.exchanges["input"] != REMOVED).to_numpy(bool)

    @cached_property
    def overall_rounded(self) -> NDArray[np.float64]:
        """(C,), overall z without rounding noise, for ranking: equal data give exact ties."""
        return without_noise(self.overall["z"])


def take_sample(run: Run, alpha: float = 0.05) -> Sample:
    """Screen the workers of `run` at level `alpha`, standardise, and return the arrays.

    Raises:
        OptionError: `alpha` is not strictly between 0 and 1.
        EmptyRunError: no worker can be tested.
    """
    raw = oriented(run)
    screening = screen(run, raw, alpha)
    workers = codes(run.conversations["worker"])
    return Sample(
        run=run,
        screening=screening,
        workers=workers,
        systems=codes(run.conversations["system"]),
        is_qc=run.conversations["is_qc"].to_numpy(bool),
        raw=raw,
        z=standardise(raw, workers, len(screening.workers)),
    )


def require_competing(run: Run) -> None:
    """Raise EmptyRunError if all systems are people or the quality-control bot."""
    if not run.competing.any():
        raise EmptyRunError(
            f"{run.source}: only people and the quality-control bot took part in the run {run.name!r}, so "
            "there is no system to rank or to compare with people. Add a chatbot to the systems."
        )


@dataclass(frozen=True, slots=True)
class Count:
    """A total, and the part of it from workers who passed."""

    passed: int
    total: int

    @property
    def rate(self) -> float:
        """The share that passed, from 0 to 1."""
        return self.passed / self.total


@dataclass(frozen=True, slots=True)
class PassRates:
    """Counts of a run, with the part from workers who passed.

    `hits` counts distinct HIT ids among the passed and among the failed, as the authors' `passrate.csv`
    does: a HIT done by workers of both kinds counts in both. `conversations` does not count conversations
    with the QC bot; in a run of transcripts it counts judgments.
    """

    workers: Count
    hits: Count
    assignments: Count
    conversations: Count


def pass_rates(sample: Sample) -> PassRates:
    """Return the counts of the run."""
    run, screening = sample.run, sample.screening
    workers = screening.workers["passed"].to_numpy(bool)
    assignments = screening.keeps(codes(run.assignments["worker"]))
    hits = run.assignments["hit"]
    passed_hits, failed_hits = hits[assignments].nunique(), hits[~assignments].nunique()
    return PassRates(
        workers=Count(int(workers.sum()), len(workers)),
        hits=Count(passed_hits, passed_hits + failed_hits),
        assignments=Count(int(assignments.sum()), len(assignments)),
        conversations=Count(int(sample.counted.sum()), int(sample.competes.sum())),
    )
