"""Agreement between raters: by hand, where there is none, sampled, and as published."""

import json
from collections.abc import Callable
from itertools import combinations
from math import isnan, sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qc.method.agreement import Agreement, rater_agreement
from qc.method.sample import Sample, take_sample
from tests.qc.support.runs import run_of


def agreement_of(*held: tuple[str, list[tuple[str, float]]], limit: int = 100) -> Agreement:
    """Return the agreement of assignments: who did it, and system and rating of each conversation.

    A worker passes whose ratings of the qc bot are below all others: the level is just under 1/2.
    """
    conversations = [row for _, rows in held for row in rows]
    run = run_of(
        [worker for worker, rows in held for _ in rows],
        [system for system, _ in conversations],
        [[value] for _, value in conversations],
        [position for _, rows in held for position in range(1, len(rows) + 1)],
    )
    return rater_agreement(take_sample(run, 0.49), seed=0, limit=limit)


def rated(worker: str, *values: float, systems: str = "abc") -> tuple[str, list[tuple[str, float]]]:
    """Return an assignment: ratings of the qc bot, then of the systems."""
    return worker, [("qc", values[0]), *zip(systems, values[1:], strict=True)]


def test_by_hand() -> None:
    # ann and bob pass, eve and fay (who rate the qc bot highest) fail. z of a worker is a line through the
    # ratings, so r is that of the ratings. ann 0, 1, 2, 3 and bob 0, 2, 1, 3: sum of products 0 + 2 + 2 + 9
    # - 4 · 1.5² = 4, of squares 14 - 9 = 5: r = 4/5. eve 9, 1, 2, 3, fay 9, 1, 3, 2: products 81 + 1 + 6 + 6
    # - 4 · (15/4)² = 37.75, squares 95 - 56.25 = 38.75.
    found = agreement_of(
        rated("ann", 0, 1, 2, 3), rated("bob", 0, 2, 1, 3), rated("eve", 9, 1, 2, 3), rated("fay", 9, 1, 3, 2)
    )
    assert (found.passed.pairs, found.failed.pairs) == (1, 1)
    assert found.passed.r == pytest.approx([4 / 5], abs=1e-9)
    assert found.failed.r == pytest.approx([37.75 / 38.75], abs=1e-9)
    assert found.passed.median_r == found.passed.r[0]
    assert (found.seed, found.limit, found.passed.sampled) == (0, 100, False)


def test_only_the_same_systems_are_compared_in_whatever_order_they_came() -> None:
    ann, bob = rated("ann", 0, 1, 2, 3), ("bob", [("c", 6.0), ("a", 2.0), ("qc", 0.0), ("b", 4.0)])
    found = agreement_of(
        ann, bob, rated("cid", 0, 1, 2, 3, systems="abd"), rated("dan", 0, 1, 2, systems="ab")
    )
    assert found.passed.pairs == 1
    assert found.passed.r == pytest.approx([1], abs=1e-9)


def test_assignments_of_one_worker_are_a_pair() -> None:
    assert agreement_of(rated("ann", 0, 1, 2, 3), rated("ann", 0, 2, 1, 3)).passed.r == pytest.approx([0.8])


def test_profiles_without_r_are_left_out() -> None:
    # cleo rates all the same: no z. dora's second assignment is constant. Two systems always have |r| = 1.
    found = agreement_of(
        rated("cleo", 5, 5, 5, 5),
        rated("dora", 9, 1, 2, 3),
        rated("dora", 5, 5, 5, 5),
        rated("ann", 0, 1, systems="a"),
        rated("bob", 0, 1, systems="a"),
    )
    for group in (found.passed, found.failed):
        assert group.pairs == 0
        assert group.r.shape == (0,)
        assert isnan(group.median_r)


def test_a_system_met_twice_counts_once_with_its_mean() -> None:
    # a: (1 + 5) / 2 = 3; 0, 3, 2, 3 and 0, 1, 2, 3: products 3 + 4 + 9 - 4 · 2 · 1.5 = 4, squares 22 - 16 = 6
    # and 14 - 9 = 5.
    twice = ("ann", [("qc", 0.0), ("a", 1.0), ("b", 2.0), ("a", 5.0), ("c", 3.0)])
    assert agreement_of(twice, rated("bob", 0, 1, 2, 3)).passed.r == pytest.approx(
        [4 / sqrt(6 * 5)], abs=1e-9
    )


profiles = st.lists(
    st.tuples(st.sampled_from(["abc", "abd", "acd"]), st.permutations([1, 2, 3])), min_size=1, max_size=12
)


@given(held=profiles)
def test_every_pair_is_found(held: list[tuple[str, list[int]]]) -> None:
    found = agreement_of(
        *(rated(f"w{n:02}", 0, *values, systems=systems) for n, (systems, values) in enumerate(held))
    )
    expected = sorted(
        np.corrcoef([0, *one], [0, *other])[0, 1]
        for (here, one), (there, other) in combinations(held, 2)
        if here == there
    )
    assert found.passed.pairs == len(expected)
    assert found.passed.r == pytest.approx(expected, abs=1e-8)


def test_past_the_limit_pairs_are_drawn() -> None:
    ratings = np.random.default_rng(0).permuted(np.tile(np.arange(1.0, 100), (30, 1)), axis=1)[:, :3]
    held = [rated(f"w{number:02}", 0, *row) for number, row in enumerate(ratings)]
    # 30 · 29 / 2 = 435 pairs.
    whole, most, some = (agreement_of(*held, limit=limit).passed for limit in (435, 434, 200))
    assert (whole.pairs, len(whole.r), whole.sampled) == (435, 435, False)
    assert (most.pairs, len(most.r), most.sampled) == (435, 434, True)
    # No two pairs have the same r here, so none is drawn twice, and one only is not drawn.
    assert len(set(whole.r.tolist())) == 435
    assert len(set(most.r.tolist()) & set(whole.r.tolist())) == 434
    assert (np.diff(some.r) >= 0).all()
    np.testing.assert_array_equal(some.r, agreement_of(*held, limit=200).passed.r)
    # All pairs are equally likely: the mean is within four standard errors of that of all.
    error = whole.r.std() / sqrt(200) * sqrt(1 - 200 / 435)
    assert some.r.mean() == pytest.approx(whole.r.mean(), abs=4 * error)


@pytest.mark.published
@pytest.mark.parametrize("run", ["free_run1", "free_run2"])
def test_the_published_figures(
    published: Path, published_sample: Callable[[str, str], Sample], run: str
) -> None:
    found = rater_agreement(published_sample(run, "mturk_batch.csv"), seed=0)
    golden = json.loads((published / "golden" / run / "rater_agreement.json").read_text())
    for name, pairs in (("passed", found.passed), ("failed", found.failed)):
        assert (pairs.pairs, len(pairs.r), pairs.sampled) == (golden[name]["pairs"], pairs.pairs, False)
        assert pairs.median_r == pytest.approx(golden[name]["median_r"], abs=1e-6)
