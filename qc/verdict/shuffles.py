"""How often workers would pass whose ratings have nothing to do with the bot that they rate."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.method.filter import worker_p_values
from qc.method.sample import Sample
from qc.run import codes
from qc.statistics.chance import generator

SIMULATED = 10_000
FEWEST_SHUFFLES = 25


@dataclass(frozen=True, slots=True)
class RandomPass:
    """Share of simulated workers who pass; NaN if there is nobody to make them from.

    Attributes:
        conversations: of workers who keep what they gave each conversation, while which of an assignment's
            conversations were the qc bot's is shuffled. Right for workers who form an opinion of each
            conversation that has nothing to do with the bot: ratings of a conversation then hang together,
            and the test, which takes them as independent, passes more than α.
        ratings: of workers all of whose ratings are shuffled. Right for workers who set every slider anew
            at random: about α, a little less because p-values are discrete.
    """

    conversations: float
    ratings: float


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
        return RandomPass(float("nan"), float("nan"))
    if len(chosen) > SIMULATED // FEWEST_SHUFFLES:
        chosen = np.sort(rng.choice(chosen, SIMULATED // FEWEST_SHUFFLES, replace=False))
    copies = _Copies.of(sample, chosen, SIMULATED // len(chosen))
    return RandomPass(
        conversations=copies.pass_rate(copies.ratings, copies.shuffled_bots(rng)),
        ratings=copies.pass_rate(copies.shuffled_ratings(rng), copies.is_qc),
    )


@dataclass(frozen=True)
class _Copies:
    """The conversations of N workers, ordered by worker and assignment, R times over.

    Attributes:
        alpha: level at which a worker passes.
        count: N.
        workers: (rows,), codes from 0 to N - 1.
        assignments: (rows,), codes in ascending order.
        is_qc: (R, rows), all rows the same.
        ratings: (R, rows, criteria that count for quality control), higher is better.
    """

    alpha: float
    count: int
    workers: NDArray[np.intp]
    assignments: NDArray[np.intp]
    is_qc: NDArray[np.bool_]
    ratings: NDArray[np.float64]

    @classmethod
    def of(cls, sample: Sample, chosen: NDArray[np.intp], times: int) -> "_Copies":
        place = np.full(len(sample.screening.workers), -1)
        place[chosen] = np.arange(len(chosen))
        assignments = codes(sample.run.conversations["assignment"])
        rows = np.flatnonzero(place[sample.workers] >= 0)
        rows = rows[np.lexsort((assignments[rows], place[sample.workers[rows]]))]
        tested = sample.raw[:, sample.run.criteria["counts_for_qc"].to_numpy(bool)][rows]
        begins = np.diff(assignments[rows], prepend=-1) != 0
        return cls(
            alpha=sample.screening.alpha,
            count=len(chosen),
            workers=place[sample.workers[rows]],
            assignments=np.cumsum(begins),
            is_qc=np.broadcast_to(sample.is_qc[rows], (times, len(rows))),
            ratings=np.broadcast_to(tested, (times, *tested.shape)),
        )

    def shuffled_bots(self, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Return `is_qc`, shuffled within each assignment."""
        return np.take_along_axis(self.is_qc, _shuffles(self.assignments, len(self.is_qc), rng), axis=1)

    def shuffled_ratings(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return `ratings`, all those of a worker shuffled."""
        times, rows, criteria = self.ratings.shape
        order = _shuffles(np.repeat(self.workers, criteria), times, rng)
        flat = self.ratings.reshape(times, rows * criteria)
        return np.take_along_axis(flat, order, axis=1).reshape(self.ratings.shape)

    def pass_rate(self, ratings: NDArray[np.float64], is_qc: NDArray[np.bool_]) -> float:
        """Return the share of the N × R workers who pass; one without variance has p = 1."""
        times, rows = is_qc.shape
        workers = (self.workers + self.count * np.arange(times)[:, None]).ravel()
        flat = ratings.reshape(times * rows, -1)
        p = worker_p_values(flat, workers, is_qc.ravel(), self.count * times)
        return float((p < self.alpha).mean())


def _shuffles(groups: NDArray[np.intp], times: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return (times, rows) orders that shuffle within `groups`, codes in ascending order."""
    return np.argsort(groups + rng.random((times, len(groups))), axis=1)
