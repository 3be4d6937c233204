"""Bootstrap of whole workers: exact sums, draws, ranks, and that intervals hold what they should."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from qc.method.sample import Sample, take_sample
from qc.method.scores import leaders, places, score
from qc.robustness.intervals import FEWEST_BY_CRITERION, Draws, Intervals, draw, intervals, leader
from qc.statistics import resampling
from qc.statistics.resampling import (
    Influences,
    bootstrap_sums,
    exact,
    half_sums,
    influences,
    percentile_interval,
    unit_sums,
    wild_draws,
)
from tests.qc.support.designs import DESIGNS, run_of, with_equal_systems
from tests.qc.support.samples import sample_of, sample_of_arrays


def drawn(sample: Sample, count: int = 200, seed: int = 0) -> Draws:
    return draw(sample, score(sample), count, seed)


def found(sample: Sample, count: int = 199, seed: int = 0) -> Intervals:
    return intervals(sample, score(sample), count, seed)


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


@given(st.integers(1, 12), st.integers(1, 9), st.integers(1, 100))
def test_the_size_of_the_blocks_changes_no_bit(units: int, count: int, cells: int) -> None:
    sums = np.random.default_rng(units).normal(size=(units, 3)) / 3
    whole = bootstrap_sums(sums, count, np.random.default_rng(1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resampling, "BLOCK_CELLS", cells)
        patch.setattr(resampling, "FEWEST_DRAWS", 1)
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
    draws = drawn(sample, count=20_000)
    share = np.array([(draws.z[:, 0, 0] == value).mean() for value in range(7)])
    # Standard error of a share at most √(0.26 · 0.74 / 20000) = 0.0031.
    np.testing.assert_allclose(share, np.array([1, 3, 6, 7, 6, 3, 1]) / 27, rtol=0, atol=0.0125)
    np.testing.assert_array_equal(draws.raw, 50 + 10 * draws.z)


def test_a_worker_is_drawn_with_all_their_conversations() -> None:
    # Each worker rated both systems, s exactly 1 above t: whoever is drawn, the difference stays 1.
    sample = sample_of(
        [(w, s, z + (s == "s")) for w, z in zip("abcd", (0.0, 1.0, 5.0, 9.0), strict=True) for s in "st"]
    )
    overall = drawn(sample).overall("z")
    assert np.ptp(overall[:, 0]) > 1
    np.testing.assert_allclose(overall[:, 0] - overall[:, 1], 1)


def test_overall_is_the_mean_of_the_criteria() -> None:
    z = np.random.default_rng(2).normal(size=(40, 3))
    draws = drawn(sample_of_arrays(np.arange(40) // 2, np.arange(40) % 2, z))
    assert draws.z.shape == (200, 2, 3)
    np.testing.assert_allclose(draws.overall("z"), draws.z.mean(axis=2))


def test_nobody_passed() -> None:
    sample = sample_of([("a", "s", 0), ("a", "t", 1)], p={"a": 0.5})
    assert np.isnan(drawn(sample).z).all()
    result = found(sample)
    for value in (result.z_low, result.raw_high, result.simultaneous_low, result.best_chance):
        assert np.isnan(value).all()
    assert (result.rank_low.tolist(), result.rank_high.tolist()) == ([0, 0], [0, 0])
    assert (result.indistinct, result.groups, result.notes) == ((), (), ())


def test_the_qc_bot_and_failed_workers_take_no_part() -> None:
    rows = [("a", "s", 0.0), ("b", "s", 1.0), ("c", "s", 4.0)]
    others = [("a", "qc", 50.0), ("b", "qc", 70.0), ("x", "s", 90.0)]
    with_others = sample_of(rows + others, p={"x": 0.9})
    np.testing.assert_array_equal(drawn(sample_of(rows)).z, drawn(with_others).z)
    np.testing.assert_array_equal(found(sample_of(rows)).z_low, found(with_others).z_low)


def test_the_seed_decides() -> None:
    sample = sample_of_arrays(np.arange(30), np.arange(30) % 2, np.arange(30.0)[:, None] ** 2 / 7)
    for of in (lambda seed: drawn(sample, seed=seed).z, lambda seed: found(sample, seed=seed).z_low):
        np.testing.assert_array_equal(of(1), of(1))
        assert (of(1) != of(2)).any()


# Intervals


def test_intervals_of_single_conversations_are_those_of_student() -> None:
    # With one conversation a worker and normal values, t has Student's distribution of 24 degrees of freedom.
    # Its 97.5 % point is 2.064; the wild bootstrap's of one sample lies within a tenth of it.
    z = np.random.default_rng(4).normal(size=25)
    sample = sample_of_arrays(np.arange(25), np.zeros(25), z[:, None])
    result = found(sample, count=9999)
    # (1 - h) = 24/25 makes the standard error that of the textbook: Σ (z - mean)² / (25² · 24/25).
    error = z.std(ddof=1) / 5
    half = (result.z_high[0, 0] - result.z_low[0, 0]) / 2
    assert half / error == pytest.approx(2.064, rel=0.1)
    assert (result.z_low[0, 0] + result.z_high[0, 0]) / 2 == pytest.approx(z.mean())
    # One system is the best of all, and raw scores are 50 + 10 z.
    assert result.best_chance.tolist() == [1]
    np.testing.assert_allclose(result.raw_low, 50 + 10 * result.z_low)


def test_draws_by_hand() -> None:
    # Two means of four workers, one conversation each with either, so that a worker's share is a quarter,
    # and u a quarter of (-3, -1, 1, 3) and of (2, -2, 0, 0).
    values = np.array([[0.0, 4.0], [2.0, 0.0], [4.0, 2.0], [6.0, 2.0]])
    sums = np.stack([np.ones((4, 2)), values], axis=2)
    of_workers = influences(sums)
    assert of_workers.mean[:, 0].tolist() == [3, 2]
    np.testing.assert_allclose(4 * of_workers.u[..., 0].T, [[-3, -1, 1, 3], [2, -2, 0, 0]])
    # √(Σ u² / (3/4)): 20/16 and 8/16; of the difference, u = (-5, 1, 1, 3)/4, 36/16.
    np.testing.assert_allclose(of_workers.standard_errors()[:, 0], np.sqrt([20 / 12, 8 / 12]))
    np.testing.assert_allclose(
        of_workers.standard_errors_of_differences(), np.sqrt([[0, 3], [3, 0]]), atol=1e-7
    )
    draws = wild_draws(of_workers, 64, np.random.default_rng(0))
    # One by one: the signs of a draw are told by D of a system whose u are 1, 2, 4 and 8.
    signs = wild_draws(
        Influences(np.zeros((4, 1)), np.diag([1.0, 2, 4, 8])[..., None], np.zeros((4, 4)), np.full(4, 4)),
        64,
        np.random.default_rng(0),
    ).moved
    for row, sign in enumerate(np.sign(signs)):
        moved = sign @ of_workers.u[..., 0]
        left = sign[:, None] * of_workers.u[..., 0] - moved / 4
        np.testing.assert_allclose(draws.moved[row], moved, atol=1e-12)
        np.testing.assert_allclose(draws.t[row, :, 0], moved / np.sqrt((left**2).sum(axis=0)))
        pair = (moved[0] - moved[1]) / np.sqrt(((left[:, 0] - left[:, 1]) ** 2).sum())
        assert draws.pairs[row, 0] == pytest.approx(abs(pair))


@settings(max_examples=20)
@given(st.integers(3, 12), st.integers(1, 100))
def test_the_size_of_the_blocks_of_signs_changes_no_bit(workers: int, cells: int) -> None:
    sums = np.random.default_rng(workers).random((workers, 3, 3))
    whole = wild_draws(influences(sums), 9, np.random.default_rng(1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resampling, "BLOCK_CELLS", cells)
        patch.setattr(resampling, "FEWEST_DRAWS", 1)
        parts = wild_draws(influences(sums), 9, np.random.default_rng(1))
    np.testing.assert_array_equal(parts.t, whole.t)
    np.testing.assert_array_equal(parts.pairs, whole.pairs)


def test_of_very_many_workers_what_is_left_of_one_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    counts = rng.integers(1, 3, (20_000, 3))
    sums = np.concatenate([counts[..., None], counts[..., None] * rng.normal(size=(20_000, 3, 2))], axis=2)
    found = influences(sums.astype(np.float64))
    assert found.h.max() <= resampling.SMALL_SHARE
    short = wild_draws(found, 300, np.random.default_rng(1))
    monkeypatch.setattr(resampling, "SMALL_SHARE", 0.0)
    whole = wild_draws(found, 300, np.random.default_rng(1))
    np.testing.assert_allclose(short.t, whole.t, rtol=0, atol=0.003)
    np.testing.assert_allclose(short.pairs, whole.pairs, rtol=0, atol=0.003)
    assert not np.array_equal(short.t, whole.t)


def test_ranks_and_groups_follow_from_pairs_that_are_told_apart() -> None:
    # a and b far above c and d, by what 40 workers say; what lies within the pairs is noise.
    rng = np.random.default_rng(1)
    z = np.array([1.0, 1.0, -1.0, -1.0]) + rng.normal(0, 0.5, (40, 4))
    result = found(sample_of_arrays(np.repeat(np.arange(40), 4), np.tile(np.arange(4), 40), z.reshape(-1, 1)))
    assert [set(group) for group in result.groups] == [{"s0", "s1"}, {"s2", "s3"}]
    assert (result.rank_low.tolist(), result.rank_high.tolist()) == ([1, 1, 3, 3], [2, 2, 4, 4])
    assert {frozenset(pair) for pair in result.indistinct} == {frozenset(group) for group in result.groups}
    # All pairs together ask for more than each for itself.
    off = ~np.eye(4, dtype=bool)
    assert (result.simultaneous_low < result.difference_low)[off].all()
    np.testing.assert_array_equal(result.simultaneous_high, -result.simultaneous_low.T)
    assert result.best_chance.sum() == pytest.approx(1)
    assert result.best_chance[2:].tolist() == [0, 0]


def test_a_leader_far_ahead_is_held_as_if_named_beforehand_and_one_of_equals_further_down() -> None:
    # Draws without any skew: of 19,999 numbers from a normal distribution the 97.5 % point is 1.96.
    t = np.random.default_rng(5).normal(size=(19_999, 10))
    errors, pairs = np.ones(10), np.full((10, 10), np.sqrt(2))
    ahead = leader(np.append(20.0, np.zeros(9)), errors, pairs, t, t, np.random.default_rng(6))
    assert np.isnan(ahead.low[1:]).all()
    assert ahead.low[0] == pytest.approx(20 - 1.96, abs=0.05)
    assert ahead.best_chance.tolist() == [1] + [0] * 9
    # The largest of ten such numbers is below 2.57 in 95 %, 0.013 give or take; where they differ, less.
    equals = leader(np.zeros(10), errors, pairs, t, t, np.random.default_rng(6))
    # All ten are the highest, and none of them is held by another interval than the others.
    assert ((equals.low > -2.61) & (equals.low < -2.4)).all()
    np.testing.assert_allclose(equals.best_chance, 0.1, atol=0.01)


def test_a_leader_is_held_at_least_as_far_down_as_if_named_beforehand() -> None:
    # The leader's own t* are twice as wide as the other's: 95 % of them lie within 2 × 1.96. Of those picked
    # half are the other's, so that the 95 % point of all of them is smaller.
    t = np.random.default_rng(5).normal(size=(19_999, 2)) * [2, 1]
    errors, pairs = np.ones(2), np.full((2, 2), np.sqrt(2))
    moved = np.random.default_rng(6).normal(size=t.shape)
    found = leader(np.array([0.1, 0]), errors, pairs, moved, t, np.random.default_rng(7))
    assert found.low[0] == pytest.approx(0.1 - 2 * 1.96, abs=0.1)


def test_clearly_worse_systems_do_not_move_the_leader() -> None:
    # Three equal systems, and one that is 20 standard errors below.
    rng = np.random.default_rng(4)
    z = rng.normal(0, 0.5, (40, 4)) - np.array([0, 0, 0, 20 * 0.5 / np.sqrt(40)])
    three, four = (
        found(
            sample_of_arrays(
                np.repeat(np.arange(40), count),
                np.tile(np.arange(count), 40),
                z[:, :count].reshape(-1, 1),
            )
        )
        for count in (3, 4)
    )
    np.testing.assert_allclose(four.best_chance, [*three.best_chance, 0], atol=1e-9)
    assert four.z_low[0, 0] == pytest.approx(three.z_low[0, 0])


def test_luck_lifts_a_leader_so_its_interval_ends_above_where_that_of_any_system_does() -> None:
    z = np.array([0.3, 0.2, 0.1]) + np.random.default_rng(2).normal(0, 0.5, (40, 3))
    result = found(sample_of_arrays(np.repeat(np.arange(40), 3), np.tile(np.arange(3), 40), z.reshape(-1, 1)))
    score_of, low, high = z.mean(axis=0).max(), result.z_low[0], result.z_high[0]
    # Overall and the only criterion are the same here; the criterion's interval knows of no picking.
    assert high[0] == high[1]
    assert score_of - low[0] != pytest.approx(high[0] - score_of)
    assert score_of - low[1] == pytest.approx(high[1] - score_of)


def test_a_system_that_few_rated_has_no_interval() -> None:
    ratings = [(w, s, z + 0.1 * (s == "s")) for w, z in zip("abcdef", range(6), strict=True) for s in "st"]
    sample = sample_of([*ratings, ("a", "two", 9), ("b", "two", 8)], systems=["none"])
    result = found(sample)
    assert result.systems == ("two", "s", "t", "none")
    assert np.isnan(result.best_chance).all()  # the highest may be the best, or not
    for bounds in (result.z_low, result.z_high, result.raw_low, result.raw_high):
        assert np.isnan(bounds[:, 0]).tolist() == [True, False, False, True]
    assert (result.rank_low.tolist(), result.rank_high.tolist()) == ([1, 1, 1, 0], [3, 3, 3, 0])
    assert ("two", "s") in result.indistinct
    assert not [pair for pair in result.indistinct if "none" in pair]


@pytest.mark.parametrize(("workers", "known"), [(4, False), (5, True)])
def test_below_five_raters_no_system_is_told_apart(workers: int, known: bool) -> None:
    # The second system is ten standard deviations worse in the eyes of each worker.
    z = np.random.default_rng(3).normal(0, 0.1, (workers, 2)) - np.array([0, 1])
    result = found(
        sample_of_arrays(np.repeat(np.arange(workers), 2), np.tile(np.arange(2), workers), z.reshape(-1, 1))
    )
    assert np.isfinite(result.z_low).all() == known
    assert bool(result.indistinct) != known
    assert (
        any("Fewer than 5 workers who passed rated s0 (4) and s1 (4)" in note for note in result.notes)
        != known
    )


def test_below_thirty_raters_a_note_names_the_systems() -> None:
    rng = np.random.default_rng(0)
    workers = np.concatenate([np.arange(31), np.arange(29)])
    systems = np.repeat([0, 1], [31, 29])
    notes = found(sample_of_arrays(workers, systems, rng.normal(size=(60, 1)))).notes
    assert len(notes) == 1
    assert "rated s1 (29)" in notes[0]


def test_workers_who_all_say_the_same_give_no_verdict() -> None:
    # Everyone rates every system 100 and the qc bot 0. z depend on how many conversations a worker held,
    # through ddof = 1, so that systems differ by chance, by less than two thousandths.
    run = run_of(replace(DESIGNS["published"], workers=60), np.random.default_rng(2))
    given = np.where(run.conversations["is_qc"].to_numpy()[:, None], 0.0, 100.0)
    sample = take_sample(replace(run, ratings=run.ratings * 0 + given))
    overall = drawn(sample).overall("z")
    low, high = percentile_interval(overall[:, :, None] - overall[:, None, :], 0.95)
    assert ((low > 0) | (high < 0)).any()  # what percentile intervals made of it
    assert np.ptp(score(sample).z["overall"]) < 2e-3
    result = found(sample)
    assert len(result.indistinct) == 45
    assert np.isnan(result.z_low).all()
    assert len(result.groups) == 1
    assert "All workers rated alike" in result.notes[-1]


# Coverage; benchmarks/qc_truth.py has more designs and more runs


@cache
def of_twenty_workers() -> tuple[list[Intervals], NDArray[np.float64], NDArray[np.float64]]:
    """Return what 60 runs of 20 workers and ten equal systems find, the leaders' scores, and the true one."""
    design = with_equal_systems(DESIGNS["twenty"])
    runs = [take_sample(run_of(design, np.random.default_rng([1, number]))) for number in range(60)]
    large = take_sample(run_of(replace(design, workers=4000), np.random.default_rng(2)))
    results = [intervals(run, score(run), 199, number) for number, run in enumerate(runs)]
    leaders = np.array([score(run).z["overall"].iloc[0] for run in runs])
    return results, leaders, np.asarray(score(large).z["overall"].mean())


