"""The contribution of a persona: by hand, against SciPy, and where it is not defined."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import mannwhitneyu, ttest_1samp

from qc.method.sample import Sample
from qc.method.scores import score
from qc.robustness.persona import EVERY_FAMILY, PersonaEffect, persona_effect
from tests.qc.support.samples import sample_of

FAMILIES = {"a": ("A", False), "a_p": ("A", True), "b": ("B", False), "b_p": ("B", True), "c": ("C", True)}


def effect(sample: Sample) -> PersonaEffect | None:
    return persona_effect(sample, score(sample))


def met(worker: str, **z: float) -> list[tuple[str, str, float]]:
    return [(worker, system, value) for system, value in z.items()]


def test_by_hand() -> None:
    # In A the persona adds 1 on average, in B it takes 3 for every worker; C has no system without.
    rows = [
        row
        for worker, z, more in zip("uvwx", (0.0, 0.5, 2.0, 7.0), (0.8, 1.0, 1.4, 0.8), strict=True)
        for row in met(worker, a=z, a_p=z + more, b=2 * z, b_p=2 * z - 3, c=z)
    ]
    result = effect(sample_of(rows, families=FAMILIES))
    assert result is not None
    a, b = result.families
    assert (a.family, a.with_persona, a.without) == ("A", "a_p", "a")
    assert (a.z_with, a.z_without, a.difference) == pytest.approx((3.375, 2.375, 1))
    # Every worker met both once, so it is a paired t-test: differences 0.8, 1, 1.4, 0.8.
    theirs = ttest_1samp([0.8, 1.0, 1.4, 0.8], 0)
    assert a.p == pytest.approx(theirs.pvalue)
    assert (a.low, a.high) == pytest.approx(tuple(theirs.confidence_interval(0.95)))
    assert b.difference == pytest.approx(-3)
    assert np.isnan([b.low, b.high, b.p]).all()  # workers who do not differ do not tell what chance does
    # Conversations 0.8, 1.5, 3.4, 7.8 against 0, 0.5, 2, 7, no ties: the first is higher in 2 + 2 + 3 + 4
    # = 11 of the 16 pairs.
    ranked = mannwhitneyu([0.8, 1.5, 3.4, 7.8], [0, 0.5, 2, 7], alternative="two-sided", method="exact")
    assert ranked.statistic == 11
    assert a.p_rank_sum == pytest.approx(ranked.pvalue)
    pooled = result.pooled
    assert pooled is not None
    assert (pooled.family, pooled.with_persona, pooled.without) == (EVERY_FAMILY, "", "")
    halves = ttest_1samp([-1.1, -1.0, -0.8, -1.1], 0)  # the mean of both families, worker by worker
    assert pooled.difference == pytest.approx(-1)
    assert (pooled.low, pooled.high) == pytest.approx(tuple(halves.confidence_interval(0.95)))
    assert pooled.p == pytest.approx(halves.pvalue)
    assert (pooled.z_with, pooled.z_without) == pytest.approx(((3.375 + 1.75) / 2, (2.375 + 4.75) / 2))
    assert np.isnan(pooled.p_rank_sum)
    assert result.level == 0.95


def test_several_systems_of_a_kind_weigh_the_same() -> None:
    families = {"k1": ("K", True), "k2": ("K", True), "k": ("K", False)}
    # k1 has three conversations, k2 one: the mean of their scores 1 and 5 is 3, not 2.
    rows = [*met("u", k1=0.0, k2=5.0, k=1.0), *met("v", k1=1.0, k=1.0), *met("w", k1=2.0, k=1.0)]
    result = effect(sample_of(rows, families=families))
    assert result is not None
    (k,) = result.families
    assert (k.with_persona, k.without) == ("k1, k2", "k")
    assert (k.z_with, k.z_without, k.difference) == (3, 1, 2)
    assert np.isnan([k.low, k.high]).all()  # k2 has a single rater
    # All four conversations with persona against three without.
    theirs = mannwhitneyu([0, 1, 2, 5], [1, 1, 1], alternative="two-sided", method="asymptotic")
    assert k.p_rank_sum == pytest.approx(theirs.pvalue)
    assert np.isnan(k.p)
    assert result.pooled is None  # one family only


def test_intervals_hold_conversations_of_a_worker_together() -> None:
    rng = np.random.default_rng(0)
    rows = [
        row
        for worker in range(60)
        for z in [rng.normal(0, 3)]
        for row in met(f"w{worker:02}", a=z + rng.normal(0, 0.1), a_p=z + 0.2 + rng.normal(0, 0.1))
    ]
    result = effect(sample_of(rows, families=FAMILIES))
    assert result is not None
    (a,) = result.families
    # The workers' sd of 3 cancels within a worker: the error is 0.1 √(2/60) = 0.018, not 3 √(2/60) = 0.55.
    assert 0.13 < a.low < a.difference < a.high < 0.27
    assert a.high - a.low == pytest.approx(2 * 1.96 * 0.0183, rel=0.35)


def test_p_is_not_small_where_there_is_no_effect() -> None:
    rng = np.random.default_rng(3)
    rows = [
        row
        for worker in range(80)
        for row in met(
            f"w{worker:02}", **dict(zip(("a", "a_p", "b", "b_p"), rng.normal(size=4), strict=True))
        )
    ]
    result = effect(sample_of(rows, families=FAMILIES))
    assert result is not None
    assert result.pooled is not None
    assert result.pooled.p > 0.05
    for row in (*result.families, result.pooled):
        assert (row.p < 0.05) == (row.low > 0 or row.high < 0)


def test_no_family_has_both() -> None:
    assert effect(sample_of([*met("u", a=1.0, b=2.0, c=3.0)], families=FAMILIES)) is None


def test_a_side_without_a_conversation() -> None:
    rows = [*met("u", a=1.0, b=0.0, b_p=1.0), *met("v", a=2.0, b=0.0, b_p=3.0)]
    result = effect(sample_of(rows, families=FAMILIES, systems=["a_p"]))
    assert result is not None
    a, b = result.families
    assert a.z_without == 1.5
    assert np.isnan([a.z_with, a.difference, a.low, a.high, a.p, a.p_rank_sum]).all()
    assert b.difference == 2
    assert result.pooled is None


def test_nobody_passed() -> None:
    result = effect(sample_of(met("u", a=1.0, a_p=2.0), p={"u": 0.5}, families=FAMILIES))
    assert result is not None
    (a,) = result.families
    assert np.isnan([a.z_with, a.z_without, a.difference, a.low, a.high, a.p, a.p_rank_sum]).all()


def test_noise_of_sums_decides_no_tie() -> None:
    rows = [*met("u", a=0.1 + 0.2, a_p=0.3), *met("v", a=0.3, a_p=0.1 + 0.2)]
    result = effect(sample_of(rows, families=FAMILIES))
    assert result is not None
    assert result.families[0].p_rank_sum == 1


@pytest.mark.published
def test_published_p_values_follow_from_the_golden_table(
    published: Path, published_sample: Callable[[str, str], Sample]
) -> None:
    golden = pd.read_csv(published / "golden/free_run1/significance_pvalues.csv", index_col=0)
    result = effect(published_sample("free_run1", "hits_data.json"))
    assert result is not None
    assert [family.family for family in result.families] == sorted(
        ["biencoder", "kvmemnn", "lan_model", "polyencoder", "seq2seq"]
    )
    for family in result.families:
        one, two = family.with_persona, family.without
        expected = 2 * min(golden.loc[one, two], golden.loc[two, one])
        assert family.p_rank_sum == pytest.approx(min(1.0, expected), abs=1e-9)
        assert (family.p < 0.05) == (family.low > 0 or family.high < 0)
        assert family.low < family.difference < family.high
    assert result.pooled is not None
    assert result.pooled.high < 0, "systems with a persona score lower"
