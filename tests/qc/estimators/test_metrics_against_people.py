"""Agreement, Williams' test and filtering first: identities, edges, and small cases worked out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from qc.estimators.metric_agreement import (
    agree,
    compare_metrics,
    half,
    pairwise_accuracy,
    prefilter,
    soft_pairwise_accuracy,
    williams_t,
)

PEOPLE = {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0, "e": 0.0}
scores = arrays(float, 7, elements=st.integers(-3, 3).map(float))


def test_pairwise_accuracy_by_hand() -> None:
    # People: a > b > c = d. Pairs apart: ab, ac, ad, bc, bd (5). The metric has ab right, ac right,
    # ad tied (½), bc wrong, bd wrong: 2.5 of 5.
    accuracy, pairs = pairwise_accuracy(np.array([3.0, 2, 1, 1]), np.array([5.0, 1, 2, 5]))
    assert (accuracy, pairs) == (0.5, 5)


def test_without_a_pair_that_people_tell_apart_there_is_no_accuracy() -> None:
    accuracy, pairs = pairwise_accuracy(np.ones(3), np.arange(3.0))
    assert np.isnan(accuracy)
    assert pairs == 0


def _p(first: float, second: float, third: float) -> np.ndarray:
    """Return p-values of the pairs ab, ac and bc."""
    p = np.full((3, 3), np.nan)
    for (row, column), value in zip(((0, 1), (0, 2), (1, 2)), (first, second, third), strict=True):
        p[row, column], p[column, row] = value, 1 - value
    return p


def test_soft_pairwise_accuracy_by_hand() -> None:
    # |0.1 − 0.2| = 0.1, |0.4 − 0.5| = 0.1, |0.05 − 0.95| = 0.9: 1 − 1.1 / 3.
    soft, pairs = soft_pairwise_accuracy(_p(0.1, 0.4, 0.05), _p(0.2, 0.5, 0.95))
    assert (soft, pairs) == (pytest.approx(1 - 1.1 / 3), 3)


def test_a_pair_without_p_takes_no_part_in_the_soft_accuracy() -> None:
    assert soft_pairwise_accuracy(_p(0.1, np.nan, 0.5), _p(0.1, 0.3, 0.0)) == (pytest.approx(0.75), 2)
    nothing, pairs = soft_pairwise_accuracy(_p(np.nan, np.nan, np.nan), _p(0.1, 0.3, 0.0))
    assert np.isnan(nothing)
    assert pairs == 0


@given(scores, scores)
def test_turning_the_metric_around_turns_the_agreement_around(human: np.ndarray, metric: np.ndarray) -> None:
    one, other = agree(human, metric), agree(human, -metric)
    for name in ("pearson", "spearman", "kendall"):
        value, turned = getattr(one, name), getattr(other, name)
        assert value.value == pytest.approx(-turned.value, nan_ok=True)
        assert value.low == pytest.approx(-turned.high, nan_ok=True)
    assert one.pairwise_accuracy == pytest.approx(1 - other.pairwise_accuracy, nan_ok=True)


def test_intervals_by_hand() -> None:
    # 5 systems of r = .8: artanh(.8) = 1.098612, 1.959964/√2 = 1.385904, so r from tanh(−0.287292) = −.279640
    # to tanh(2.484516) = .986196. ρ: 6/π · arcsin of half of these = −.267914 and .984814; τ: 2/π · arcsin of
    # these = −.180430 and .894100.
    found = agree(np.arange(5.0), np.array([1.0, 0, 2, 4, 3]))
    assert [found.pearson.value, found.spearman.value, found.kendall.value] == pytest.approx([0.8, 0.8, 0.6])
    assert (found.pearson.low, found.pearson.high) == pytest.approx((-0.279640, 0.986196), abs=1e-5)
    assert (found.spearman.low, found.spearman.high) == pytest.approx((-0.267914, 0.984814), abs=1e-5)
    assert (found.kendall.low, found.kendall.high) == pytest.approx((-0.180430, 0.894100), abs=1e-5)


def test_no_interval_with_too_few_systems_or_a_perfect_correlation() -> None:
    three = agree(np.arange(3.0), np.array([1.0, 0, 2]))
    perfect = agree(np.arange(9.0), np.arange(9.0))
    flat = agree(np.arange(9.0), np.zeros(9))
    for found in (three, perfect, flat):
        for coefficient in (found.pearson, found.spearman, found.kendall):
            assert np.isnan([coefficient.low, coefficient.high]).all()


def test_a_perfect_order_has_an_interval() -> None:
    found = agree(np.arange(9.0), np.arange(9.0) ** 2).spearman
    assert found.value == found.high == 1
    assert 0 < found.low < 1


def test_intervals_of_rank_correlations_hold_the_truth_where_few_systems_lie_nearly_in_order() -> None:
    # 1,000 times 10 systems of r = .95, so ρ = 6/π · arcsin(.475) and τ = 2/π · arcsin(.95): 95 % with a
    # standard error of .7 points. Fisher's transformation of ρ itself held 86 %.
    rng = np.random.default_rng(0)
    truth = {"spearman": 6 / np.pi * np.arcsin(0.475), "kendall": 2 / np.pi * np.arcsin(0.95)}
    held = dict.fromkeys(truth, 0)
    for _ in range(1_000):
        x, noise = rng.normal(size=(2, 10))
        found = agree(x, 0.95 * x + np.sqrt(1 - 0.95**2) * noise)
        for name, value in truth.items():
            held[name] += getattr(found, name).low <= value <= getattr(found, name).high
    assert min(held.values()) > 930


def test_systems_without_a_score_take_no_part() -> None:
    human, metric = np.array([1.0, 2, 3, 4, 5, np.nan, 7]), np.array([2.0, 1, 4, 3, 7, 9, np.nan])
    assert agree(human, metric) == agree(human[:5], metric[:5])
    assert agree(human, metric).n == 5


def test_williams_is_over_the_systems_that_both_metrics_scored() -> None:
    one, other = {"a": 3.0, "b": 4, "c": 1, "d": 2, "e": 0}, {"a": 3.0, "b": 2, "c": 1, "d": 4}
    found = compare_metrics(PEOPLE, ("one", one), ("other", other))
    four = {name: PEOPLE[name] for name in other}
    assert found == compare_metrics(four, ("one", {name: one[name] for name in other}), ("other", other))
    assert found.n == 4
    assert found.p_one_sided == pytest.approx(found.p / 2)


def test_williams_finds_no_difference_between_a_metric_and_itself_stretched() -> None:
    metric = {"a": 3.0, "b": 4, "c": 1, "d": 2, "e": 0}
    found = compare_metrics(PEOPLE, ("one", metric), ("twice", {k: 2 * v for k, v in metric.items()}))
    assert np.isnan(found.p)


@pytest.mark.parametrize("signs", [(1, -1), (-1, 1), (-1, -1)])
def test_turning_a_metric_around_does_not_change_williams(signs: tuple[int, int]) -> None:
    x = {"a": 4.0, "b": 3, "c": 1, "d": 2, "e": 0}
    y = {"a": 2.0, "b": 4, "c": 3, "d": 0, "e": 1}
    plain = compare_metrics(PEOPLE, ("x", x), ("y", y))
    turned = compare_metrics(
        PEOPLE,
        ("x", {k: signs[0] * v for k, v in x.items()}),
        ("y", {k: signs[1] * v for k, v in y.items()}),
    )
    assert turned.better == plain.better
    assert (turned.t, turned.p) == pytest.approx((plain.t, plain.p))
    assert turned.turned
    assert not plain.turned


def test_a_metric_that_does_not_vary_is_never_the_better_one() -> None:
    found = compare_metrics(PEOPLE, ("flat", dict.fromkeys(PEOPLE, 1.0)), ("same", PEOPLE))
    assert found.better == "same"
    assert np.isnan(found.p)


def test_williams_holds_its_level_between_metrics_that_are_equally_good() -> None:
    # Two metrics of r = .7 with people and .5 with each other, over 10 systems: p < .05 in 5 % of 2,000
    # draws, with a standard error of .5 points. One-sided towards the one ahead it was 10 %.
    rng = np.random.default_rng(0)
    root = np.linalg.cholesky([[1, 0.7, 0.7], [0.7, 1, 0.5], [0.7, 0.5, 1]])
    found = 0
    for _ in range(2_000):
        people, one, other = (
            dict(zip("abcdefghij", row, strict=True)) for row in root @ rng.normal(size=(3, 10))
        )
        found += compare_metrics(people, ("one", one), ("other", other)).p < 0.05
    assert 0.035 < found / 2_000 < 0.065


def test_williams_needs_four_systems() -> None:
    assert np.isnan(williams_t(0.9, 0.5, 0.5, 3))
    assert np.isfinite(williams_t(0.9, 0.5, 0.5, 4))


def test_ties_at_the_cut_stay() -> None:
    # The 2nd best score is 5, which three systems have: four stay.
    found = prefilter(np.array([1.0, 2, 3, 4, 5]), np.array([9.0, 5, 5, 5, 1]), 2)
    assert found.kept.tolist() == [True, True, True, True, False]
    assert not found.best_kept
    assert found.regret == 1
    assert found.top_kept == 1


@given(scores)
def test_filtering_by_the_people_themselves_loses_nothing(human: np.ndarray) -> None:
    found = prefilter(human, human, half(len(human)))
    assert found.best_kept
    assert found.regret == 0
    assert found.top_kept == half(len(human))


@given(scores, scores, st.integers(1, 7))
def test_keeping_more_never_loses_more(human: np.ndarray, metric: np.ndarray, keep: int) -> None:
    fewer, more = prefilter(human, metric, keep), prefilter(human, metric, min(keep + 1, 7))
    assert more.regret <= fewer.regret
    assert prefilter(human, metric, 7).regret == 0
