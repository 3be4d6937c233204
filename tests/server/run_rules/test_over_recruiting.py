"""Tests of over-recruiting: no more assignments under way than the observed dropout justifies."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.run_rules.decision import completing, most_under_way

COUNTS = st.integers(min_value=0, max_value=500)


def fewer_than(n: int, workers: int, p: float) -> float:
    """Return the probability that fewer than n of the workers complete, summed term by term."""
    return sum(math.comb(workers, k) * p**k * (1 - p) ** (workers - k) for k in range(min(n, workers + 1)))


@given(needed=st.integers(min_value=1, max_value=60), completed=COUNTS, dropped=COUNTS)
def test_the_last_who_is_let_in_is_as_likely_needed_as_not(needed: int, completed: int, dropped: int) -> None:
    """The theorem that the rule rests on, held against the sum."""
    under_way = most_under_way(needed, completed, dropped)
    p = completing(completed, dropped, under_way - 1)
    assert fewer_than(needed, under_way - 1, p) >= 0.5 - 1e-9


@given(needed=st.integers(min_value=0, max_value=10_000), completed=COUNTS, dropped=COUNTS)
def test_the_bounds(needed: int, completed: int, dropped: int) -> None:
    under_way = most_under_way(needed, completed, dropped)
    seen = completing(completed, dropped, 0)
    assert needed <= under_way <= math.ceil(needed / seen) <= 2 * needed
    # No more dropout is reckoned with than was seen.
    assert completed <= seen * (completed + dropped)
    assert seen <= completing(completed, dropped, under_way)
    assert most_under_way(needed, completed, 0) == needed


@pytest.mark.parametrize(
    ("needed", "completed", "dropped", "under_way"),
    [
        (0, 5, 5, 0),
        (10, 0, 0, 10),  # nobody has dropped out
        (10, 9, 1, 10),  # of 10, p = 20/21: 10 * 20/21 + 0.693 = 10.2 is no less than 10; of 9, 9.2 is
        (10, 7, 3, 11),  # of 11, p = 19/22: 9.5 + 0.693 = 10.2; of 10, p = 18/21: 9.3
        (10, 90, 30, 13),  # of 13, p = 104/134: 10.1 + 0.693 = 10.8; of 12, p = 103/133: 9.99
        (1, 7, 3, 1),  # of 1, p = 9/12: 0.75 + 0.693 = 1.4
        (20, 0, 5, 24),  # of 24, p = 25/30: 20 + 0.693; of 23, p = 24/29: 19.7
        (10, 0, 40, 19),  # p is no less than a half: 9.307 * 2 = 18.6
    ],
)
def test_by_hand(needed: int, completed: int, dropped: int, under_way: int) -> None:
    assert most_under_way(needed, completed, dropped) == under_way
