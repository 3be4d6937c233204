"""The draw of pairs: every pair, both sides, and otherwise what tells most."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from server.db.counts import PairTally
from server.live.arrive.draws import draw_pairs, information, strengths
from server.session.plan import QC, derive_seed

NONE = PairTally()


def place(counts: dict[tuple[str, str], PairTally], plan: tuple[str, ...]) -> None:
    for pair in zip(plan[::2], plan[1::2], strict=True):
        before = counts.get(pair, NONE)
        counts[pair] = replace(before, placed=before.placed + 1)


def both_ways(counts: dict[tuple[str, str], PairTally], a: str, b: str) -> int:
    return counts.get((a, b), NONE).placed + counts.get((b, a), NONE).placed


@settings(max_examples=25)
@given(st.integers(2, 6), st.integers(1, 5), st.integers(1, 30), st.integers(0, 2**32))
def test_every_pair_comes(systems: int, pairs: int, workers: int, seed: int) -> None:
    names = [f"s{i}" for i in range(systems)]
    qc = 1 if pairs > 1 else 0
    counts: dict[tuple[str, str], PairTally] = {}
    for number in range(workers):
        plan = draw_pairs(names, counts, pairs=pairs, qc=qc, seed=derive_seed(seed, number))
        assert len(plan) == 2 * (pairs + qc)
        assert QC not in plan[:2] + plan[-2:]
        place(counts, plan)
    every = [(a, b) for a in names for b in names if a < b]
    held = [both_ways(counts, a, b) for a, b in every]
    mean = workers * pairs / len(every)
    assert sum(held) == workers * pairs
    assert min(held) >= min(1, int(mean / pairs))  # once before twice, up to the pairs of one assignment
    assert min(held) > mean / 2 - pairs - 1


def test_no_assignment_has_a_pair_twice_while_there_are_others() -> None:
    plan = draw_pairs(["a", "b", "c", "d"], {}, pairs=6, qc=0, seed=3)
    pairs = Counter(frozenset(pair) for pair in zip(plan[::2], plan[1::2], strict=True))
    assert set(pairs.values()) == {1}


def test_a_close_pair_is_drawn_rather_than_those_that_are_clear() -> None:
    # a and b are even, c loses to both: one more comparison with c would say what is known.
    counts = {
        ("a", "b"): PairTally(20, left=10, right=10),
        ("a", "c"): PairTally(20, left=20),
        ("b", "c"): PairTally(20, left=20),
    }
    plans = [draw_pairs(["a", "b", "c"], counts, pairs=1, qc=0, seed=seed) for seed in range(20)]
    assert {frozenset(plan) for plan in plans} == {frozenset("ab")}


def test_sides_are_balanced_and_nobody_can_tell_the_next_from_all_former_ones() -> None:
    # Two systems, so that workers compare the same two again and again, and the qc bot with either. Whoever
    # knows the rule guesses that the one who stood on the left less often is there: right in some 55 % where
    # chance is 50 %. Of 6 x 100 x 6 pairs that share has a standard error of 0.8 %. While that one always was
    # there, they were right in (1/2 + 1) / 2 = 75 %.
    right, of, ahead = 0.0, 0, []
    for seed in range(6):
        counts: dict[tuple[str, str], PairTally] = {}
        for number in range(100):
            plan = draw_pairs(["a", "b"], counts, pairs=5, qc=1, seed=derive_seed(seed, number))
            for left, other in zip(plan[::2], plan[1::2], strict=True):
                there, away = (counts.get(pair, NONE).placed for pair in ((left, other), (other, left)))
                right += 0.5 if there == away else there < away
                of += 1
                place(counts, (left, other))
        ahead.append(counts["a", "b"].placed - counts["b", "a"].placed)
        assert abs(counts["a", QC].placed + counts["b", QC].placed - 50) <= 15
    assert of == 3_600
    print(f"the system on the left: {right / of:.1%}")  # noqa: T201
    assert right / of < 0.58
    # A fair coin's difference would have a standard deviation of sqrt(500) = 22; this draw's is 1/sqrt(0.05).
    assert sum(difference**2 for difference in ahead) / 6 < 10**2


def test_a_pair_that_fell_behind_goes_first_however_little_it_tells() -> None:
    counts = {
        ("a", "b"): PairTally(20, left=10, right=10),
        ("a", "c"): PairTally(20, left=20),
        ("b", "c"): PairTally(3, left=3),
    }
    assert set(draw_pairs(["a", "b", "c"], counts, pairs=1, qc=0, seed=1)) == {"b", "c"}


def test_the_information_of_a_comparison_is_the_variance_of_its_score() -> None:
    # Davidson: P(win) = a/t, P(loss) = b/t, t = a + b + nu·√(ab); the score of log(a/b) is (win − loss)/2 −
    # its mean. For a = b = 1, nu = 1: each outcome 1/3, so the variance of ±1/2, 0 is 2/3 · 1/4 = 1/6.
    assert information(1.0, 1.0, 1.0) == pytest.approx(1 / 6)


def test_the_quick_fit_is_near_the_maximum_of_the_likelihood() -> None:
    names = ["a", "b", "c"]
    counts = {
        ("a", "b"): PairTally(60, left=30, ties=12, right=18),
        ("c", "b"): PairTally(60, left=15, ties=15, right=30),
        ("a", "c"): PairTally(60, left=38, ties=10, right=12),
    }

    def loss(values: np.ndarray) -> float:
        logs, nu = dict(zip(names, (0.0, *values[:2]), strict=True)), np.exp(values[2])
        total = 0.0
        for (left, right), count in counts.items():
            a, b = np.exp(logs[left]), np.exp(logs[right])
            root = nu * np.sqrt(a * b)
            shares = np.array([a, root, b]) / (a + b + root)
            total -= float(np.dot([count.left, count.ties, count.right], np.log(shares)))
        return total

    best = minimize(loss, np.zeros(3)).x
    strength, nu = strengths(names, counts)
    assert np.log(strength["b"] / strength["a"]) == pytest.approx(best[0], abs=0.1)
    assert np.log(strength["c"] / strength["a"]) == pytest.approx(best[1], abs=0.1)
    assert np.log(nu) == pytest.approx(best[2], abs=0.1)


def test_one_system_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="two systems"):
        draw_pairs(["a"], {}, pairs=1, qc=0, seed=0)