def test_scores_of_few_workers_are_held() -> None:
    results, _, truth = of_twenty_workers()
    held = [(result.z_low[1:, 0] <= truth) & (truth <= result.z_high[1:, 0]) for result in results]
    known = [np.isfinite(result.z_low[1:, 0]) for result in results]
    # Of about 530 scores; those of a run hang together, so the standard error is about 1.5 %.
    assert np.concatenate(held)[np.concatenate(known)].mean() > 0.91


def test_the_leader_among_equals_is_held() -> None:
    results, leaders, truth = of_twenty_workers()
    low, high = (np.array([getattr(each, end)[0, 0] for each in results]) for end in ("z_low", "z_high"))
    known = np.isfinite(low)
    # 95 % of 60 with a standard error of 2.8 %.
    assert ((low <= truth) & (truth <= high))[known].mean() > 0.85
    # Luck lifts who leads, so the interval reaches further down than up; that of any other, equally far.
    assert ((leaders - low) / (high - leaders))[known].mean() > 1.1


def test_equal_systems_are_told_apart_in_one_of_twenty_runs() -> None:
    results, _, _ = of_twenty_workers()
    told = [(result.simultaneous_low > 0).any() for result in results]
    # 3 of 60 are to be expected, with a standard deviation of 1.7.
    assert sum(told) <= 8
    # Nor is a leader said to be the best of ten with much of a chance: 0.16 on average, 0.01 give or take.
    assert np.nanmean([result.best_chance[0] for result in results]) < 0.2


