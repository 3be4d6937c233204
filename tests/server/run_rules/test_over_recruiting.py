"""How many may be under way: never more than the dropout seen makes likely to be needed."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.run_rules.over_recruiting import completing, most_under_way

COUNTS = st.integers(min_value=0, max_value=500)


def fewer_than(n: int, workers: int, p: float) -> float:
    """Return the probability that fewer than n of the workers complete, summed term by term."""
    return sum(math.comb(workers, k) * p**k * (1 - p) ** (workers - k) for k in range(min(n, workers + 1)))


@given(needed=st.integers(min_value=1, max_value=60), completed=COUNTS, dropped=COUNTS)
def test_the_last_who_is_let_in_is_as_likely_needed_as_not(needed: int, completed: int, dropped: int) -> None:
    """The theorem that the rule rests on, held against the sum."""
    p = completing(completed, dropped)
    under_way = most_under_way(needed, completed, dropped)
    assert fewer_than(needed, under_way - 1, p) >= 0.5 - 1e-9


@given(needed=st.integers(min_value=0, max_value=10_000), completed=COUNTS, dropped=COUNTS)
def test_the_bounds(needed: int, completed: int, dropped: int) -> None:
    under_way = most_under_way(needed, completed, dropped)
    assert needed <= under_way <= math.ceil(needed / completing(completed, dropped)) <= 2 * needed
    # No more dropout is reckoned with than was seen.
    assert (
        completed / max(completed + dropped, 1) <= completing(completed, dropped) or completed == dropped == 0
    )
    assert most_under_way(needed, completed, 0) == needed


@pytest.mark.parametrize(
    ("needed", "completed", "dropped", "under_way"),
    [
        (0, 5, 5, 0),
        (10, 0, 0, 10),  # nobody has dropped out
        (10, 9, 1, 11),  # p = 10/11: (10 - 0.693) * 1.1 = 10.24
        (10, 7, 3, 13),  # p = 8/11: 9.307 * 1.375 = 12.8
        (1, 7, 3, 1),  # 0.307 * 1.375 = 0.42
        (10, 0, 40, 19),  # p is no less than a half: 9.307 * 2 = 18.6
    ],
)
def test_by_hand(needed: int, completed: int, dropped: int, under_way: int) -> None:
    assert most_under_way(needed, completed, dropped) == under_way
