"""Is the leader's chance to be the best right, and does its interval hold, for designs of known true scores?

Scores have independent normal errors of variance 1, whose draws are given, so that nothing but the leader is
counted. Some designs draw true scores from the belief that the chance begins with: as likely as not all are
equal, else the share ρ of true differences in what is seen is anything from 0 to 1. There the chance has to
be right on average. In the others some systems are worse, and must not make the leader look surer.
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from benchmarks.truth.part import Count, Counted, Part
from qc.robustness.intervals import CONTENDS, leader
from qc.statistics.resampling import upper_quantile

Array = NDArray[np.float64]
DRAWS = 999
# Below, between and above these the stated chance is counted by itself.
CUTS = (0.5, 0.9)
KINDS = ("any chance", "a chance up to 50 %", "a chance of 50 to 90 %", "a chance above 90 %")
COLUMNS = tuple(f"{kind}: {what}" for kind in KINDS for what in ("said", "is so"))
WITH_WORSE = ("leader's interval held (95)", "leader said to be best", "leader is best")


def _believed(systems: int, rng: np.random.Generator) -> Array:
    equal, share = rng.random() < 0.5, rng.random()
    return np.zeros(systems) if equal else rng.normal(0, np.sqrt(share / (1 - share)), systems)


BELIEVED = {"three-systems": 3, "ten-systems": 10}
# True scores in standard errors.
WORSE: Mapping[str, tuple[str, Callable[[np.random.Generator], Array]]] = {
    "ten-equal": ("10 equal", lambda _: np.zeros(10)),
    "one-worse": ("9 equal, 1 worse by 15", lambda _: np.append(np.zeros(9), -15)),
    "five-worse": ("5 equal, 5 worse by 10", lambda _: np.repeat([0.0, -10], 5)),
    "five-close": ("5 equal, 5 worse by 3", lambda _: np.repeat([0.0, -3], 5)),
    "three-equal": ("3 equal", lambda _: np.zeros(3)),
    "three-one": ("3 equal, 1 worse by 20", lambda _: np.append(np.zeros(3), -20)),
    "steps": ("10, each 1 below the one before", lambda _: -np.arange(10.0)),
    "spread": ("10, with a standard deviation of 3", lambda rng: rng.normal(0, 3, 10)),
    "spread-worse": (
        "5 with a standard deviation of 1, 5 worse by 10",
        lambda rng: np.append(rng.normal(0, 1, 5), np.full(5, -10)),
    ),
    "ahead": ("9 equal, 1 better by 3", lambda _: np.append(np.zeros(9), 3)),
}


def _of_leader(true: Array, rng: np.random.Generator) -> tuple[bool, float, float]:
    """Return whether the leader's interval holds, its stated chance, and the true one, by lot of equals."""
    seen, errors = true + rng.normal(size=len(true)), rng.normal(size=(DRAWS, len(true)))
    first = int(seen.argmax())
    apart = np.abs(errors - errors[:, [first]]) / np.sqrt(2)
    contends = (seen[first] - seen) / np.sqrt(2) <= upper_quantile(apart, CONTENDS)
    drawn, count, place = errors[:, contends], int(contends.sum()), int(contends[:first].sum())
    between = np.sqrt(2) * (1 - np.eye(count))
    found = leader(seen[contends], np.ones(count), between, drawn, drawn, rng)
    high = seen[first] + upper_quantile(np.abs(errors[:, first]), 0.95)
    best = true == true.max()
    held = bool(found.low[place] <= true[first] <= high)
    return held, float(found.best_chance[place]), float(best[first] / best.sum())


def _counting(key: str) -> Count:
    def count(number: int) -> Mapping[str, Counted]:
        rng = np.random.default_rng([5, number])
        _, said, so = _of_leader(_believed(BELIEVED[key], rng), rng)
        kind = KINDS[1 + int(np.searchsorted(CUTS, said))]
        return {
            f"{each}: {what}": (value, 1)
            for each in (KINDS[0], kind)
            for what, value in (("said", said), ("is so", so))
        }

    return count


def _counting_with_worse(key: str) -> Count:
    def count(number: int) -> Mapping[str, Counted]:
        rng = np.random.default_rng([6, number])
        found = _of_leader(WORSE[key][1](rng), rng)
        return {name: (float(value), 1) for name, value in zip(WITH_WORSE, found, strict=True)}

    return count


PARTS = {
    "belief": Part(
        {"The leader's chance": COLUMNS},
        {key: f"{count} systems" for key, count in BELIEVED.items()},
        _counting,
    ),
    "worse": Part(
        {"The leader among systems that are worse": WITH_WORSE},
        {key: name for key, (name, _) in WORSE.items()},
        _counting_with_worse,
    ),
}
