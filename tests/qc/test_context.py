"""Effects of context: by hand, against least squares with clusters, under the null, and as published."""

import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy.stats import f

from qc.load import load
from qc.method.sample import Sample, take_sample
from qc.run import Run
from qc.verdict.context import context_effects, level_means
from qc.verdict.factors import minutes, positions, topic_changes, topic_opinions
from tests.qc.rated import run_of, words_of

# In each place of three assignments of three workers, all of whom pass: x, y and the qc bot.
WORKERS = ["ann"] * 4 + ["bob"] * 4 + ["cy"] * 4
SYSTEMS = ["x", "qc", "y", "x", "y", "qc", "x", "y", "x", "y", "qc", "x"]
RATINGS = [
    [[60 + n, 70 + n, 62 + n, 65 + n] for n in (9, 0, 4, 20)],
    [[50 + n, 52 + n, 51 + n, 66 + n] for n in (8, 0, 17, 20)],
    [[50 + n, 42 + n, 51 + n, 46 + n] for n in (7, 22, 0, 31)],
]
POSITIONS = [1, 2, 3, 4] * 3


def small() -> Run:
    ratings = np.concatenate([np.array(rows, float) for rows in RATINGS])
    ratings[np.array(SYSTEMS) == "qc"] -= 40
    return run_of(WORKERS, SYSTEMS, ratings, POSITIONS, seconds=[240, 480, 480])


def clustered(seed: int, balanced: bool) -> pd.DataFrame:
    """Return values of 60 workers who each meet 4 levels, worker effects and noise but no level effects."""
    rng = np.random.default_rng(seed)
    worker = np.repeat(np.arange(60), 4)
    level = np.tile(np.arange(4), 60)
    system = (worker % 3) if balanced else rng.integers(3, size=240)
    slope = rng.normal(size=60)[worker] * (level == 2)  # makes the spread of a worker's values uneven
    value = system + rng.normal(size=60)[worker] + slope + rng.normal(size=240)
    return pd.DataFrame({"value": value, "level": level, "system": system, "worker": worker})


