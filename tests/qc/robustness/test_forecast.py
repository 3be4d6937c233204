"""The forecast of a second run: against the real second run, against brute force, and where there is none."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from qc.analysis import AnalysisOptions, analyse
from qc.method.sample import Sample
from qc.method.scores import score
from qc.render.sentences import headlines, verdict
from qc.robustness.forecast import ReplicationForecast, forecast, second_runs
from qc.statistics.resampling import influences
from tests.qc.support.runs import run_of
from tests.qc.support.samples import sample_of, sample_of_arrays


def foretold(sample: Sample, seed: int = 0, splits: int = 300) -> ReplicationForecast | None:
    return forecast(sample, score(sample), seed, splits)


def crowd(
    quality: NDArray[np.float64], workers: int, rng: np.random.Generator, criteria: int = 2
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """Return worker, system and z: every worker holds one conversation with each system, noise of sd 1."""
    systems = np.tile(np.arange(len(quality)), workers)
    z = quality[systems, None] + rng.normal(size=(len(systems), criteria))
    return np.repeat(np.arange(workers), len(quality)), systems, z


@pytest.mark.published
def test_run_1_foretells_run_2(published_sample: Callable[[str, str], Sample]) -> None:
    """The real second run correlated at 0.968 (METHOD: published as 0.969)."""
    found = foretold(published_sample("free_run1", "hits_data.json"), splits=1000)
    assert found is not None
    assert found.r == pytest.approx(0.975, abs=0.002)
    assert found.low < 0.968 < found.high
    assert found.low > 0.9
    assert found.high < 1
    assert next(iter(found.criteria)) == "interesting"
    assert found.notes == ()


@pytest.mark.published
def test_run_2_foretells_run_1(published_sample: Callable[[str, str], Sample]) -> None:
    found = foretold(published_sample("free_run2", "hits_data.json"), splits=1000)
    assert found is not None
    assert 0.955 < found.r < 0.985
    assert found.low < 0.968 < found.high


def test_the_forecast_is_the_brute_force_of_its_definition() -> None:
    rng = np.random.default_rng(1)
    workers, systems, z = crowd(np.array([0.0, 0.5, 1.0, 1.5]), 9, rng)
    found = foretold(sample_of_arrays(workers, systems, z), splits=4000)
    assert found is not None
    halving = np.random.default_rng(2)
    r: list[list[float]] = []
    for _ in range(4000):
        first = np.isin(workers, halving.permutation(9)[:4])
        means = [
            [z[half & (systems == system)].mean(axis=0) for system in range(4)] for half in (first, ~first)
        ]
        pairs = np.array(means)  # (half, system, criterion)
        columns = np.concatenate([pairs.mean(axis=2, keepdims=True), pairs], axis=2)
        r.append([np.corrcoef(columns[0, :, k], columns[1, :, k])[0, 1] for k in range(3)])
    mean = np.mean(r, axis=0)
    expected = 2 * mean / (1 + mean)
    # Each split's r has a spread of about 0.2 here, so a mean over 4,000 has a standard error of 0.003.
    np.testing.assert_allclose([found.r, *found.criteria.values()], expected, rtol=0, atol=0.02)


def test_without_noise_the_second_run_is_the_same() -> None:
    rows = [(w, s, float(z)) for w in "abcdef" for s, z in zip("stu", (0, 1, 3), strict=True)]
    found = foretold(sample_of(rows))
    assert found is not None
    assert (found.r, found.low, found.high) == pytest.approx((1, 1, 1))
    assert found.criteria == pytest.approx({"fun": 1})


def test_without_differences_nothing_is_promised() -> None:
    """Five systems that are equally good: the interval is about that of r between two random lists."""
    lows, highs = [], []
    for seed in range(8):
        found = foretold(sample_of_arrays(*crowd(np.zeros(5), 60, np.random.default_rng(seed))))
        assert found is not None
        assert 0 <= found.r <= 1
        lows.append(found.low)
        highs.append(found.high)
    # Of five independent points r lies within ±0.878 in 95 %; where this run's scores happen to vary more
    # than their error, the interval lies higher.
    assert -0.95 < np.median(lows) < -0.5
    assert 0.8 < np.median(highs) < 0.97


def test_a_negative_mean_counts_as_zero() -> None:
    # Two workers with one taste, two with the opposite: 4 of the 6 halvings put one of each kind in both
    # halves (all scores 0, no r), 2 put the kinds apart (r = −1, the pole of the formula).
    rows = [
        (w, s, sign * z)
        for w, sign in zip("abcd", (1, 1, -1, -1), strict=True)
        for s, z in zip("stu", (-1.0, 0.0, 1.0), strict=True)
    ]
    found = foretold(sample_of(rows))
    assert found is not None
    assert found.r == 0
    assert np.isnan([found.low, found.high]).all()  # the scores of the whole run are all 0


def test_the_interval_holds_what_second_runs_give() -> None:
    held = []
    for seed in range(120):
        rng = np.random.default_rng([7, seed])
        quality = rng.normal(0, 0.3, 8)
        first, second = (sample_of_arrays(*crowd(quality, 40, rng)) for _ in range(2))
        found = foretold(first, seed, splits=200)
        tables = [score(run).z.sort_values("system")["overall"].to_numpy() for run in (first, second)]
        assert found is not None
        held.append(found.low <= np.corrcoef(*tables)[0, 1] <= found.high)
    # 95 % of 120 is 114 with a standard deviation of 2.4; 106 lies 3.3 of them below.
    assert sum(held) >= 106


def test_of_what_a_system_few_have_rated_shows_less_is_held_to_be_true() -> None:
    """Of 40 workers 4 rated the last system: its error has 10 times the variance of the others'."""
    rng = np.random.default_rng(0)
    counts = np.ones((40, 10))
    counts[4:, 9] = 0
    quality = np.linspace(-0.5, 0.5, 10)
    noise = rng.normal(0, 1, counts.shape)
    noise -= noise[:4].mean(axis=0) * (np.arange(10) == 9) + noise.mean(axis=0) * (np.arange(10) < 9)
    found = influences(np.stack([counts, counts * (quality + noise)], axis=2))
    drawn = second_runs(found, counts, 4000, rng)
    shown = np.nanmean(drawn, axis=0) / quality
    # τ² is about 0.1, the error of the last 1/4, that of the others 1/40: ρ is near 0.3, and near 0.8.
    assert shown[9] < 0.6 * shown[0]
    # The second run deals anew: 4 of 40 on average, none in (1 - 4/40)^40 = 1.5 % of the draws.
    assert np.isnan(drawn[:, 9]).mean() == pytest.approx(0.015, abs=0.006)