@pytest.mark.published
@pytest.mark.parametrize("run", ["free_run1", "free_run2"])
def test_published_intervals_hold_the_scores(
    published_sample: Callable[[str, str], Sample], run: str
) -> None:
    sample = published_sample(run, "hits_data.json")
    scores = score(sample)
    result = found(sample, count=999)
    z, raw = (table.drop(columns=["system", "n"]).to_numpy(np.float64) for table in (scores.z, scores.raw))
    assert ((result.z_low < z) & (z < result.z_high)).all()
    assert ((result.raw_low < raw) & (raw < result.raw_high)).all()
    ranks = np.arange(1, 11)
    assert ((result.rank_low <= ranks) & (ranks <= result.rank_high)).all()
    assert result.best_chance.sum() == pytest.approx(1)
    # What the paper's tests say with p far below 0.001: no pair of these two groups is open.
    strong, weak = {"biencoder", "polyencoder"}, {"lan_model", "lan_model_p", "seq2seq_p"}
    assert not set(product(strong, weak)) & set(result.indistinct)


def test_where_one_of_many_workers_did_most_of_the_work_nothing_is_said_to_be_sure() -> None:
    # 34 workers with one assignment and one with 60. If this were not refused, equal systems would be told
    # apart in 77.8 % of such runs (`benchmarks/qc_truth.py --runs 500 --part uneven`).
    design = replace(with_equal_systems(DESIGNS["forty"]), workers=35, assignments=1, careless=0.0)
    even, uneven = (
        found(take_sample(run_of(replace(design, leading=leading), np.random.default_rng(2))))
        for leading in ((), (60,))
    )
    assert np.isfinite([even.z_low[:, 0], even.raw_high[:, 0]]).all()
    many = even.raters >= FEWEST_BY_CRITERION
    assert (np.isfinite(even.z_low[:, 1:]) == many[:, None]).all()
    assert (np.isfinite(even.raw_high[:, 1:]) == many[:, None]).all()
    assert 0 < many.sum() < 10
    assert np.isnan([uneven.z_low, uneven.z_high, uneven.raw_low, uneven.raw_high]).all()
    assert np.isnan(uneven.best_chance).all()
    assert not (uneven.simultaneous_low > 0)[~np.eye(10, dtype=bool)].any()
    assert (uneven.rank_low.tolist(), uneven.rank_high.tolist()) == ([1] * 10, [10] * 10)
    assert (uneven.raters > 10).all()
    assert (uneven.effective_raters < 4).all()
    assert any("A few workers gave most of the ratings of" in note for note in uneven.notes)
    assert not any("intervals that rest on so few" in note for note in uneven.notes)
    assert not any("workers gave" in note for note in even.notes)


