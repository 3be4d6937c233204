"""Weights that give a sample the margins of a population, by hand."""

import numpy as np
import pytest

from qc.groups.population import TOLERANCE, effective_size, rake


def test_one_field_takes_one_sweep() -> None:
    found = rake(np.array([30.0, 70.0]), [np.array([0, 1])], [np.array([0.5, 0.5])])
    assert found.weights == pytest.approx([5 / 3, 5 / 7])  # 50 / 30 and 50 / 70
    assert (found.sweeps, found.converged) == (1, True)


def test_two_fields_are_both_met_and_what_goes_with_what_is_kept() -> None:
    counts = np.array([30.0, 10.0, 10.0, 50.0])
    members = [np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])]
    shares = [np.array([0.7, 0.3]), np.array([0.2, 0.8])]
    found = rake(counts, members, shares)
    held = found.weights * counts / counts.sum()
    for of_field, wanted in zip(members, shares, strict=True):
        assert np.abs(np.bincount(of_field, held) - wanted).max() <= TOLERANCE
    # Multiplying rows and columns leaves the odds ratio as it was: 30 · 50 / (10 · 10).
    assert held[0] * held[3] / (held[1] * held[2]) == pytest.approx(15.0)


def test_margins_that_no_weights_meet_are_not_met() -> None:
    # Whoever is in the first group of the one field is in the first of the other.
    members = [np.array([0, 1]), np.array([0, 1])]
    found = rake(np.array([5.0, 5.0]), members, [np.array([0.5, 0.5]), np.array([0.9, 0.1])])
    assert not found.converged
    assert found.gap == pytest.approx(0.4)


def test_effective_size() -> None:
    assert effective_size(np.ones(7)) == 7
    assert effective_size(np.array([3.0, 1.0])) == pytest.approx(1.6)  # 16 / 10
    assert effective_size(np.array([])) == 0
