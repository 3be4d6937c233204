"""The check of the filter: random workers of known and unknown number, other levels α, and as published."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qc.method.filter import NO_VARIANCE
from qc.method.replication import replicate
from qc.method.sample import Sample, take_sample
from qc.method.scores import score
from qc.robustness import shuffles
from qc.robustness.filter_check import (
    AlphaInfluence,
    FilterCheck,
    PassesPerHigh,
    Screened,
    alpha_influence,
    check_filter,
    most_at_random,
    random_shares,
)
from qc.robustness.shuffles import SIMULATED, simulate_random_workers
from qc.run import Run
from tests.qc.support.runs import run_of, words_of
from tests.qc.support.samples import sample_of

SYSTEMS = ["x", "qc", "y", "z", "x", "y"]


def check(sample: Sample, seed: int = 0) -> FilterCheck:
    return check_filter(sample, score(sample), seed)


def crowd(honest: int, random: int, hang_together: float, seed: int = 0) -> Sample:
    """Return workers of one assignment with 6 conversations and 5 criteria.

    Honest ones rate the qc bot about 35 lower; ratings of random ones have nothing to do with the bot.
    `hang_together` is the spread, beside 15 within, of what the ratings of a conversation have in common.
    """
    rng = np.random.default_rng(seed)
    count = honest + random
    common = rng.normal(scale=hang_together, size=(count, 6, 1))
    ratings = 50 + common + rng.normal(scale=15, size=(count, 6, 5))
    ratings[:honest, 1] -= 35
    names = [f"{'h' if n < honest else 'r'}{n:05}" for n in range(count)]
    return take_sample(
        run_of(
            np.repeat(names, 6).tolist(), SYSTEMS * count, ratings.reshape(-1, 5), [1, 2, 3, 4, 5, 6] * count
        )
    )


def truth(sample: Sample) -> tuple[float, float, float, float]:
    """Return the shares of random who pass, of random among the passed, of honest who pass, among failed."""
    workers = sample.screening.workers
    honest, passed = workers["worker"].str.startswith("h"), workers["passed"]
    return passed[~honest].mean(), (~honest)[passed].mean(), passed[honest].mean(), honest[~passed].mean()


@pytest.mark.parametrize("hang_together", [0.0, 12.0])
def test_what_is_estimated_is_true(hang_together: float) -> None:
    sample = crowd(2000, 1000, hang_together)
    found = check(sample)
    random_pass, among_passed, honest_pass, among_failed = truth(sample)
    # 1000 random workers pass with a binomial sd of 1 %; made from 400 of them
    assert found.simulated_random_pass == pytest.approx(random_pass, abs=0.035)
    assert found.expected_random_pass == 0.05
    assert found.shuffled_ratings_pass == pytest.approx(0.05, abs=0.015)
    # H of about 500 has an sd of 16, doubled; and a few honest workers have p above 1/2
    assert found.random_share == pytest.approx(1 / 3, abs=0.045)
    assert found.random_among_passed == pytest.approx(among_passed, abs=0.025)
    assert among_passed <= found.random_among_passed_bound < among_passed + 0.04
    assert found.honest_pass == pytest.approx(honest_pass, abs=0.05)
    assert found.honest_among_failed == pytest.approx(among_failed, abs=0.08)
    if hang_together:
        assert found.simulated_random_pass > 0.1  # of independent ratings 5 % would pass


def test_without_random_workers() -> None:
    found = check(crowd(300, 0, hang_together=0.0))
    assert found.random_share < 0.02
    assert found.random_among_passed < 0.01
    # Nobody rates at random, but the data cannot exclude it.
    assert 0 < found.random_among_passed_bound < 0.02
    passed = crowd(300, 0, 0.0).screening.workers["passed"].mean()
    assert found.honest_pass == pytest.approx(passed, abs=0.02)
    assert 0 < found.simulated_random_pass < 1


def test_seed() -> None:
    sample = crowd(30, 30, hang_together=10.0)
    first, again, other = check(sample, 1), check(sample, 1), check(sample, 2)
    assert first.simulated_random_pass == again.simulated_random_pass
    assert first.shuffled_ratings_pass == again.shuffled_ratings_pass
    assert first.simulated_random_pass != other.simulated_random_pass


def test_shuffles_stay_in_the_assignment() -> None:
    # Each of two assignments has one conversation rated 0, the rest higher. Only if both are drawn as the qc
    # bot's is p below 3e-6: 10 ratings below 40 others have 5e-7, 5 of 10 above 5 others 1.1e-5. That is 1 in
    # 5 × 5 draws within assignments, but 1 in 45 if two of all ten conversations were drawn.
    ratings = np.repeat([[0.0], [50], [52], [54], [56], [0.0], [60], [62], [64], [66]], 5, axis=1)
    ratings = ratings + np.arange(5) / 10
    sample = take_sample(
        run_of(["w"] * 10, ["qc", "x", "y", "z", "x"] * 2, ratings, [1, 2, 3, 4, 5] * 2), alpha=3e-6
    )
    found = simulate_random_workers(sample, np.array([True]), seed=0)
    # sd of a share of 0.04 in 10,000 is 0.002
    assert found.conversations == pytest.approx(1 / 25, abs=0.008)
    assert SIMULATED == 10_000


def test_everyone_is_compared() -> None:
    sample = crowd(40, 40, hang_together=10.0)
    found = check(sample)
    rows = pd.DataFrame({"system": sample.run.conversations["system"], "z": sample.overall["z"]})
    means = rows[~sample.is_qc].groupby("system", observed=True)["z"].mean()
    np.testing.assert_allclose(found.everyone["z_everyone"], means.loc[found.everyone["system"]])
    np.testing.assert_allclose(found.everyone["z"], score(sample).z["overall"])
    assert found.everyone["rank"].tolist() == [1, 2, 3]
    assert (
        found.everyone["rank_everyone"].tolist()
        == means.rank(ascending=False)[found.everyone["system"]].tolist()
    )
    expected = np.corrcoef(found.everyone["z"], found.everyone["z_everyone"])[0, 1]
    assert found.everyone_r == pytest.approx(expected)


def test_those_who_failed_are_compared_with_those_who_passed() -> None:
    sample = crowd(40, 40, hang_together=10.0)
    found, failed = check(sample), ~sample.screening.workers["passed"].to_numpy()
    rows = pd.DataFrame({"system": sample.run.conversations["system"], "z": sample.overall["z"]})
    means = rows[~sample.is_qc & failed[sample.workers]].groupby("system", observed=True)["z"].mean()
    expected = np.corrcoef(found.everyone["z"], means.loc[found.everyone["system"]])[0, 1]
    assert found.failed_r == pytest.approx(expected)
    assert found.failed_rho in (-1.0, -0.5, 0.5, 1.0)
    # nobody failed: α of 1/2, honest workers only
    everyone = check(take_sample(crowd(30, 0, 0.0).run, alpha=0.5))
    assert np.isnan([everyone.failed_r, everyone.failed_rho]).all()


@pytest.mark.parametrize("hang_together", [0.0, 30.0])
def test_p_values_of_random_workers(hang_together: float) -> None:
    sample = crowd(0, 600, hang_together)
    found = check(sample)
    p = found.random_p
    assert 1000 < len(p) <= 2000
    assert (np.diff(p) >= 0).all()
    assert (p < 0.05).mean() == pytest.approx(found.simulated_random_pass, abs=1e-3)
    # All workers are random, so theirs is the same distribution; 120 are expected in a fifth, sd 10.
    edges = np.linspace(0, 1, 6)
    real = np.histogram(sample.screening.workers["p"], edges)[0]
    expected = np.histogram(p, edges)[0] / len(p) * 600
    np.testing.assert_allclose(real, expected, atol=40)
    if hang_together:
        # whole conversations rated alike: extremes of p are frequent, unlike the 120 of a uniform one
        assert expected[0] > 170


def test_random_workers_are_the_same_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    sample = crowd(0, 40, hang_together=10.0)
    models = np.ones(40, bool)
    whole = simulate_random_workers(sample, models, seed=5)
    # 250 copies of 40 × 6 × 5 ratings; blocks of 7 copies
    monkeypatch.setattr("qc.robustness.shuffles.BLOCK_CELLS", 7 * 1200)
    blocks = simulate_random_workers(sample, models, seed=5)
    assert (whole.conversations, whole.ratings) == (blocks.conversations, blocks.ratings)
    np.testing.assert_array_equal(whole.p, blocks.p)


def test_memory_of_random_workers_is_bounded() -> None:
    # One model with 400 assignments of 6 conversations: 10,000 copies of 12,000 ratings would be 960 MB.
    rng = np.random.default_rng(0)
    ratings = 50 + rng.normal(scale=15, size=(2400, 5))
    sample = take_sample(run_of(["w"] * 2400, SYSTEMS * 400, ratings, [1, 2, 3, 4, 5, 6] * 400))
    held: list[int] = []
    original = shuffles.worker_p_values

    def noting(tested: np.ndarray, *rest: Any) -> np.ndarray:
        held.append(tested.size)
        return original(tested, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shuffles, "worker_p_values", noting)
        patch.setattr(shuffles, "SIMULATED", 400)
        simulate_random_workers(sample, np.array([True]), seed=0)
    assert max(held) <= shuffles.BLOCK_CELLS
    assert sum(held) == 2 * 400 * 12_000


def test_remarks() -> None:
    # Four conversations of four ratings each, the first with the qc bot.
    quick = [[1.0, 2, 3, 4], [80, 90, 70, 60], [81, 91, 71, 61], [82, 92, 72, 62]]
    same = [[50.0, 50, 50, 1], [50] * 4, [50] * 4, [50] * 4]
    narrow = [[50.0, 51, 52, 53], [54, 55, 56, 57], [51, 53, 55, 57], [50, 52, 54, 56]]
    run = run_of(
        np.repeat(["fine", "narrow", "quick", "same"], 4).tolist(),
        ["qc", "x", "y", "x"] * 4,
        [*quick, *narrow, *quick, *same],
        [1, 2, 3, 4] * 4,
        seconds=[600, 600, 100, 240],
        words=words_of(inputs=[(0, "two words"), (4, "one"), (5, "two words"), (8, "a b c"), (12, "yes")]),
    )
    table = check(take_sample(run)).workers.set_index("worker")
    assert table["passed"].tolist() == [True, True, True, False]
    assert table.loc["fine", "remark"] == ""
    # ratings 50 to 57: sd 2.4; of 100. Median of one and two words: 1.5
    sd = np.std(np.ravel(narrow), ddof=1)
    assert (
        table.loc["narrow", "remark"]
        == f"ratings within a few points: sd {sd:.1f} % of the scale; 1.5 words per input"
    )
    # 100 s in four conversations
    assert table.loc["quick", "remark"] == "0.4 minutes per conversation"
    # 15 of 16; 240 s in four is not less than a minute each
    assert table.loc["same", "remark"] == "94 % identical ratings; 1.0 words per input"


def test_workers_by_hand() -> None:
    ratings = [[10.0, 10], [50, 50], [60, 50], [70, 80], [30, 30], [30, 30], [90, 20], [5, 6]]
    run = run_of(
        ["ann", "ann", "ann", "ann", "bob", "bob", "cy", "dan"],
        ["qc", "x", "x", "qc", "qc", "x", "x", "qc"],
        ratings,
        [1, 2, 1, 2, 1, 2, 1, 1],
        seconds=[120, 480, 60, np.nan, 30],
        words=words_of(inputs=[(0, "one"), (0, "two words"), (1, "one two  three four"), (4, "hi"), (5, "")]),
    )
    table = check(take_sample(run)).workers.set_index("worker")
    assert list(table.columns) == [
        *(
            "passed",
            "p",
            "assignments",
            "conversations",
            "sd",
            "identical",
            "minutes",
            "words",
            "reason",
            "remark",
        )
    ]
    assert table["assignments"].tolist() == [2, 1, 1, 1]
    assert table["conversations"].tolist() == [4, 2, 1, 1]
    # ann: 10 10 50 50 60 50 70 80; minutes 120 / 60 / 2 = 1 and 480 / 60 / 2 = 4; words 1, 2, 4
    assert table.loc["ann", "sd"] == pytest.approx(np.std([10, 10, 50, 50, 60, 50, 70, 80], ddof=1))
    assert table.loc["bob", "sd"] == 0.0
    np.testing.assert_allclose(table["identical"], [3 / 8, 1, 0.5, 0.5])
    np.testing.assert_allclose(table["minutes"], [2.5, 0.5, np.nan, 0.5])
    np.testing.assert_allclose(table["words"], [2, 0.5, np.nan, np.nan])
    assert table.loc["bob", "reason"] == NO_VARIANCE
    assert table.loc["cy", "reason"] == "no conversation with the quality-control bot"


def test_constant_workers_are_random_and_never_pass() -> None:
    constant = np.full((12, 4), 30.0)
    run = run_of(["a"] * 6 + ["b"] * 6, SYSTEMS * 2, constant, [1, 2, 3, 4, 5, 6] * 2)
    found = check(take_sample(run))
    assert np.isnan([found.simulated_random_pass, found.random_among_passed, found.honest_pass]).all()
    assert found.random_share == 1.0
    assert found.everyone["z_everyone"].isna().all()
    assert np.isnan(found.everyone_r)
    assert "nothing can be said" in found.notes[0]


def test_nobody_passed() -> None:
    sample = take_sample(crowd(0, 40, 0.0).run, alpha=1e-9)
    found = check(sample)
    assert np.isnan([found.random_among_passed, found.random_among_passed_bound]).all()
    assert 0.5 < found.random_share <= 1
    assert found.everyone["z"].isna().all()
    assert found.everyone["z_everyone"].notna().all()
    assert found.notes


def test_one_system_and_one_conversation() -> None:
    run = run_of(["a", "a", "b"], ["x", "qc", "x"], [[50.0, 60, 70], [1, 2, 3], [4, 5, 6]], [1, 2, 1])
    found = check(take_sample(run))
    assert found.everyone["rank_everyone"].tolist() == [1.0]
    assert np.isnan(found.everyone_rho)
    assert np.isnan(found.workers["words"]).all()


@pytest.fixture(scope="module")
def runs(published_sample: Callable[[str, str], Sample]) -> tuple[Sample, Sample]:
    return published_sample("free_run1", "mturk_batch.csv"), published_sample("free_run2", "mturk_batch.csv")


@pytest.mark.published
def test_published(runs: tuple[Sample, Sample]) -> None:
    first, second = (check(sample) for sample in runs)
    # Run 1: 26 workers with variance have p above 1/2, one has no variance: (2 × 26 + 1) / 248.
    # Run 2: 45 and 6 of 246.
    assert first.random_share == pytest.approx(53 / 248)
    assert second.random_share == pytest.approx(96 / 246)
    for found in (first, second):
        assert 0.10 < found.simulated_random_pass < 0.17
        assert 0.04 < found.shuffled_ratings_pass < 0.05
        assert found.honest_pass == pytest.approx(0.85, abs=0.015)
        assert found.random_among_passed < found.random_among_passed_bound < 0.14
    # run 1: 173 passed, 74 of those with variance failed
    g = first.simulated_random_pass
    assert first.random_among_passed == pytest.approx(52 * g / 173)
    # Of 26 with p above 1/2, who pass 0.30 times as often as they have it, with a standard error of 0.04.
    assert first.random_among_passed_bound == pytest.approx(15 / 173)
    assert first.honest_pass == pytest.approx((173 - 52 * g) / (247 - 52))
    assert first.honest_among_failed == pytest.approx((74 - 52 * (1 - g)) / 75)
    # keeping everyone hardly changes the ranking, but draws the scores together
    assert first.everyone_rho == pytest.approx(1.0)
    assert first.everyone_r == pytest.approx(0.9984, abs=5e-5)
    assert second.everyone_r == pytest.approx(0.9926, abs=5e-5)
    # those who failed agree less with those who passed, with whom they share no rating
    assert first.failed_r == pytest.approx(0.919, abs=5e-4)
    assert second.failed_r == pytest.approx(0.778, abs=5e-4)
    assert first.failed_rho == pytest.approx(0.842, abs=5e-4)
    assert second.failed_rho == pytest.approx(0.673, abs=5e-4)
    assert np.ptp(first.everyone["z_everyone"]) < 0.85 * np.ptp(first.everyone["z"])


@pytest.mark.published
def test_published_workers(runs: tuple[Sample, Sample]) -> None:
    for sample in runs:
        table = check(sample).workers.set_index("worker")
        ratings = sample.run.ratings.set_axis(sample.run.conversations["worker"].astype(str)).stack()
        by_worker = ratings.groupby(level=0)
        np.testing.assert_allclose(table["sd"], by_worker.std(), atol=1e-9)
        share = by_worker.agg(lambda values: values.value_counts(normalize=True).iloc[0])
        np.testing.assert_allclose(table["identical"], share)
        times = sample.run.assignments.set_index("assignment")["seconds"] / 60 / 6
        owners = sample.run.assignments["worker"].astype(str).to_numpy()
        np.testing.assert_allclose(table["minutes"], times.groupby(owners).median())


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


def assert_shares(*shares: float) -> None:
    for share in shares:
        assert math.isnan(share) or 0 <= share <= 1


@given(
    st.integers(0, 60).flatmap(
        lambda tested: st.builds(
            Screened,
            tested=st.just(tested),
            passed=st.integers(0, tested),
            high=st.integers(0, tested),
            constant=st.integers(0, 5),
            random_pass=st.floats(0, 1) | st.just(math.nan),
        )
    )
)
def test_a_share_is_between_0_and_1_whatever_was_counted(counts: Screened) -> None:
    shares = random_shares(counts)
    assert_shares(shares.random, shares.among_passed, shares.honest_pass, shares.among_failed)
    assert shares.honest_failed >= 0 or math.isnan(shares.honest_failed)


def test_no_more_rate_at_random_than_those_who_failed_can_be() -> None:
    # Of 10 workers 6 failed, and a random one fails in 90 %: there are at most 6 / 0.9 = 6.67 of them, though
    # 4 with p above 1/2 speak for 8. Of the 4 who passed 0.67 are random, a sixth; the other 3.33 are all of
    # the honest ones, so that none of these failed.
    found = random_shares(Screened(tested=10, passed=4, high=4, constant=0, random_pass=0.1))
    assert found.random == pytest.approx(2 / 3)
    assert found.among_passed == pytest.approx(1 / 6)
    assert found.honest_pass == pytest.approx(1)
    assert found.honest_failed == pytest.approx(0)


def run(honest: int, random: int, flat: int, seed: int) -> Sample:
    """Return workers of whom so many rate honestly, at random, and everything 50."""
    rng = np.random.default_rng(seed)
    count = honest + random + flat
    ratings = 50 + rng.normal(scale=12, size=(count, 6, 1)) + rng.normal(scale=15, size=(count, 6, 5))
    ratings[:honest, 1] -= 45
    ratings[honest + random :] = 50
    names = np.repeat([f"w{n:04}" for n in range(count)], 6).tolist()
    return take_sample(run_of(names, SYSTEMS * count, ratings.reshape(-1, 5), [1, 2, 3, 4, 5, 6] * count))


@pytest.mark.parametrize("crowd", [(0, 60, 0), (0, 0, 12), (60, 0, 0), (0, 25, 25), (1, 40, 0)])
@pytest.mark.parametrize("seed", range(2))
def test_crowds_of_one_kind(crowd: tuple[int, int, int], seed: int) -> None:
    sample = run(*crowd, seed)
    found = check_filter(sample, score(sample), seed=0)
    assert_shares(found.random_share, found.random_among_passed, found.honest_pass, found.honest_among_failed)
    # Even if everybody passes, one may have rated at random.
    assert math.isnan(found.random_among_passed_bound) or found.random_among_passed_bound > 0
    if crowd[0] == 0:
        assert found.random_share > 0.7


def test_the_bound_by_hand() -> None:
    # ρ = 1: of k + H random workers who pass or have p above 1/2, as many as not have p above 1/2. With H = 0
    # none of k has: 1/2, 1/4, …, 1/32 = 0.031 for k = 5, which is not below 0.025; 1/64 for k = 6 is.
    even = PassesPerHigh(1.0, 0.0)
    assert most_at_random(100, 0, even) == 5
    # H = 1: at most 1 of k + 1 heads: (k + 2) / 2^(k + 1) is 8 / 128 = 0.063, 9 / 256 = 0.035 for k = 7, and
    # 10 / 512 = 0.020 for k = 8.
    assert most_at_random(100, 1, even) == 7
    # There are no more than pass, and never none.
    assert most_at_random(3, 1, even) == 3
    assert most_at_random(100, 0, PassesPerHigh(0.0, 0.0)) == 1
    # Who does not know ρ well allows for more.
    assert most_at_random(100, 10, PassesPerHigh(1.0, 0.5)) > most_at_random(100, 10, even)


def test_the_bound_at_a_level_above_one_half_is_everyone() -> None:
    lax = check(take_sample(crowd(40, 0, 0.0).run, alpha=0.999))
    assert lax.random_among_passed_bound == 1


@pytest.mark.parametrize(("honest", "random"), [(10, 10), pytest.param(60, 30, marks=pytest.mark.soak)])
def test_the_bound_holds_the_number_of_random_workers_who_passed(honest: int, random: int) -> None:
    # 60 runs; 95 % or more hold. 52 or fewer would have a probability below 0.3 % at 95 %.
    held = 0
    for seed in range(60):
        sample = crowd(honest, random, 20.0, seed)
        held += truth(sample)[1] <= check(sample).random_among_passed_bound + 1e-9
    assert held > 52
