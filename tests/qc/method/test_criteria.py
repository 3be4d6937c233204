"""Correlations between the criteria: by hand, where there are none, and as published."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from qc.method.sample import Sample
from qc.method.scores import Scores, correlate_criteria, score


def scores_of(**columns: list[float]) -> Scores:
    """Return scores of as many systems as there are values; raw scores are the negative of z."""
    criteria = pd.DataFrame(columns)
    table = criteria.copy()
    table.insert(0, "overall", criteria.mean(axis=1))
    table.insert(0, "n", 7)
    table.insert(0, "system", [f"s{number}" for number in range(len(criteria))])
    return Scores(z=table, raw=table.assign(**(-(criteria**3))))


def test_by_hand() -> None:
    # fun 1, 2, 4 and clear 2, 1, 6: means 7/3 and 3; sum of products 2 + 2 + 24 - 3 · 7/3 · 3 = 7, of squares
    # 21 - 49/3 = 14/3 and 41 - 27 = 14: r = 7 / √(14/3 · 14) = √3 / 2. Ranks 1, 2, 3 and 2, 1, 3: ρ = 1/2.
    found = correlate_criteria(scores_of(fun=[1.0, 2, 4], clear=[2.0, 1, 6]))
    assert list(found) == ["z", "raw"]
    assert found["z"].names == ("overall", "fun", "clear")
    assert found["z"].pearson[1, 2] == pytest.approx(np.sqrt(3) / 2, abs=1e-14)
    assert found["z"].spearman[1, 2] == pytest.approx(0.5, abs=1e-14)
    # The raw scores are another function of the systems: their ranks agree with one another as before.
    assert found["raw"].spearman[1, 2] == pytest.approx(0.5, abs=1e-14)
    assert found["raw"].pearson[1, 2] != pytest.approx(found["z"].pearson[1, 2], abs=0.01)
    for table in (found["z"].pearson, found["z"].spearman):
        assert table.diagonal() == pytest.approx([1, 1, 1], abs=1e-14)
        np.testing.assert_array_equal(table, table.T)


def test_a_criterion_that_does_not_vary_has_no_correlation() -> None:
    found = correlate_criteria(scores_of(fun=[1.0, 2, 4], clear=[1 / 3, 1 / 3 + 1e-16, 1 / 3]))["z"]
    for table in (found.pearson, found.spearman):
        assert np.isnan(table[2]).all()
        assert np.isnan(table[:, 2]).all()
        assert table[0, 1] == pytest.approx(1, abs=1e-14)


def test_systems_without_a_score_take_no_part() -> None:
    nan = np.nan
    three = correlate_criteria(scores_of(fun=[1.0, 2, 4], clear=[2.0, 1, 6]))["z"]
    four = correlate_criteria(scores_of(fun=[1.0, 2, 4, nan], clear=[2.0, 1, 6, nan]))["z"]
    np.testing.assert_array_equal(four.pearson, three.pearson)
    two = correlate_criteria(scores_of(fun=[1.0, 2, nan], clear=[2.0, 1, nan]))["z"]
    assert np.isnan(two.pearson).all()
    assert np.isnan(two.spearman).all()


@pytest.mark.published
@pytest.mark.parametrize("run", ["free_run1", "free_run2"])
@pytest.mark.parametrize(
    ("scale", "name"), [("z", "corr_between_scores.csv"), ("raw", "corr_between_raw_scores.csv")]
)
def test_the_published_tables(
    published: Path, published_sample: Callable[[str, str], Sample], run: str, scale: str, name: str
) -> None:
    found = correlate_criteria(score(published_sample(run, "mturk_batch.csv")))
    golden = pd.read_csv(published / "golden" / run / name, index_col=0)
    names = ["overall", *golden.columns[1:]]
    rows = np.ix_(*[[found[scale].names.index(label) for label in names]] * 2)
    # Pearson above the diagonal, Spearman below.
    ours = np.triu(found[scale].pearson[rows], 1) + np.tril(found[scale].spearman[rows], -1)
    np.testing.assert_allclose(ours, golden.fillna(0).to_numpy(), rtol=0, atol=1e-6)
