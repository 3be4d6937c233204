"""Effects of context, and adjusted scores: by hand, from known truth, against statsmodels, as published."""

import dataclasses
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy.stats import t as student

from qc.method.sample import Sample, take_sample
from qc.method.scores import score
from qc.robustness.context import (
    Adjusted,
    adjust,
    context_effects,
    minutes,
    positions,
    topic_changes,
    topic_opinions,
)
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
        assert "below their systems’ means" in position.sentence


@pytest.mark.published
def test_time_on_task_is_no_effect(runs: tuple[Sample, Sample]) -> None:
    for sample in runs:
        pace = context_effects(sample).effects[1]
        assert len(pace.levels) == 4
        assert pace.p > 0.1
        assert pace.sentence.startswith("No effect of time per conversation can be told from chance")


QUALITY = {"x": 1.0, "y": 0.0, "z": -1.0}


def sample_with(
    overall: dict[str, list[float]], systems: dict[str, list[str]], opinions: bool = True
) -> Sample:
    """Return a sample in which all pass, with these z per worker and system, from position 1 on."""
    workers = [worker for worker, met in systems.items() for _ in met]
    names = [system for met in systems.values() for system in met]
    positions = [position for met in systems.values() for position in range(1, len(met) + 1)]
    z = np.array([value for worker in systems for value in overall[worker]])
    words = words_of(topics=[(row, 0, ["like", "dislike"][row % 5 == 1]) for row in range(len(names))])
    run = run_of(
        [*workers, "q", "q"],
        [*names, "qc", "x"],
        np.arange(2.0 * (len(names) + 2)).reshape(-1, 2),
        [*positions, 1, 2],
        words=words if opinions else None,
    )
    sample = take_sample(run, alpha=0.5)
    screening = sample.screening.workers.assign(passed=sample.screening.workers["worker"] != "q")
    return dataclasses.replace(
        sample,
        screening=dataclasses.replace(sample.screening, workers=screening),
        z=np.tile(np.append(z, [0.0, 0.0])[:, None], 2),
    )


def made_up(noise: float, first: float, seed: int = 0) -> Sample:
    """Return a sample in which x is mostly met first, where scores are lower by `first`."""
    rng = np.random.default_rng(seed)
    systems, overall = {}, {}
    for number in range(60):
        worker = f"w{number:02}"
        met = (
            ["x", *rng.permutation(["y", "z"])] if rng.random() < 0.8 else [*rng.permutation(["x", "y", "z"])]
        )
        systems[worker] = [str(system) for system in met]
        overall[worker] = [
            QUALITY[system] - first * (number == 0) + noise * rng.normal()
            for number, system in enumerate(met)
        ]
    return sample_with(overall, systems)


def frame_of(sample: Sample) -> pd.DataFrame:
    counted = sample.counted
    return pd.DataFrame(
        {
            "z": sample.overall["z"][counted],
            "system": sample.run.conversations["system"][counted].astype(str).to_numpy(),
            "position": sample.run.conversations["position"][counted].to_numpy(),
            "opinion": sample.run.words.topics["opinion"].to_numpy().astype(str) if sample.run.words else "",
            "worker": sample.workers[counted],
        }
    )


def adjusted(sample: Sample) -> Adjusted:
    found = adjust(sample, score(sample))
    assert found is not None
    return found


def test_position_is_taken_out() -> None:
    found = adjusted(made_up(noise=0.0, first=0.6))
    assert found.systems == ("x", "y", "z")
    # x is met first more often than the others, so its plain lead over z is too small
    assert found.plain[0] - found.plain[2] < 1.7
    np.testing.assert_allclose(found.adjusted - found.adjusted[1], [1.0, 0.0, -1.0], atol=1e-9)
    # one conversation in three is the first: the mean level of all scores is kept
    assert found.adjusted.mean() == pytest.approx(-0.2, abs=1e-9)
    assert (found.worker_sd, found.residual_sd, found.n) == (0.0, 0.0, 180)
    estimates = found.coefficients.set_index("term")["estimate"]
    assert estimates["position 2, against 1"] == pytest.approx(0.6, abs=1e-9)
    assert estimates["topic opinion dislike, against like"] == pytest.approx(0.0, abs=1e-9)
    assert list(estimates.index) == [
        *("position 2, against 1", "position 3, against 1", "topic opinion dislike, against like")
    ]


