"""Likeness of texts by their vectors, in two dimensions where it can be worked out."""

import numpy as np
import pytest

from qc.metrics.model_metrics import average, extrema, greedy, greedy_f1

ONE = np.array([[1.0, 0.0], [0.0, 1.0]])
OTHER = np.array([[1.0, 0.0]])


def test_average_by_hand() -> None:
    # Mean (.5, .5) with (1, 0): cosine 1/√2.
    assert average(ONE, OTHER) == pytest.approx(1 / np.sqrt(2))


def test_extrema_by_hand() -> None:
    # Farthest from 0 in each dimension: (1, −2); with (1, 0): 1/√5.
    assert extrema(np.array([[1.0, -2.0], [0.5, 1.0]]), OTHER) == pytest.approx(1 / np.sqrt(5))


def test_greedy_by_hand() -> None:
    # Of ONE the best cosines are 1 and 0, of OTHER 1: mean of .5 and 1.
    assert greedy(ONE, OTHER) == pytest.approx(0.75)


def test_f1_by_hand() -> None:
    # Precision .5, recall 1: 2 · .5 / 1.5.
    assert greedy_f1(ONE, OTHER) == pytest.approx(2 / 3)


@pytest.mark.parametrize("metric", [average, extrema, greedy, greedy_f1])
def test_a_text_is_like_itself_and_an_empty_one_like_nothing(metric) -> None:  # type: ignore[no-untyped-def]
    vectors = np.random.default_rng(1).normal(size=(5, 3))
    assert metric(vectors, vectors) == pytest.approx(1)
    assert np.isnan(metric(vectors, np.empty((0, 3))))
