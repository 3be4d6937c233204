"""Effects of context: by hand, and as published."""

import dataclasses
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from qc.method.sample import Sample, take_sample
from qc.robustness.context import context_effects, minutes, positions, topic_changes, topic_opinions
from qc.run import Run
from tests.qc.support.designs import DESIGNS
from tests.qc.support.designs import run_of as run_of_design
from tests.qc.support.runs import run_of, words_of

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
    # no level is carried by 10 workers, so nothing is said of what chance does
    assert [level.workers for level in position.levels] == [3, 1, 2, 3]
    assert np.isnan([position.p, position.statistic, position.levels[0].low]).all()
    assert position.sentence.startswith("There are too few workers")
    # 60 s × 4 per assignment is 1 minute per conversation, 120 s × 4 is 2
    assert [(level.name, level.n) for level in pace.levels] == [("up to 1.00", 3), ("1.00 to 2.00", 6)]
    assert np.isnan(pace.p)


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


def test_places_that_workers_feel_each_in_their_own_way_move_no_score() -> None:
    """16 workers × 8 assignments: a worker is bored in some places, always the same, and others in others."""
    told = []
    for seed in range(40):
        rng = np.random.default_rng([3, seed])
        drawn = run_of_design(DESIGNS["sixteen"], rng)
        moods = rng.normal(0, 12, (16, 6))
        of = drawn.conversations["worker"].cat.codes.to_numpy(), drawn.conversations["position"] - 1
        moved = (drawn.ratings + moods[of][:, None]).clip(0, 100)
        position = context_effects(take_sample(dataclasses.replace(drawn, ratings=moved))).effects[0]
        told.append(position.p < 0.05)
    # 2 of 40 are to be expected, with a standard deviation of 1.4; of conversations as independent, half.
    assert sum(told) <= 6


@pytest.fixture(scope="module")
def runs(published_sample: Callable[[str, str], Sample]) -> tuple[Sample, Sample]:
    return published_sample("free_run1", "mturk_batch.csv"), published_sample("free_run2", "mturk_batch.csv")


@pytest.mark.published
def test_first_conversations_score_lower(runs: tuple[Sample, Sample]) -> None:
    # METHOD.md, section 5: about -0.15 in run 1, -0.12 in run 2; later places -0.03 to +0.09
    for sample, first, degrees in zip(runs, (-0.145, -0.123), ("92.9", "108.9"), strict=True):
        position = context_effects(sample).effects[0]
        effects = [level.effect for level in position.levels]
        assert effects[0] == pytest.approx(first, abs=0.0005)
        assert all(-0.03 <= effect <= 0.09 for effect in effects[1:])
        assert position.levels[0].high < 0
        # 173 and 138 workers, of whom not all met each place, and some twice
        assert position.statistic_name == f"F(5, {degrees})"
        assert position.p < 0.003
        assert "conversations in place 1 of their assignment score 0.1" in position.sentence
        assert "below their systems' means" in position.sentence


@pytest.mark.published
def test_time_on_task_is_no_effect(runs: tuple[Sample, Sample]) -> None:
    for sample in runs:
        pace = context_effects(sample).effects[1]
        assert len(pace.levels) == 4
        assert pace.p > 0.1
        assert pace.sentence.startswith("No effect of time per conversation can be told from chance")