def test_equals_statsmodels() -> None:
    sample = made_up(noise=0.5, first=0.3)
    shift = np.random.default_rng(9).normal(scale=0.5, size=61)
    sample = dataclasses.replace(sample, z=sample.z + shift[sample.workers][:, None])
    found = adjusted(sample)
    data = frame_of(sample)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        formula = "z ~ C(system) + C(position) + C(opinion)"
        fit = smf.mixedlm(formula, data, groups="worker").fit(method="powell", xtol=1e-10, ftol=1e-14)
    # the mean, over all conversations, of what is predicted if the system had been the one met
    expected = [fit.predict(data.assign(system=name)).mean() for name in found.systems]
    np.testing.assert_allclose(found.adjusted, expected, atol=1e-4)
    assert found.worker_sd == pytest.approx(float(np.sqrt(fit.cov_re.iloc[0, 0])), rel=1e-3)
    assert found.worker_sd > 0.2
    assert found.residual_sd == pytest.approx(np.sqrt(fit.scale), rel=1e-3)
    assert (found.low < found.adjusted).all()
    np.testing.assert_allclose(found.high - found.adjusted, found.adjusted - found.low)


def test_errors_are_those_of_the_matrices_of_bell_and_mccaffrey() -> None:
    rng = np.random.default_rng(4)
    sample = made_up(noise=0.5, first=0.3)
    # Workers agree in nothing but their liking of x, and what they give x more they give the others less.
    liking = rng.normal(scale=0.6, size=61)[sample.workers]
    is_x = sample.run.conversations["system"].to_numpy() == "x"
    z = sample.z + np.where(is_x, liking, -liking / 2)[:, None]
    means = np.bincount(sample.workers, z[:, 0]) / np.bincount(sample.workers)
    sample = dataclasses.replace(sample, z=z - means[sample.workers][:, None])
    found = adjusted(sample)
    assert found.worker_sd == 0.0
    data = frame_of(sample)
    fit = smf.ols("z ~ 0 + C(system) + C(position) + C(opinion, Treatment('like'))", data).fit()
    np.testing.assert_allclose(found.coefficients["estimate"], fit.params.iloc[3:], atol=1e-10)
    design, residuals = fit.model.exog, fit.resid.to_numpy()
    inverse = np.linalg.inv(design.T @ design)
    left = np.eye(len(design)) - design @ inverse @ design.T
    scores = []  # of Bell and McCaffrey, worker by worker
    for worker in data["worker"].unique():
        rows = (data["worker"] == worker).to_numpy()
        values, vectors = np.linalg.eigh(left[np.ix_(rows, rows)])
        scores.append(inverse @ design[rows].T @ (vectors / np.sqrt(values) @ vectors.T) @ residuals[rows])
    covariance = np.einsum("wp,wq->pq", scores, scores)
    np.testing.assert_allclose(found.coefficients["se"], np.sqrt(np.diag(covariance))[3:], rtol=1e-9)
    t = np.abs(found.coefficients["estimate"] / found.coefficients["se"])
    np.testing.assert_allclose(
        found.coefficients["p"], 2 * student.sf(t, found.coefficients["degrees"]), rtol=1e-9
    )
    assert found.coefficients["degrees"].between(10, 59).all()
    # At the mix of positions and opinions that the conversations have.
    shares = [*(data["position"] == position for position in (2, 3)), data["opinion"] == "dislike"]
    contrasts = np.hstack([np.eye(3), np.tile([share.mean() for share in shares], (3, 1))])
    errors = np.sqrt(np.diag(contrasts @ covariance @ contrasts.T))
    np.testing.assert_allclose(found.adjusted, contrasts @ fit.params.to_numpy(), atol=1e-10)
    reach = (found.high - found.adjusted) / errors
    assert ((reach > student.ppf(0.975, 59)) & (reach < student.ppf(0.975, 20))).all()
    np.testing.assert_allclose(found.adjusted - found.low, found.high - found.adjusted, rtol=1e-9)


def with_opinions(opinions: dict[int, str | None]) -> Sample:
    """Return 60 workers' conversations, liked but for these rows."""
    sample = made_up(noise=0.5, first=0.3)
    topics = [(row, 0, opinions.get(row, "like")) for row in range(180)]
    return dataclasses.replace(sample, run=dataclasses.replace(sample.run, words=words_of(topics=topics)))


