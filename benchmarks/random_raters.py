"""Do workers who rate transcripts at random pass the filter as often as its level says?

    python benchmarks/random_raters.py [WORKERS]

Each line is a list as a study may give it: how many pairs of a bad twin and its item a worker has met, and on
how many criteria that count for quality control each was rated. Three kinds of workers who do not read: every
slider anywhere; one impression of each item, by which all its sliders are set, 10 points apart at most; and
sliders that hardly leave the middle, in steps of 5.

Then what the two ways of the test itself do, with so many differences of which none is tied or 0: in how many
of all ways to give them a sign p lies below a level, by the normal approximation and by the exact test.
"""

import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from qc.statistics.rank_tests import signed_rank_p_values

LISTS = {
    "reading, 1 list": (10, 1),
    "reading, 2 lists": (20, 1),
    "questions, 1 list": (6, 4),
    "questions, 3 lists": (18, 4),
    "demo, 1 list": (6, 5),
}
LEVELS = (0.01, 0.05, 0.10)

Shape = tuple[int, int, int]
Drawn = Callable[[np.random.Generator, Shape], NDArray[np.float64]]


def anywhere(rng: np.random.Generator, shape: Shape) -> NDArray[np.float64]:
    return rng.integers(0, 101, shape).astype(np.float64)


def impressions(rng: np.random.Generator, shape: Shape) -> NDArray[np.float64]:
    whole = rng.integers(0, 101, (*shape[:2], 1))
    return np.clip(whole + rng.integers(-5, 6, shape), 0, 100).astype(np.float64)


def middling(rng: np.random.Generator, shape: Shape) -> NDArray[np.float64]:
    return 5.0 * np.rint(rng.normal(10, 1, shape))


KINDS: dict[str, Drawn] = {"anywhere": anywhere, "one impression": impressions, "middling": middling}


def pass_rates(drawn: Drawn, pairs: int, criteria: int, workers: int) -> list[float]:
    """Return the share of the workers who pass at each of LEVELS."""
    rng = np.random.default_rng([pairs, criteria])
    bad, ordinary = (drawn(rng, (workers, pairs, criteria)) for _ in range(2))
    owner = np.repeat(np.arange(workers), pairs * criteria)
    p = signed_rank_p_values((bad - ordinary).ravel(), owner, workers)
    return [float((p < level).mean()) for level in LEVELS]


def errors_of(pairs: int) -> tuple[list[float], list[float]]:
    """Return, at each of LEVELS, how often p lies below it: by the normal approximation, and exactly."""
    ways = np.ones(1)
    for rank in range(1, pairs + 1):
        ways = np.concatenate([ways, np.zeros(rank)]) + np.concatenate([np.zeros(rank), ways])
    chance, top = ways / ways.sum(), pairs * (pairs + 1) / 2
    spread = np.sqrt(pairs * (pairs + 1) * (2 * pairs + 1) / 24)
    by_way = ndtr((np.arange(len(ways)) - top / 2) / spread), np.cumsum(chance)
    normal, exact = ([float(chance[p < level].sum()) for level in LEVELS] for p in by_way)
    return normal, exact


def main() -> None:
    workers = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    print(f"{workers:,} workers a cell: % that pass at " + ", ".join(f"α = {level:g}" for level in LEVELS))
    print(f"{'':20}{'pairs':>7}" + "".join(f"{kind:>22}" for kind in KINDS))
    for name, (pairs, criteria) in LISTS.items():
        cells = (
            "/".join(f"{100 * share:.1f}" for share in pass_rates(drawn, pairs, criteria, workers))
            for drawn in KINDS.values()
        )
        print(f"{name:20}{pairs * criteria:7}" + "".join(f"{cell:>22}" for cell in cells))
    print(
        "\nDifferences: % with p below these levels, of all signs: by the normal approximation, and exactly"
    )
    for pairs in range(3, 31):
        cells = ("/".join(f"{100 * share:.2f}" for share in of_way) for of_way in errors_of(pairs))
        print(f"{pairs:27}" + "".join(f"{cell:>22}" for cell in cells))


if __name__ == "__main__":
    main()
