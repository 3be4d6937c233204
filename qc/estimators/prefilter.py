"""Estimate the loss from showing people only the systems that a metric likes best.

Source: Ji, PhD thesis, section 5.4.7: in its open-domain dialogues every word-overlap metric throws out the
system that people like best, if half of the systems are kept.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.statistics.noise import without_noise


@dataclass(frozen=True, slots=True)
class Prefilter:
    """Keeping the best systems by a metric before people are asked.

    Attributes:
        keep: how many were to be kept.
        kept: (S,), which are: those no worse than the `keep`-th best; ties at the cut stay.
        best_kept: whether a system that people like best is among them.
        top_kept: how many of the people's best `keep` are among them; of people's ties at their cut the
            first ones count.
        regret: the people's highest score minus their highest of the kept; 0 if the best is kept.
    """

    keep: int
    kept: NDArray[np.bool_]
    best_kept: bool
    top_kept: int
    regret: float


def prefilter(human: NDArray[np.float64], metric: NDArray[np.float64], keep: int) -> Prefilter:
    """Return what keeping the best `keep` systems by `metric` would have lost.

    Args:
        human: (S,), people's scores, higher is better; all known.
        metric: (S,), the metric's, higher is better; all known.
        keep: 1 to S.
    """
    people, scores = without_noise(human), without_noise(metric)
    kept = scores >= np.sort(scores)[-keep]
    best = np.argsort(-people, kind="stable")[:keep]
    regret = float(people.max() - people[kept].max())
    return Prefilter(keep, kept, regret == 0, int(kept[best].sum()), regret)


def half(systems: int) -> int:
    """Return how many of `systems` are kept where nothing else is asked for: half of them, rounded up."""
    return (systems + 1) // 2
