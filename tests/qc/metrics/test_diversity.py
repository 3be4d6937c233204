"""Variety, length and repetition, counted by hand."""

import numpy as np
import pytest

from qc.metrics.scoring import METRICS, diversity

REPLIES = ("I like tea a lot.", "I like tea too!", "i like tea, too")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # Words: i like tea a lot · i like tea too · i like tea too: 6 different ones of 13.
        ("distinct_1", 6 / 13),
        # Pairs: i-like, like-tea, tea-a, a-lot, tea-too: 5 different ones of 4 + 3 + 3.
        ("distinct_2", 5 / 10),
        ("words_per_reply", 13 / 3),
        # The third is the second again: 1 of 2 later replies.
        ("repeated_replies", 1 / 2),
        # Second: i-like-tea was there, like-tea-too not; third: both were: 3 of 4.
        ("repeated_trigrams", 3 / 4),
    ],
)
def test_by_hand(name: str, expected: float) -> None:
    assert diversity(name, REPLIES) == pytest.approx(expected)


@pytest.mark.parametrize("name", METRICS)
def test_silence_has_no_score(name: str) -> None:
    assert np.isnan(diversity(name, ()))


def test_one_reply_repeats_nothing_that_could_be_counted() -> None:
    assert np.isnan(diversity("repeated_replies", REPLIES[:1]))
    assert np.isnan(diversity("repeated_trigrams", REPLIES[:1]))
