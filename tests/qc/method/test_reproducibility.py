"""CV* by hand and as published, and the levels of QRA++ of two runs."""

import numpy as np
import pytest

from qc.method.reproducibility import reproduce, variation
from tests.qc.support.analyses import whole


def test_cv_by_hand() -> None:
    # 40 and 60: mean 50, sd √200 = 14.1421; c₄(2) = √2 Γ(1)/Γ(1/2) = √(2/π) = 0.797885, so s* = 17.7245.
    # CV* = 1.125 · 17.7245 / 50 · 100 = 39.8802.
    assert float(variation(np.array([40.0, 60.0]))) == pytest.approx(39.8802, abs=1e-4)


def test_cv_is_that_of_the_published_code() -> None:
    # Belz, Popović and Mille, ACL 2022, table 4: the BLEU scores of seven reproductions.
    scores = np.array([84.51, 84.50, 87.46, 85.60, 84.20, 86.61, 86.20])
    assert float(variation(scores)) == pytest.approx(1.562, abs=5e-4)


def test_a_mean_of_nought_has_no_cv() -> None:
    np.testing.assert_array_equal(variation(np.zeros((2, 1))), [np.nan])


def test_the_levels_of_two_runs() -> None:
    analysis = whole()
    assert analysis.second is not None
    assert analysis.replication is not None
    found = reproduce(analysis.sample, analysis.second, analysis.replication)
    labels = ["overall", *analysis.replication.labels]
    assert found.criteria["criterion"].tolist() == labels
    by_label = found.scores.groupby("criterion")["cv"]
    np.testing.assert_allclose(found.criteria["cv"], [by_label.mean()[label] for label in labels])
    np.testing.assert_allclose(found.criteria["worst"], [by_label.max()[label] for label in labels])
    assert found.cv == pytest.approx(found.scores.query("criterion != 'overall'")["cv"].mean())
    assert found.share == analysis.replication.same_conclusions.n / analysis.replication.same_conclusions.of
