"""Measure certificates: how often any of their claims is false.

Every claim is read from the certificate and compared with the true scores by itself; nothing is inferred from
another claim. True scores are found as in `one_run`.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations

import numpy as np

from benchmarks.truth.one_run import DRAWS, truth_of
from benchmarks.truth.part import Count, Counted, Part
from qc.bundle.certificate import RankingClaims, claims_of
from qc.method.sample import take_sample
from qc.method.scores import score
from qc.robustness.intervals import intervals
from tests.qc.support.designs import DESIGNS, Design, run_of, with_equal_systems

COLUMNS = (
    "any claim false (≤ 5)",
    "best system not named (≤ 5)",
    "pairs that differ told apart",
    "systems named as perhaps the best",
)
_BAD, _GOOD = -15.0, 8.0
EVERY: dict[str, Design] = {
    "published": DESIGNS["published"],
    "published-equal": with_equal_systems(DESIGNS["published"]),
    "forty-equal": with_equal_systems(DESIGNS["forty"]),
    "twenty-equal": with_equal_systems(DESIGNS["twenty"]),
    "sixteen-equal": with_equal_systems(DESIGNS["sixteen"]),
    "tastes-equal": with_equal_systems(DESIGNS["tastes"]),
    "three": DESIGNS["three"],
    "halves": replace(
        DESIGNS["forty"],
        name="40 workers, five equal systems and five equal ones that are much worse",
        quality=(0.0,) * 5 + (_BAD,) * 5,
    ),
    "ahead": replace(
        DESIGNS["forty"],
        name="40 workers, one system ahead of nine equal ones",
        quality=(_GOOD,) + (0.0,) * 9,
    ),
    "seven": Design("7 workers, three equal systems", 7, quality=(0.0, 0.0, 0.0), careless=0.0),
}


def false_claims(claims: RankingClaims, true: Mapping[str, float]) -> list[str]:
    """Return the kinds of claims that are false of the `true` scores by system."""
    above = {name: sum(other > score for other in true.values()) for name, score in true.items()}
    below = {name: sum(other < score for other in true.values()) for name, score in true.items()}
    wrong = {
        "told_apart": any(true[pair.higher] <= true[pair.lower] for pair in claims.told_apart),
        "groups": any(
            true[one] <= true[other]
            for higher, lower in combinations(claims.groups, 2)
            for one in higher
            for other in lower
        ),
        # Systems that are equal may stand in any order, so a range must hold all their places.
        "ranks": any(
            rank.low > 1 + above[rank.system] or rank.high < len(true) - below[rank.system]
            for rank in claims.ranks
        ),
        "best_among": not any(above[name] == 0 for name in claims.best_among),
    }
    return [kind for kind, is_wrong in wrong.items() if is_wrong]


def _counting(key: str) -> Count:
    design = EVERY[key]
    scores_of = truth_of(design).z[:, 0]
    true = {f"system {number}": float(value) for number, value in enumerate(scores_of)}

    def count(number: int) -> Mapping[str, Counted]:
        sample = take_sample(run_of(design, np.random.default_rng([19, number])))
        claims = claims_of(intervals(sample, score(sample), DRAWS, number))
        scored = {rank.system: true[rank.system] for rank in claims.ranks}
        wrong = false_claims(claims, scored)
        differ = sum(one != other for one, other in combinations(scored.values(), 2))
        right = sum(true[pair.higher] > true[pair.lower] for pair in claims.told_apart)
        counts = (
            (float(bool(wrong)), 1),
            (float("best_among" in wrong), 1),
            (float(right), differ),
            (float(len(claims.best_among)), len(claims.ranks)),
        )
        return dict(zip(COLUMNS, counts, strict=True))

    return count


PARTS = {
    "certificate": Part(
        {"What certificates claim": COLUMNS}, {key: each.name for key, each in EVERY.items()}, _counting
    )
}
