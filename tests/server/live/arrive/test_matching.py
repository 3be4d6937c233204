"""The cheapest matching, against SciPy's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from server.live.arrive.balance import cheapest_matching

COSTS = st.integers(1, 9).flatmap(
    lambda n: st.lists(
        st.lists(st.floats(0, 100, allow_nan=False) | st.integers(0, 3), min_size=n, max_size=n),
        min_size=n,
        max_size=n,
    )
)


@given(COSTS)
def test_it_costs_no_more_than_scipys(cost: list[list[float]]) -> None:
    columns = cheapest_matching(cost)
    assert sorted(columns) == list(range(len(cost)))
    rows, best = linear_sum_assignment(np.asarray(cost))
    least = sum(cost[row][column] for row, column in zip(rows, best, strict=True))
    assert sum(cost[row][column] for row, column in enumerate(columns)) == pytest.approx(least, abs=1e-9)


def test_nothing_is_matched_to_nothing() -> None:
    assert cheapest_matching([]) == []