def test_what_one_conversation_says_has_no_p() -> None:
    some = dict.fromkeys(range(0, 60, 3), "dislike")  # of 20 workers
    found = adjusted(with_opinions({**some, 100: None}))
    assert [term for term in found.coefficients["term"] if "opinion" in term] == [
        "topic opinion dislike, against like"
    ]
    assert found.coefficients["p"].notna().all()
    assert found.n == 179
    assert any(
        "leave out 1 conversation, because fewer than 10 workers had one of this kind: topic opinion unknown."
        in note
        for note in found.notes
    )
    without = adjusted(with_opinions(some))
    assert without.n == 180
    assert not any("leave out" in note for note in without.notes)


def test_a_comparison_with_what_too_few_carry_has_an_estimate_only() -> None:
    found = adjusted(with_opinions(dict.fromkeys(range(0, 27, 3), "dislike")))  # of 9 workers
    term = found.coefficients.set_index("term").loc["topic opinion dislike, against like"]
    assert np.isfinite(term["estimate"])
    assert term[["se", "degrees", "p"]].isna().all()
    assert any("neither a standard error nor a p-value" in note for note in found.notes)
    assert found.coefficients["p"].notna().sum() == 2, "positions have theirs"


def test_a_system_of_a_single_worker_has_no_interval() -> None:
    systems = {f"w{n}": [["x", "y"], ["y", "x"]][n % 2] for n in range(12)}
    overall = {worker: [0.1 * n, 0.2 - 0.01 * n * n] for n, worker in enumerate(systems)}
    systems["w5"], overall["w5"] = ["y", "z"], [0.3, 0.9]
    found = adjusted(sample_with(overall, systems, opinions=False))
    of_z = np.equal(found.systems, "z")
    assert np.isfinite(found.adjusted).all()
    assert np.isnan([found.low[of_z], found.high[of_z]]).all()
    assert np.isfinite([found.low[~of_z], found.high[~of_z]]).all()


def test_a_term_that_cannot_be_told_apart_is_left_out() -> None:
    # y alone is met in place 3, so "y" and "place 3" are the same
    systems = {f"w{n}": ["x", "z", "y"] if n % 2 else ["z", "x", "y"] for n in range(6)}
    overall = {worker: [0.1 * n, 0.2, 0.3 + n] for n, worker in enumerate(systems)}
    found = adjusted(sample_with(overall, systems, opinions=False))
    assert np.isfinite(found.adjusted).all()
    assert any("position 3, against 1" in note for note in found.notes)
    assert any("Opinions of topics are not known" in note for note in found.notes)
    assert "position 3, against 1" not in set(found.coefficients["term"])


def test_a_system_that_nobody_met() -> None:
    sample = made_up(noise=0.5, first=0.3)
    run = run_of(
        ["a", "a", "b", "b"] * 3,
        ["qc", "x", "x", "qc"] * 3,
        np.tile([[1.0, 2, 3, 4], [9, 8, 7, 6], [7, 8, 9, 9], [0, 1, 2, 3]], (3, 1)),
        [1, 2] * 6,
        more_systems=["never"],
    )
    sample = take_sample(run)
    found = adjusted(sample)
    assert found.systems == ("x", "never")
    assert np.isnan([found.plain[1], found.adjusted[1], found.low[1], found.high[1]]).all()
    assert found.n == 6
    assert np.isfinite(found.adjusted[0])


def test_nothing_to_adjust() -> None:
    run = run_of(["a", "a"], ["qc", "x"], [[1.0, 2, 3, 4], [9, 8, 7, 6]], [1, 2])
    assert adjust(take_sample(run), score(take_sample(run))) is None  # one conversation
    nobody = take_sample(run, alpha=1e-9)
    assert adjust(nobody, score(nobody)) is None


@pytest.mark.published
@pytest.mark.parametrize(("name", "n"), [("free_run1", 1074), ("free_run2", 829)])
def test_published(published_sample: Callable[[str, str], Sample], name: str, n: int) -> None:
    found = adjusted(published_sample(name, "mturk_batch.csv"))
    # all but one, of whose opening topic no opinion is known
    assert found.n == n
    # positions are nearly balanced over the systems, so the scores hardly move
    assert np.abs(found.adjusted - found.plain).max() < 0.03
    assert np.corrcoef(found.adjusted, found.plain)[0, 1] > 0.998
    # within a worker z has mean 0, so there is no variance between workers
    assert found.worker_sd == 0.0
    assert not any("between workers" in note for note in found.notes)  # it is as it should be
    terms = found.coefficients.set_index("term")
    assert terms.loc["position 6, against 1", "estimate"] > 0.15
    assert terms.loc["position 6, against 1", "p"] < 0.001