def test_few_workers_do_not_tell_how_large_errors_are() -> None:
    """Equal systems: the spread of scores within a draw is its e, which varies by √(2 / f) among draws."""
    spreads = []
    for workers in (8, 200):
        counts = np.ones((workers, 5))
        values = np.random.default_rng(1).normal(size=(workers, 5))
        found = influences(np.stack([counts, counts * (values - values.mean(axis=0))], axis=2))
        drawn = second_runs(found, counts, 4000, np.random.default_rng(2))
        variance = drawn.var(axis=1, ddof=1)
        spreads.append(variance.std() / variance.mean())
    # χ²(4) / 4 varies by √(2 / 4) = 0.71 with e known; of 8 workers e itself varies by about √(2 / 28).
    assert spreads[1] == pytest.approx(0.71, abs=0.05)
    assert spreads[0] > spreads[1] + 0.05


def test_few_workers_are_told_of() -> None:
    rng = np.random.default_rng(0)
    few, enough = (foretold(sample_of_arrays(*crowd(np.arange(5.0), n, rng))) for n in (11, 12))
    assert few is not None
    assert enough is not None
    assert "Only 11 workers passed" in few.notes[0]
    assert enough.notes == ()


def test_where_nothing_can_be_foretold() -> None:
    rng = np.random.default_rng(0)
    assert foretold(sample_of_arrays(*crowd(np.arange(5.0), 3, rng))) is None
    assert foretold(sample_of_arrays(*crowd(np.arange(2.0), 30, rng))) is None
    rows = [(w, s, z) for w, z in zip("abcd", (1.0, 2.0, 3.0, 4.0), strict=True) for s in "stu"]
    assert foretold(sample_of(rows, p=dict.fromkeys("abcd", 0.5))) is None, "nobody passed"
    assert foretold(sample_of(rows)) is None, "the systems do not differ in any half"
    apart = [(w, s, float(i)) for i, (w, s) in enumerate(zip("abcd", "stuv", strict=True))]
    assert foretold(sample_of(apart)) is None, "no two halves have a system in common"


def test_the_seed_decides() -> None:
    sample = sample_of_arrays(*crowd(np.arange(4.0) / 4, 20, np.random.default_rng(0)))
    assert foretold(sample, seed=3) == foretold(sample, seed=3)
    assert foretold(sample, seed=3) != foretold(sample, seed=4)


@pytest.mark.parametrize("same_design", [True, False])
def test_no_forecast_where_all_systems_were_rated_alike(same_design: bool) -> None:
    """All systems have 100 and the bot 0. What differs in z is how many systems a worker met."""
    rng = np.random.default_rng(3)
    who, what, where = list[str](), list[str](), list[int]()
    for worker in range(60):
        met = [*rng.permutation(list("abcde"))[: 3 if same_design else rng.integers(2, 5)], "qc"]
        for position, system in enumerate(met * (1 + worker % 2), start=1):
            who.append(f"w{worker:02}")
            what.append(str(system))
            where.append((position - 1) % len(met) + 1)
    ratings = [[0.0] * 3 if system == "qc" else [100.0] * 3 for system in what]
    analysis = analyse(run_of(who, what, ratings, where), AnalysisOptions(bootstrap=100))
    assert analysis.forecast is None
    assert analysis.fragility is None
    assert analysis.fragile_pairs is None
    assert analysis.intervals is not None
    assert np.isnan(analysis.intervals.best_chance).all()
    assert len(analysis.intervals.groups) == 1
    said = "All systems were rated alike, so nothing can be said about their order."
    assert (headlines(analysis)[0], verdict(analysis).findings[0]) == (said, said)
    assert headlines(analysis)[1] == (
        "All systems were rated alike, so whether a second run would agree cannot be told."
    )
    assert verdict(analysis).findings[1] == (
        "Whether a second run would agree cannot be told from this one: all systems were rated alike."
    )
