"""Adjusted scores: from data whose truth is known, against statsmodels, and as published."""

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
from qc.robustness.context import Adjusted, adjust
from tests.qc.support.runs import run_of, words_of

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
        "left out with their conversations (1): topic opinion unknown." in note for note in found.notes
    )
    without = adjusted(with_opinions(some))
    assert without.n == 180
    assert not any("Carried by fewer" in note for note in without.notes)


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
