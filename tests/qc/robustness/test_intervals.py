"""Bootstrap of whole workers: exact sums, percentiles, ranks, and that intervals hold what they should."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.method.scores import score
from qc.robustness.intervals import Draws, Intervals, draw, intervals
from qc.statistics import resampling
from qc.statistics.resampling import bootstrap_sums, exact, half_sums, percentile_interval, unit_sums
from tests.qc.support.samples import sample_of, sample_of_arrays


def drawn(sample: Sample, count: int = 200, seed: int = 0) -> tuple[Draws, Intervals]:
    scores = score(sample)
    draws = draw(sample, scores, count, seed)
    return draws, intervals(draws, scores)


def given_draws(*systems: list[float]) -> Draws:
    """Return draws of one criterion, each system's z listed, as if two workers had rated every system."""
    z = np.array(systems, dtype=np.float64).T[..., None]
    return Draws(z=z, raw=50 + 10 * z, raters=np.full(len(systems), 2))


# Sums and draws


def test_sums_of_units() -> None:
    values = np.array([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
    sums = unit_sums(values, np.array([0, 0, 1]), np.array([1, 1, 0]), (3, 2))
    # Unit 0 has rows 0 and 1 in group 1; unit 1 has row 2 in group 0; unit 2 has nothing.
    assert sums.tolist() == [[[0, 0], [3, 30]], [[4, 40], [0, 0]], [[0, 0], [0, 0]]]


@given(
    st.lists(
        st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=2, max_size=2), min_size=1, max_size=40
    ),
    st.randoms(use_true_random=False),
)
def test_exact_sums_have_no_rounding_in_any_order(rows: list[list[float]], random: object) -> None:
    terms = exact(np.array(rows))
    assert np.abs(terms - rows).max() <= 2.0**-51 * len(rows) * np.abs(rows).max() + 2.0**-1000
    order = sorted(range(len(rows)), key=lambda _: random.random())  # type: ignore[attr-defined]
    forward, backward = np.zeros(2), np.zeros(2)
    for row in order:
        forward += terms[row]
    for row in reversed(range(len(rows))):
        backward += terms[row]
    assert forward.tolist() == backward.tolist()


@settings(deadline=None)
@given(st.integers(1, 12), st.integers(1, 9), st.integers(1, 100))
def test_the_size_of_the_blocks_changes_no_bit(units: int, count: int, cells: int) -> None:
    sums = np.random.default_rng(units).normal(size=(units, 3)) / 3
    whole = bootstrap_sums(sums, count, np.random.default_rng(1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resampling, "BLOCK_CELLS", cells)
        np.testing.assert_array_equal(bootstrap_sums(sums, count, np.random.default_rng(1)), whole)


def test_the_order_in_which_a_draw_is_added_up_changes_no_bit() -> None:
    sums = np.random.default_rng(3).normal(size=(300, 4))
    drawn = bootstrap_sums(sums, 20, np.random.default_rng(1))
    rng, terms = np.random.default_rng(1), exact(sums)
    for row in drawn:
        one_by_one = np.zeros(4)
        for unit in rng.integers(300, size=300):
            one_by_one += terms[unit]
        np.testing.assert_array_equal(row, one_by_one)


def test_a_draw_has_as_many_units_as_there_are() -> None:
    counts = bootstrap_sums(np.eye(7), 500, np.random.default_rng(0))
    assert (counts.sum(axis=1) == 7).all()
    assert counts.max() > 1
    # A unit is drawn once on average, with variance 7 · 1/7 · 6/7 = 6/7; of 500 draws the standard error is
    # √(6/7/500) = 0.041.
    assert np.abs(counts.mean(axis=0) - 1).max() < 4 * 0.041


def test_halves_share_the_units() -> None:
    first, second = half_sums(np.eye(5), 200, np.random.default_rng(0))
    assert (first + second == 1).all()
    assert (first.sum(axis=1) == 2).all()
    # Every one of the 10 pairs out of 5 is drawn: the chance that one is not is 10 · 0.9^200 = 7e-9.
    assert len(np.unique(first, axis=0)) == 10


def test_nothing_to_draw_from() -> None:
    assert bootstrap_sums(np.empty((0, 2)), 3, np.random.default_rng(0)).tolist() == [[0, 0]] * 3
    halves = half_sums(np.empty((0, 2)), 3, np.random.default_rng(0))
    assert [half.tolist() for half in halves] == [[[0, 0]] * 3] * 2


@given(st.lists(st.floats(-10, 10) | st.just(float("nan")), min_size=1, max_size=30))
def test_percentiles_are_those_of_numpy_without_nan(values: list[float]) -> None:
    draws = np.array(values)
    low, high = percentile_interval(draws[:, None], 0.9)
    if np.isnan(draws).all():
        assert np.isnan([low, high]).all()
    else:
        # 5 % and 95 %
        np.testing.assert_allclose([low[0], high[0]], np.nanpercentile(draws, [5, 95]), rtol=1e-9, atol=1e-9)


# Scores, ranks, differences


def test_the_spread_of_the_draws_is_that_of_the_workers() -> None:
    # Three workers, one conversation each, z 0, 3 and 6: a resample's mean is 0, 1, …, 6 with the chances
    # of the sum of three fair draws from {0, 1, 2}: 1, 3, 6, 7, 6, 3, 1 out of 27.
    sample = sample_of([("a", "s", 0), ("b", "s", 3), ("c", "s", 6)])
    draws, _ = drawn(sample, count=20_000)
    share = np.array([(draws.z[:, 0, 0] == value).mean() for value in range(7)])
    # Standard error of a share at most √(0.26 · 0.74 / 20000) = 0.0031.
    np.testing.assert_allclose(share, np.array([1, 3, 6, 7, 6, 3, 1]) / 27, rtol=0, atol=0.0125)
    np.testing.assert_array_equal(draws.raw, 50 + 10 * draws.z)


def test_a_worker_is_drawn_with_all_their_conversations() -> None:
    # Each worker rated both systems, s exactly 1 above t: whoever is drawn, the difference stays 1.
    sample = sample_of(
        [(w, s, z + (s == "s")) for w, z in zip("abcd", (0.0, 1.0, 5.0, 9.0), strict=True) for s in "st"]
    )
    draws, result = drawn(sample)
    assert np.ptp(draws.overall("z")[:, 0]) > 1
    assert result.systems == ("s", "t")
    assert (result.difference_low[0, 1], result.difference_high[0, 1]) == (1, 1)
    assert (result.difference_low[1, 0], result.difference_high[1, 0]) == (-1, -1)
    assert result.indistinct == ()
    assert result.best_chance.tolist() == [1, 0]
    assert (result.rank_low.tolist(), result.rank_high.tolist()) == ([1, 2], [1, 2])


def test_overall_is_the_mean_of_the_criteria() -> None:
    z = np.random.default_rng(2).normal(size=(40, 3))
    sample = sample_of_arrays(np.arange(40) // 2, np.arange(40) % 2, z)
    draws, result = drawn(sample)
    assert draws.z.shape == (200, 2, 3)
    np.testing.assert_allclose(draws.overall("z"), draws.z.mean(axis=2))
    assert result.z_low.shape == (2, 4)
    np.testing.assert_allclose(
        [result.z_low[1, 0], result.z_high[1, 0]], np.percentile(draws.z.mean(axis=2)[:, 1], [2.5, 97.5])
    )
    np.testing.assert_allclose(
        [result.raw_low[0, 2], result.raw_high[0, 2]], np.percentile(draws.raw[:, 0, 1], [2.5, 97.5])
    )


def test_intervals_of_single_conversations_are_those_of_scipy() -> None:
    # With one conversation for each worker the draws are those of the ordinary bootstrap of the mean.
    z = np.random.default_rng(4).exponential(size=60)
    _, result = drawn(sample_of_arrays(np.arange(60), np.zeros(60), z[:, None]), count=20_000)
    theirs = scipy.stats.bootstrap(
        (z,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    # The interval is about 0.5 wide; the ends of 20,000 draws are known to about 0.003.
    assert result.z_low[0, 0] == pytest.approx(theirs.low, abs=0.012)
    assert result.z_high[0, 0] == pytest.approx(theirs.high, abs=0.012)


def test_ranks_by_hand() -> None:
    # 100 draws: a above b above c in 95, b first in 3, c first in 2 (then a before b).
    draws = given_draws([3.0] * 98 + [2.0] * 2, [2.0] * 95 + [4.0] * 3 + [1.0] * 2, [1.0] * 98 + [5.0] * 2)
    sample = sample_of([("w", "a", 3), ("w", "b", 2), ("w", "c", 1)])
    result = intervals(draws, score(sample))
    # a: 1 in 95, 2 in 5 draws: at least 97.5 % do not exceed 2. b: 1 in 3 draws (3 % ≥ 2.5 %), 2 in 95, 3
    # in 2: 98 % do not exceed 2. c: 1 in 2 draws (2 % < 2.5 %), else 3.
    assert result.rank_low.tolist() == [1, 1, 3]
    assert result.rank_high.tolist() == [2, 2, 3]
    assert result.best_chance.tolist() == [0.95, 0.03, 0.02]
    # a − b: 1 in 97 draws, −1 in 3: the 2.5 % point lies among the −1. b − c: 1 in 95 draws, 3 in 3, −4 in 2.
    assert result.indistinct == (("a", "b"),)


def test_a_rank_in_exactly_one_draw_of_forty_is_within_the_range() -> None:
    sample = sample_of([("w", "a", 3), ("w", "b", 2)])
    result = intervals(given_draws([3.0] * 39 + [1.0], [2.0] * 40), score(sample))
    # b is first in 1 of 40 draws, 2.5 %; a is second in as many: 97.5 % do not exceed 1.
    assert (result.rank_low.tolist(), result.rank_high.tolist()) == ([1, 1], [1, 2])


def test_systems_that_are_first_together_share_the_draw() -> None:
    sample = sample_of([("w", "a", 1), ("w", "b", 1)])
    result = intervals(given_draws([1.0, 1.0], [1.0, 0.0]), score(sample))
    assert result.best_chance.tolist() == [0.75, 0.25]


def test_a_system_missing_from_a_draw_is_left_out_of_it() -> None:
    nan = float("nan")
    sample = sample_of([("w", "a", 3), ("w", "b", 2), ("w", "c", 1)])
    result = intervals(given_draws([nan, 3.0, 3.0], [2.0, 2.0, 2.0], [1.0, 1.0, 1.0]), score(sample))
    assert (result.z_low[0, 0], result.z_high[0, 0]) == (3, 3)
    assert (result.rank_low[0], result.rank_high[0]) == (1, 1)
    np.testing.assert_allclose(result.best_chance, [2 / 3, 1 / 3, 0])


def test_a_system_with_one_rater_has_no_interval() -> None:
    sample = sample_of(
        [*((w, "s", z) for w, z in zip("abc", (0, 1, 2), strict=True)), ("a", "t", 9)], systems=["u"]
    )
    draws, result = drawn(sample)
    assert result.systems == ("t", "s", "u")
    assert draws.raters.tolist() == [1, 3, 0]
    for bounds in (result.z_low, result.z_high, result.raw_low, result.raw_high):
        assert np.isnan(bounds[:, 0]).tolist() == [True, False, True]
    assert (result.rank_low.tolist(), result.rank_high.tolist()) == ([1, 1, 0], [2, 2, 0])
    # How t differs from s is unknown; u has no score to compare.
    assert result.indistinct == (("t", "s"),)


def test_nobody_passed() -> None:
    draws, result = drawn(sample_of([("a", "s", 0), ("a", "t", 1)], p={"a": 0.5}))
    assert np.isnan(draws.z).all()
    for value in (result.z_low, result.raw_high, result.difference_low, result.best_chance):
        assert np.isnan(value).all()
    assert (result.rank_low.tolist(), result.rank_high.tolist()) == ([0, 0], [0, 0])
    assert result.indistinct == ()


def test_one_system() -> None:
    _, result = drawn(sample_of([("a", "s", 0), ("b", "s", 1)]))
    assert (result.rank_low.tolist(), result.rank_high.tolist()) == ([1], [1])
    assert result.difference_low.tolist() == [[0]]
    assert result.best_chance.tolist() == [1]


def test_the_qc_bot_and_failed_workers_take_no_part() -> None:
    rows = [("a", "s", 0.0), ("b", "s", 1.0)]
    others = [("a", "qc", 50.0), ("b", "qc", 70.0), ("x", "s", 90.0)]
    np.testing.assert_array_equal(
        drawn(sample_of(rows))[0].z, drawn(sample_of(rows + others, p={"x": 0.9}))[0].z
    )


def test_the_seed_decides() -> None:
    sample = sample_of_arrays(np.arange(30), np.arange(30) % 2, np.arange(30.0)[:, None] / 7)
    np.testing.assert_array_equal(drawn(sample, seed=1)[0].z, drawn(sample, seed=1)[0].z)
    assert (drawn(sample, seed=1)[0].z != drawn(sample, seed=2)[0].z).any()


# Coverage


def clustered(rng: np.random.Generator) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """Return worker, system and z of 40 workers with 12 conversations; sd 1 of workers, sd 1 of the rest."""
    workers = np.repeat(np.arange(40), 12)
    systems = np.tile(np.arange(2), 240)
    z = rng.normal(size=40)[workers] + rng.normal(size=len(workers))
    return workers, systems, z[:, None]


def test_intervals_of_whole_workers_hold_the_truth_and_naive_ones_do_not() -> None:
    held = {"workers": 0, "conversations": 0}
    experiments = 200
    order = score(sample_of_arrays(*clustered(np.random.default_rng(0))))
    for number in range(experiments):
        workers, systems, z = clustered(np.random.default_rng([5, number]))
        units = {"workers": workers, "conversations": np.arange(len(workers))}
        for unit, codes in units.items():
            draws = draw(sample_of_arrays(codes, systems, z), order, 200, number)
            low, high = percentile_interval(draws.overall("z")[:, 0], 0.95)
            held[unit] += int(low <= 0 <= high)
    # 95 % of 200 is 190, with a standard deviation of 3.1; percentile intervals of 40 workers are a little
    # narrow (√(39/40), normal instead of t quantiles: about 94 %). The variance of a mean is 1/40 + 1/240;
    # drawing conversations one by one supposes 2/240, so naive intervals are √(0.00833 / 0.0292) = 0.53 as
    # wide as they should be and hold the truth in 2Φ(1.96 · 0.53) − 1 = 70 %, 140 experiments.
    assert 0.89 * experiments <= held["workers"] <= experiments
    assert held["conversations"] < 0.78 * experiments


@pytest.mark.published
@pytest.mark.parametrize("run", ["free_run1", "free_run2"])
def test_published_intervals_hold_the_scores(
    published_sample: Callable[[str, str], Sample], run: str
) -> None:
    sample = published_sample(run, "hits_data.json")
    scores = score(sample)
    _, result = drawn(sample, count=1000)
    z, raw = (table.drop(columns=["system", "n"]).to_numpy(np.float64) for table in (scores.z, scores.raw))
    assert ((result.z_low < z) & (z < result.z_high)).all()
    assert ((result.raw_low < raw) & (raw < result.raw_high)).all()
    ranks = np.arange(1, 11)
    assert ((result.rank_low <= ranks) & (ranks <= result.rank_high)).all()
    assert result.best_chance.sum() == pytest.approx(1)
    # What the paper's tests say with p far below 0.001: no pair of these two groups is open.
    strong, weak = {"biencoder", "polyencoder"}, {"lan_model", "lan_model_p", "seq2seq_p"}
    assert not set(product(strong, weak)) & set(result.indistinct)
