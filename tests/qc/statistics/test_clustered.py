"""Tests of clustered errors: against matrices written out, in degenerate cases, and in bulk."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import t as student

from qc.statistics import clustered
from qc.statistics.clustered import ClusteredFit, carriers

Matrix = NDArray[np.float64]
WANTED = np.array([[1.0, -1, 0, 0], [0, 0, 0, 1], [0.5, 0.5, -1, 2]])


def made_up(seed: int = 0, rows: int = 110, clusters: int = 14) -> tuple[Matrix, Matrix, NDArray[np.intp]]:
    """Return a design with three groups and a slope, a response, and clusters of uneven sizes."""
    rng = np.random.default_rng(seed)
    of = np.floor(clusters * rng.random(rows) ** 1.5).astype(np.intp)
    design = np.column_stack([np.eye(3)[rng.integers(3, size=rows)], rng.normal(size=rows)])
    return design, rng.normal(size=rows) + rng.normal(size=clusters)[of], of


def written_out(design: Matrix, clusters: NDArray[np.intp], wanted: Matrix) -> tuple[Matrix, Matrix]:
    """Return A (clusters, Q, rows), each cluster's score of a contrast as weights of y, and C M, (Q, rows).

    Of Bell and McCaffrey: c (XᵀX)⁻¹ X_wᵀ (I - H)_ww^(-1/2) times the residuals (I - H) y of cluster w.
    """
    inverse = np.linalg.inv(design.T @ design)
    left = np.eye(len(design)) - design @ inverse @ design.T
    scores = []
    for cluster in np.unique(clusters):
        rows = clusters == cluster
        values, vectors = np.linalg.eigh(left[np.ix_(rows, rows)])
        root = vectors / np.sqrt(values) @ vectors.T
        scores.append(wanted @ inverse @ design[rows].T @ root @ left[rows])
    return np.array(scores), wanted @ inverse @ design.T


def test_errors_and_degrees_are_those_of_the_matrices() -> None:
    design, response, clusters = made_up()
    weights, estimator = written_out(design, clusters, WANTED)
    found = ClusteredFit(design, response, clusters).contrasts(WANTED)
    np.testing.assert_allclose(found.estimates, estimator @ response)
    np.testing.assert_allclose(found.errors, np.sqrt(((weights @ response) ** 2).sum(axis=0)))
    for q, degrees in enumerate(found.degrees):
        # The variance is Σ (a_w y)², of normal y with eigenvalues λ of the products a_v·a_w: (Σ λ)² / Σ λ².
        spread = np.linalg.eigvalsh(weights[:, q] @ weights[:, q].T)
        assert degrees == pytest.approx(spread.sum() ** 2 / (spread**2).sum())
        assert degrees < 12, "of 14 clusters, since they are uneven"
    expected = 2 * student.sf(np.abs(found.estimates / found.errors), found.degrees)
    np.testing.assert_allclose(found.p(), expected)
    low, high = found.interval()
    np.testing.assert_allclose(high - found.estimates, student.ppf(0.975, found.degrees) * found.errors)
    np.testing.assert_allclose(found.estimates - low, high - found.estimates)


def test_the_joint_test_is_that_of_the_matrices() -> None:
    design, response, clusters = made_up(seed=1)
    weights, estimator = written_out(design, clusters, WANTED)
    values, vectors = np.linalg.eigh(estimator @ estimator.T)
    weights = np.einsum("qk,wqn->wkn", vectors / np.sqrt(values), weights)
    pairs = np.einsum("van,wbn->vwab", weights, weights)
    # Var(D_ab) of D = Σ_w (a_w y)(b_w y)ᵀ, over all a and b; a Wishart matrix of mean I has q (q + 1) / η.
    total = np.einsum("vwaa,vwbb->", pairs, pairs) + np.einsum("vwab,vwba->", pairs, pairs)
    eta, free = 3 * 4 / total, 3
    level = (vectors / np.sqrt(values)).T @ estimator @ response
    scores = weights @ response
    squared = level @ np.linalg.solve(scores.T @ scores, level)
    found = ClusteredFit(design, response, clusters).test(WANTED)
    left = eta - free + 1
    assert found.name == f"F(3, {left:.1f})"
    assert found.statistic == pytest.approx(left / (eta * free) * squared)
    # What depends on the others adds nothing.
    more = np.vstack([WANTED, WANTED[0] - WANTED[1]])
    assert ClusteredFit(design, response, clusters).test(more).p == pytest.approx(found.p)


def test_a_mean_of_clusters_of_one_row_has_the_textbooks_error() -> None:
    values = np.array([3.0, 5.0, 1.0, 8.0])
    found = ClusteredFit(np.ones((4, 1)), values, np.arange(4)).contrasts(np.ones((1, 1)))
    # Deviations -1.25, 0.75, -3.25, 3.75: squares add up to 26.75, over 3 and 4.
    assert found.errors[0] ** 2 == pytest.approx(26.75 / 3 / 4)
    assert found.degrees[0] == pytest.approx(3)


def test_two_means_have_the_error_of_welch() -> None:
    groups, values = np.array([0, 0, 0, 1, 1]), np.array([1.0, 2, 6, 4, 8])
    found = ClusteredFit(np.eye(2)[groups], values, np.arange(5)).contrasts(np.array([[1.0, -1]]))
    # Variances (4 + 1 + 9) / 2 = 7 and (4 + 4) / 1 = 8.
    assert found.errors[0] ** 2 == pytest.approx(7 / 3 + 8 / 2)


def test_what_the_design_does_not_tell() -> None:
    design, response, clusters = made_up()
    doubled = np.column_stack([design, design[:, 0] + design[:, 1]])
    wanted = np.array([[1.0, 0, 0, 0, 0], [1, -1, 0, 0, 0], [0, 0, 0, 1, 0]])
    found = ClusteredFit(doubled, response, clusters).contrasts(wanted)
    plain = ClusteredFit(design, response, clusters).contrasts(wanted[1:, :4])
    assert np.isnan([found.estimates[0], found.errors[0], found.p()[0]]).all()
    np.testing.assert_allclose(found.errors[1:], plain.errors)
    assert np.isnan(ClusteredFit(doubled, response, clusters).test(wanted).p)


def test_what_a_single_cluster_decides_has_no_error() -> None:
    design, response, clusters = made_up()
    lone = np.column_stack([design, clusters == 13])
    found = ClusteredFit(lone, response, clusters).contrasts(np.eye(5)[3:])
    assert np.isfinite(found.estimates).all()
    assert np.isfinite(found.errors[0])
    assert np.isnan([found.errors[1], found.p()[1], found.interval()[0][1]]).all()


def test_without_spread_there_is_no_p() -> None:
    design, _, clusters = made_up()
    found = ClusteredFit(design, design @ np.arange(4.0), clusters).contrasts(WANTED)
    assert not found.errors.any()
    assert np.isnan(found.p()).all()
    assert np.isnan(ClusteredFit(design, design @ np.arange(4.0), clusters).test(WANTED).statistic)


def test_light_clusters_change_little(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    clusters = np.repeat(np.arange(3000), 2)
    clusters[:300] = 0  # one that is not light
    design, response = np.eye(2)[rng.integers(2, size=6000)], rng.normal(size=6000)
    wanted = np.array([[1.0, -1]])
    quick = ClusteredFit(design, response, clusters)
    found = quick.contrasts(wanted), quick.test(wanted)
    monkeypatch.setattr(clustered, "LIGHT", 0.0)
    whole = quick.contrasts(wanted), quick.test(wanted)
    assert found[0].errors[0] == pytest.approx(whole[0].errors[0], rel=clustered.LIGHT + 1e-3)
    assert 1 / found[0].degrees[0] == pytest.approx(1 / whole[0].degrees[0], abs=1e-3)
    assert found[1].p == pytest.approx(whole[1].p, abs=1e-3)


def test_rows_in_another_order_of_clusters_give_the_same() -> None:
    design, response, clusters = made_up()
    one = ClusteredFit(design, response, clusters).contrasts(WANTED)
    other = ClusteredFit(design, response, 20 - clusters).contrasts(WANTED)
    np.testing.assert_allclose(one.errors, other.errors, rtol=1e-12)


def test_carriers_are_counted_once() -> None:
    levels, clusters = np.array([0, 0, 0, 2, 2]), np.array([5, 5, 7, 5, 5])
    assert carriers(levels, clusters, 4).tolist() == [2, 0, 1, 0]