def test_how_many_raters_count_by_hand() -> None:
    # One worker has 3 of 6 conversations, three have one each: 1 / (1/4 + 3/36) = 3 of 4.
    sample = sample_of([*(("a", "s", z) for z in (0.0, 1.0, 2.0)), *((w, "s", 1.0) for w in "bcd")])
    result = found(sample)
    assert result.effective_raters == pytest.approx([3])
    assert result.raters.tolist() == [4]
    # Less than eight, yet more than seven tenths of four: that few are few, and not uneven.
    assert not any("workers gave" in note for note in result.notes)


def test_raters_of_uneven_work_must_count_as_eight() -> None:
    # 14 of 44 conversations are one worker's: 1 / ((14/44)² + 30/44²) = 8.6 of 31, with 15 of 45: 7.9.
    z = np.random.default_rng(5).normal(size=55)
    for many, refused in ((14, False), (15, True)):
        workers = np.concatenate([np.zeros(many), np.arange(1, 31)])
        result = found(sample_of_arrays(workers, np.zeros(len(workers)), z[: len(workers), None]))
        assert np.isnan(result.z_low).all() == refused
        assert any("A few workers gave most of the ratings" in note for note in result.notes) == refused


def test_systems_that_are_equally_high_are_leaders_alike() -> None:
    # Each of 40 workers gives the first and the second system the same numbers, in the other order.
    drawn_z = np.random.default_rng(3).normal(1, 0.5, 40)
    z = np.stack([drawn_z, drawn_z[::-1], np.zeros(40)], axis=1)
    z[:, 2] = np.random.default_rng(4).normal(0, 0.5, 40)
    sample = sample_of_arrays(np.repeat(np.arange(40), 3), np.tile(np.arange(3), 40), z.reshape(-1, 1))
    result, scores = found(sample, count=1999), score(sample)
    assert leaders(scores) == ["s0", "s1"]
    assert places(scores.z["overall"].to_numpy(np.float64)).tolist() == [1, 1, 3]
    # The error of both is the same, and so is how far down their intervals reach, but for the draws.
    assert result.z_low[0, 0] == pytest.approx(result.z_low[1, 0], abs=0.02)
    # It reaches at least as far down as that of a system named beforehand, which is symmetrical.
    middle = scores.z["overall"].to_numpy(np.float64)
    lower, upper = middle - result.z_low[:, 0], result.z_high[:, 0] - middle
    assert (lower > upper - 1e-12)[:2].all()
    assert lower[2] == pytest.approx(upper[2])


def test_the_order_of_noise_is_no_rank() -> None:
    assert places(np.array([0.3, 0.1 + 0.2, np.nan, 0.5, -1])).tolist()[:2] == [2, 2]
    np.testing.assert_array_equal(places(np.array([1, np.nan, 1, 0])), [1, np.nan, 1, 3])


def test_where_the_highest_score_is_unsure_nobody_is_said_to_be_the_best() -> None:
    # s0 is the highest by two workers, of whom one knows no spread; the chance of s1 is not 1 for that.
    rng = np.random.default_rng(1)
    rows = [("a", "s0", 2.0), ("b", "s0", 1.9)]
    rows += [(f"w{i}", system, float(rng.normal())) for i in range(30) for system in ("s1", "s2")]
    result = found(sample_of(rows))
    assert result.systems[0] == "s0"
    assert np.isnan(result.z_low[0, 0])
    assert np.isfinite(result.z_low[1:, 0]).all()
    assert np.isnan(result.best_chance).all()