def of_levels(data: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    return level_means(
        data["value"].to_numpy(),
        data["level"].to_numpy(),
        data["system"].to_numpy(),
        data["worker"].to_numpy(),
    )


def test_means_by_hand() -> None:
    # system 0: values 1, 3 (mean 2); system 1: 10, 20, 30 (mean 20)
    means, covariance = level_means(
        np.array([1.0, 3.0, 10.0, 20.0, 30.0]),
        np.array([0, 1, 0, 1, 1]),
        np.array([0, 0, 1, 1, 1]),
        np.array([0, 1, 0, 1, 2]),
    )
    # level 0: (1 - 2 + 10 - 20) / 2 = -5.5; level 1: (3 - 2 + 20 - 20 + 30 - 20) / 3 = 11 / 3
    np.testing.assert_allclose(means, [-5.5, 11 / 3])
    # residuals: 4.5, -8/3, -4.5, -11/3, 19/3. Level 0's rows of A: (1 - 1/2, -1/2, 1 - 1/3, -1/3, -1/3) / 2.
    # Worker 0: (4.5 / 2 - 4.5 × 2 / 3) / 2 = -0.375; worker 1: (8/6 + 11/9) / 2 = 23/18; worker 2: -19/18.
    variance = (0.375**2 + (23 / 18) ** 2 + (19 / 18) ** 2) * 3 / 2
    assert covariance[0, 0] == pytest.approx(variance)


def test_equals_least_squares_with_clusters_in_a_balanced_design() -> None:
    data = clustered(seed=1, balanced=True)
    means, covariance = of_levels(data)
    # Each system is met equally often at each level, so the means are the coefficients of sum coding.
    fit = smf.ols("value ~ C(system) + C(level, Sum)", data).fit(
        cov_type="cluster", cov_kwds={"groups": data["worker"], "use_correction": False}
    )
    terms = [name for name in fit.params.index if "level" in name]
    np.testing.assert_allclose(means[:3], fit.params[terms], atol=1e-12)
    np.testing.assert_allclose(covariance[:3, :3], fit.cov_params().loc[terms, terms] * 60 / 59, rtol=1e-9)


def test_weighted_means_cancel() -> None:
    data = clustered(seed=2, balanced=False)
    means, covariance = of_levels(data)
    sizes = np.bincount(data["level"])
    assert means @ sizes == pytest.approx(0, abs=1e-10)
    np.testing.assert_allclose(covariance @ sizes, 0, atol=1e-10)


def test_the_test_keeps_its_level() -> None:
    # 600 data sets without effect: the number of p < 0.05 is binomial, mean 30, sd 5.3; without regard to
    # workers it would be far outside, because level 2 varies more between workers.
    rejected = 0
    for seed in range(600):
        means, covariance = of_levels(clustered(seed, balanced=False))
        statistic = means[:3] @ np.linalg.solve(covariance[:3, :3], means[:3]) / 3
        rejected += f.sf(statistic, 3, 59) < 0.05
    assert 14 <= rejected <= 50


def test_effects_of_a_small_run_by_hand() -> None:
    sample = take_sample(small())
    assert sample.screening.workers["passed"].all()
    counted = pd.DataFrame({"z": sample.overall["z"], "system": SYSTEMS, "position": POSITIONS})
    counted = counted[counted["system"] != "qc"]
    relative = counted["z"] - counted.groupby("system")["z"].transform("mean")
    expected = relative.groupby(counted["position"]).mean()
    position, pace = context_effects(sample).effects
    assert (position.name, pace.name) == ("position", "minutes")
    assert [level.name for level in position.levels] == ["1", "2", "3", "4"]
    assert [level.n for level in position.levels] == [3, 1, 2, 3]
    np.testing.assert_allclose([level.effect for level in position.levels], expected)
    # three workers do not tell four levels apart
    assert np.isnan([position.p, position.statistic, position.levels[0].low]).all()
    assert position.sentence.startswith("There are too few workers")
    # 60 s × 4 per assignment is 1 minute per conversation, 120 s × 4 is 2
    assert [(level.name, level.n) for level in pace.levels] == [("up to 1.00", 3), ("1.00 to 2.00", 6)]
    assert pace.statistic_name == "F(1, 2)"
    assert 0 < pace.p < 1


def test_quarters_of_minutes() -> None:
    run = run_of(
        [f"w{n:02}" for n in range(16)],
        ["x", "qc"] * 8,
        np.tile([[50.0, 60, 70, 80], [1, 2, 3, 4]], (8, 1)),
        [1, 2] * 8,
        seconds=[120, 240, 360, 480, 600, 720, 840, np.nan],
    )
    run.conversations["worker"] = pd.Categorical.from_codes(np.repeat(np.arange(8), 2), [*"abcdefgh"])
    run.assignments["worker"] = pd.Categorical.from_codes(np.arange(8), [*"abcdefgh"])
    factor = minutes(take_sample(run))
    # minutes 1 to 7: NumPy's quartiles are 2.5, 4 and 5.5
    assert factor.levels == ("up to 2.50", "2.50 to 4.00", "4.00 to 5.50", "over 5.50")
    assert factor.codes.tolist() == [0, 0, 1, 1, 2, 3, 3, -1]


def test_factors_of_words() -> None:
    # conversations 1, 5 and 10 are the qc bot's
    words = words_of(
        topics=[
            (0, 0, "like"),
            (0, 4, "dislike"),
            (1, 0, "ambivalent"),
            (2, 0, "dislike"),
            (2, 0, "like"),
            (3, 3, "dislike"),
            (4, 0, None),
        ],
        changes=[
            (0, "no change"),
            (2, "bot change"),
            (2, "user change next"),
            *[(3, "bot change")] * 4,
            (5, "bot change"),
        ],
    )
    sample = take_sample(dataclasses.replace(small(), words=words))
    opinions, changes = topic_opinions(sample), topic_changes(sample)
    assert opinions is not None
    assert changes is not None
    # the first opening mark holds; 3 has none, 4's has no opinion, nothing is known of the rest
    assert opinions.levels == ("like", "dislike")
    assert opinions.codes.tolist() == [0, 1, -1, -1, -1, -1, -1, -1, -1]
    assert changes.levels == ("0", "2", "3 or more")
    assert changes.codes.tolist() == [0, 1, 2, 0, 0, 0, 0, 0, 0]
    names = [effect.name for effect in context_effects(sample).effects]
    assert names == ["position", "minutes", "topic opinion", "topic changes"]


def test_what_is_unknown_has_no_effect() -> None:
    run = dataclasses.replace(small(), words=words_of())
    run.assignments["seconds"] = np.nan
    assert [effect.name for effect in context_effects(take_sample(run)).effects] == ["position"]


def test_nobody_passed() -> None:
    sample = take_sample(small(), alpha=1e-9)
    assert not sample.counted.any()
    assert context_effects(sample).effects == ()


def test_one_worker_and_one_place() -> None:
    alone = take_sample(run_of(["ann"] * 4, SYSTEMS[:4], small().ratings[:4], POSITIONS[:4], seconds=60))
    (position,) = context_effects(alone).effects
    assert np.isnan(position.p)
    assert positions(alone).levels == ("1", "3", "4")


@pytest.fixture(scope="module")
def runs(published: Path) -> tuple[Sample, Sample]:
    first, second = (
        take_sample(load(str(published / "published" / name / "mturk_batch.csv")))
        for name in ("free_run1", "free_run2")
    )
    return first, second


@pytest.mark.published
def test_first_conversations_score_lower(runs: tuple[Sample, Sample]) -> None:
    # METHOD.md, section 5: about -0.15 in run 1, -0.12 in run 2; later places -0.03 to +0.09
    for sample, first, workers in zip(runs, (-0.145, -0.123), (173, 138), strict=True):
        position = context_effects(sample).effects[0]
        effects = [level.effect for level in position.levels]
        assert effects[0] == pytest.approx(first, abs=0.0005)
        assert all(-0.03 <= effect <= 0.09 for effect in effects[1:])
        assert position.levels[0].high < 0
        assert position.statistic_name == f"F(5, {workers - 1})"
        assert position.p < 0.002
        assert "conversations in place 1 of their assignment score 0.1" in position.sentence
        assert "below their systems' means" in position.sentence


@pytest.mark.published
def test_time_on_task_is_no_effect(runs: tuple[Sample, Sample]) -> None:
    for sample in runs:
        pace = context_effects(sample).effects[1]
        assert len(pace.levels) == 4
        assert pace.p > 0.1
        assert pace.sentence.startswith("No effect of time per conversation can be told from chance")
