"""Bradley-Terry-Davidson scores: against a general optimiser, and where there are none."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize

from qc.comparison.side_by_side import fit, groups, separate

Counts = NDArray[np.float64]


def both(wins: list[list[int]], ties: list[list[int]] | None = None) -> tuple[Counts, Counts]:
    """Return wins and ties as the model takes them; ties are given above the diagonal."""
    upper = np.array(ties if ties is not None else np.zeros_like(wins), float)
    return np.array(wins, float), upper + upper.T


def loss(values: Counts, wins: Counts, ties: Counts) -> float:
    """Minus the logarithm of the likelihood, written straight from the formula, without any of our code."""
    n = len(wins)
    strength, nu = np.exp(np.concatenate([[0.0], values[: n - 1]])), np.exp(values[n - 1])
    total = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            root = nu * np.sqrt(strength[i] * strength[j])
            whole = strength[i] + strength[j] + root
            for number, part in ((wins[i, j], strength[i]), (wins[j, i], strength[j]), (ties[i, j], root)):
                total -= number * np.log(part / whole)
    return float(total)


@settings(max_examples=25)
@given(st.integers(3, 6), st.integers(0, 2**32 - 1))
def test_the_maximum_is_the_one_that_a_general_optimiser_finds(systems: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    wins = rng.integers(1, 30, (systems, systems)).astype(float)
    np.fill_diagonal(wins, 0)
    upper = np.triu(rng.integers(0, 20, (systems, systems)), 1).astype(float)
    upper[0, 1] += 1
    ties = upper + upper.T
    best = minimize(loss, np.zeros(systems), args=(wins, ties), method="BFGS", options={"gtol": 1e-7}).x
    expected = np.concatenate([[0.0], best[: systems - 1]])
    found = fit(wins, ties)
    np.testing.assert_allclose(found.scores, expected - expected.mean(), atol=2e-4)
    assert found.nu == pytest.approx(np.exp(best[systems - 1]), rel=1e-3)
    np.testing.assert_allclose(
        found.scores, fit(wins, ties, start=rng.normal(size=systems)).scores, atol=1e-8
    )


def test_two_systems_by_hand() -> None:
    # 30 wins, 10 losses: π1/π2 = 30/10, so the scores differ by log 3. Ties: nu/(√3 + 1/√3 + nu) = 20/60,
    # so nu = (√3 + 1/√3) / 2 = 2/√3.
    found = fit(*both([[0, 30], [10, 0]], [[0, 20], [0, 0]]))
    assert found.scores[0] - found.scores[1] == pytest.approx(np.log(3))
    assert found.nu == pytest.approx(2 / np.sqrt(3))


def test_without_ties_it_is_the_model_of_bradley_and_terry() -> None:
    found = fit(*both([[0, 30], [10, 0]]))
    assert found.scores[0] - found.scores[1] == pytest.approx(np.log(3))
    assert found.nu == 0


def test_an_unbeaten_system_has_no_score_and_a_tie_gives_it_one() -> None:
    wins, ties = both([[0, 5, 5], [0, 0, 3], [0, 2, 0]])
    assert np.isnan(fit(wins, ties).scores).all()
    assert len(set(groups(wins, ties))) == 2
    ties[0, 1] = ties[1, 0] = 1
    assert np.isfinite(fit(wins, ties).scores).all()


@pytest.mark.parametrize(
    ("wins", "ties"),
    [
        ([[0, 3], [0, 0]], [[0, 2], [0, 0]]),
        ([[0, 0, 1], [0, 0, 0], [0, 0, 0]], [[0, 2, 0], [0, 0, 2], [0, 0, 0]]),
    ],
)
def test_wins_one_way_and_ties_the_other_fix_nothing(wins: list[list[int]], ties: list[list[int]]) -> None:
    """Differences d and log nu = d/2 (of neighbours) make every choice more likely the larger d is."""
    assert np.isnan(fit(*both(wins, ties)).scores).all()
    wins[-1][0] = 1  # one loss of the one that only won
    assert np.isfinite(fit(*both(wins, ties)).scores).all()


def test_systems_that_nothing_connects_have_no_scores() -> None:
    wins, ties = both([[0, 5, 0, 0], [4, 0, 0, 0], [0, 0, 0, 3], [0, 0, 2, 0]])
    assert separate(wins, ties).tolist() == [0, 0, 1, 1]
    assert np.isnan(fit(wins, ties).scores).all()


def test_nothing_but_ties_says_nothing() -> None:
    assert np.isnan(fit(*both([[0, 0], [0, 0]], [[0, 9], [0, 0]])).scores).all()


def test_scores_do_not_depend_on_the_order_of_systems() -> None:
    wins, ties = both([[0, 9, 4], [3, 0, 5], [2, 6, 0]], [[0, 3, 1], [0, 0, 2], [0, 0, 0]])
    order = [2, 0, 1]
    turned = fit(wins[np.ix_(order, order)], ties[np.ix_(order, order)])
    np.testing.assert_allclose(turned.scores, fit(wins, ties).scores[order], atol=1e-9)
