"""Tests of the pauses before programs try again."""

import pytest
from tenacity import AsyncRetrying, RetryCallState

from candor.common.network import backoff


# Half a pause to one and a half, where the pauses are 1, 2, 4, … with 10 as the longest.
@pytest.mark.parametrize(
    ("attempt", "shortest", "longest"), [(1, 0.5, 1.5), (2, 1, 3), (4, 4, 12), (5, 5, 15), (5000, 5, 15)]
)
def test_nobody_comes_back_at_once_nor_all_in_the_same_moment(
    attempt: int, shortest: float, longest: float
) -> None:
    tried = RetryCallState(AsyncRetrying(), None, (), {})
    tried.attempt_number = attempt
    pauses = [backoff(1.0, longest=10.0, growth=2.0)(tried) for _ in range(1000)]
    assert shortest <= min(pauses) <= max(pauses) <= longest
    # That of 1000 evenly drawn ones none lies in the lowest tenth has the probability 0.9^1000 < 1e-45.
    tenth = (longest - shortest) / 10
    assert min(pauses) < shortest + tenth
    assert max(pauses) > longest - tenth
