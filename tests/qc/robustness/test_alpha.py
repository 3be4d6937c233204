"""The influence of α: who is kept changes, z does not."""

from collections.abc import Callable

import numpy as np
import pytest

from qc.method.filter import NO_VARIANCE
from qc.method.replication import replicate
from qc.method.sample import Sample, take_sample
from qc.method.scores import score
from qc.robustness.filter_check import AlphaInfluence, alpha_influence
from qc.run import Run
from tests.qc.support.samples import sample_of


def influence(sample: Sample, other: Sample | None = None) -> AlphaInfluence:
    return alpha_influence(sample, score(sample), other)


# anna passes at 0.01 and above, ben (p = 0.03) above 0.03, cleo (p = 0.095) at 0.10 only, dan never.
P = {"anna": 0.001, "ben": 0.03, "cleo": 0.095, "dan": 0.1}
ROWS = [
    *[("anna", "s", 2.0), ("anna", "t", 1.0), ("anna", "u", 0.0), ("anna", "qc", -2.0)],
    *[("ben", "s", 0.0), ("ben", "t", 2.0), ("ben", "t", 3.0)],
    *[("cleo", "s", -8.0), ("cleo", "v", 7.0)],
    *[("dan", "s", 99.0), ("dan", "t", 99.0)],
]


def test_levels_by_hand() -> None:
    nan = float("nan")
    result = influence(sample_of(ROWS, P))
    # At the chosen 0.05 anna and ben are kept: s 1, t 2, u 0, v nobody.
    assert result.systems == ("t", "s", "u", "v")
    assert [level.alpha for level in result.levels] == pytest.approx(np.arange(1, 11) / 100)
    # p must be below α: ben's 0.03 fails at 0.03, dan's 0.1 at 0.10. The qc bot does not count.
    assert [level.workers for level in result.levels] == [1, 1, 1, 2, 2, 2, 2, 2, 2, 3]
    assert [level.conversations for level in result.levels] == [3, 3, 3, 6, 6, 6, 6, 6, 6, 8]
    np.testing.assert_array_equal(result.levels[0].z, [1, 2, 0, nan])
    np.testing.assert_array_equal(result.levels[4].z, [2, 1, 0, nan])
    np.testing.assert_array_equal(result.levels[9].z, [2, -2, 0, 7])
    # Ranks (1, 2, 3) against (2, 1, 3), and against (1, 3, 2): ρ = 1 − 6 · 2 / (3 · 8) = 0.5 both times; v
    # has no score at the chosen α.
    assert [level.ranking_rho for level in result.levels] == pytest.approx([0.5] * 3 + [1] * 6 + [0.5])
    assert all(np.isnan(level.replication_r) for level in result.levels)


def test_replication_by_hand() -> None:
    # The second run has another system, w, and not v; s 1, t 2, u 3, all kept at every level.
    other = sample_of([("x", "s", 1.0), ("x", "t", 2.0), ("x", "u", 3.0), ("x", "w", 9.0)])
    levels = influence(sample_of(ROWS, P), other).levels
    # (s, t, u) = (2, 1, 0): r = −1. (1, 2, 0) against (1, 2, 3): covariance −1 of variances 2, 2: −0.5.
    assert levels[0].replication_r == pytest.approx(-1)
    assert levels[4].replication_r == pytest.approx(-0.5)


def test_who_has_no_variance_passes_at_no_level() -> None:
    rows = [("a", "s", 0.0), ("b", "s", 1.0)]
    result = influence(sample_of(rows, p={"a": 0.0, "b": 0.0}, reasons={"b": NO_VARIANCE}))
    assert {level.workers for level in result.levels} == {1}
    assert {float(level.z[0]) for level in result.levels} == {0.0}
    assert all(np.isnan(level.ranking_rho) for level in result.levels)


def test_nobody_passes_and_untested_workers() -> None:
    result = influence(sample_of([("a", "s", 0.0), ("b", "s", 1.0)], p={"a": float("nan"), "b": 0.9}))
    assert {(level.workers, level.conversations) for level in result.levels} == {(0, 0)}
    assert np.isnan([level.z for level in result.levels]).all()


def test_nothing_in_common_with_the_second_run() -> None:
    other = sample_of([("x", "w", 1.0)])
    assert all(np.isnan(level.replication_r) for level in influence(sample_of(ROWS, P), other).levels)


@pytest.mark.published
def test_published_runs_screened_anew_at_each_level(published_run: Callable[[str, str], Run]) -> None:
    runs = [published_run(name, "hits_data.json") for name in ("free_run1", "free_run2")]
    first, second = (take_sample(run) for run in runs)
    result = influence(first, second)
    for level in result.levels:
        anew, other = (take_sample(run, level.alpha) for run in runs)
        table = score(anew).z.set_index("system").loc[list(result.systems)]
        np.testing.assert_allclose(level.z, table["overall"], rtol=0, atol=1e-12)
        assert level.workers == anew.screening.workers["passed"].sum()
        assert level.conversations == anew.counted.sum()
        assert level.replication_r == pytest.approx(replicate(anew, other).z.pearson["overall"], abs=1e-12)
    # METHOD, section 5: 173 workers, 1075 conversations, r = 0.968 at α = 0.05.
    at = result.levels[4]
    assert (at.workers, at.conversations, at.ranking_rho) == (173, 1075, 1)
    assert at.replication_r == pytest.approx(0.968, abs=5e-4)
