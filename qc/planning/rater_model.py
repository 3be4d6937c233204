"""Model how workers rate, fitted to a run, assumed, or read from a file.

A worker's rating is a sum of the system's quality on the criterion, the worker's bias, an effect of the
conversation ("mood") and noise, rounded and cut off at both ends of the scale. A share of the workers sets
sliders at random. The simulated crowd (`bots.crowd.profile`) rates by the same model, with its own constants
or with fitted ones.

**Fit.** By simulated moments: a large crowd is drawn from the model repeatedly, with the same random numbers,
and the constants are adjusted until its moments match the run's. The moments, for workers who pass the same
filter, are the mean of each system on each criterion; the variance within conversations, between the
conversations of a worker, and between workers; and the share who pass.

Source: McFadden, *A Method of Simulated Moments for Estimation of Discrete Response Models Without Numerical
Integration*, Econometrica 57, 1989.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qc.errors import OptionError
from qc.method.filter import worker_p_values
from qc.method.sample import Sample, scale_maximum, standardise
from qc.run import codes
from qc.statistics.groups import group_means
from qc.statistics.resampling import generator

FIT_ROUNDS, FIT_WORKERS = 12, 1500
MOST_RANDOM = 0.95


@dataclass(frozen=True)
class RaterModel:
    """Rater model for S systems, the quality-control bot last, and K criteria; higher is better for all.

    Attributes:
        systems: names of the S - 1 competing systems and the bot.
        means: (S, K), quality of each system, before ratings are cut off.
        counts_for_qc: (K,), whether the filter uses the criterion.
        maximum: upper end of the scale, whose lower end is 0.
        worker_sd, conversation_sd, rating_sd: standard deviations of the bias, the conversation effect and
            the noise, in points.
        random_share: share of workers who set sliders at random.
        lineups: (A, H), the systems of each assignment; assignments are used one after the other.
        per_worker: numbers of assignments per worker, one entry per worker.
        errors: (S - 1,), standard errors of the overall means that `means` were fitted to, in points; 0 for
            an assumed model.
        spread: standard deviation of the systems' true means, in points; NaN if the uncertainty of the means
            is given by `errors`.
    """

    systems: tuple[str, ...]
    means: NDArray[np.float64]
    counts_for_qc: NDArray[np.bool_]
    maximum: float
    worker_sd: float
    conversation_sd: float
    rating_sd: float
    random_share: float
    lineups: NDArray[np.intp]
    per_worker: tuple[int, ...]
    errors: NDArray[np.float64]
    spread: float = np.nan


class DrawnRatings(NamedTuple):
    """Ratings of C conversations: (C, K) raw, and the worker and the system, (C,); `qc` is the bot's code."""

    raw: NDArray[np.float64]
    workers: NDArray[np.intp]
    systems: NDArray[np.intp]
    people: int
    qc: int


class Moments(NamedTuple):
    """Moments of a crowd: means (S, K), three variances, and the share who pass."""

    means: NDArray[np.float64]
    within_conversations: float
    within_workers: float
    between_workers: float
    passed: float


def draw_ratings(
    model: RaterModel, workers: int, rng: np.random.Generator, moved: NDArray[np.float64] | None = None
) -> DrawnRatings:
    """Draw the ratings of a crowd.

    Args:
        model: the rater model.
        workers: number of workers, including those who set sliders at random.
        rng: source of the draws.
        moved: (S - 1,), points added to the quality of each competing system; None for none.
    """
    times = rng.choice(np.array(model.per_worker), workers)
    owner = np.repeat(np.arange(workers), times)
    # Every line-up is used before one is repeated, so that systems stay as balanced as in the run.
    rounds = -(-len(owner) // len(model.lineups))
    order = np.concatenate([rng.permutation(len(model.lineups)) for _ in range(rounds)])[: len(owner)]
    systems = model.lineups[order].ravel()
    by_worker = np.repeat(owner, model.lineups.shape[1])
    deserved = model.means + (0.0 if moved is None else np.append(moved, 0.0)[:, None])
    shape = len(systems), deserved.shape[1]
    latent = (
        deserved[systems]
        + rng.normal(0, model.worker_sd, workers)[by_worker, None]
        + rng.normal(0, model.conversation_sd, (len(systems), 1))
        + rng.normal(0, model.rating_sd, shape)
    )
    anywhere = (rng.random(workers) < model.random_share)[by_worker, None]
    ratings = np.where(anywhere, rng.uniform(0, model.maximum, shape), latent)
    raw = np.rint(np.clip(ratings, 0, model.maximum))
    return DrawnRatings(raw, by_worker, systems, workers, len(model.systems) - 1)


def passes(drawn: DrawnRatings, counts_for_qc: NDArray[np.bool_], alpha: float) -> NDArray[np.bool_]:
    """Return whether each worker passes the filter, (workers,)."""
    p = worker_p_values(drawn.raw[:, counts_for_qc], drawn.workers, drawn.systems == drawn.qc, drawn.people)
    return np.asarray(p < alpha)


def overall_z(drawn: DrawnRatings) -> NDArray[np.float64]:
    """Return the overall z of each conversation, (C,); NaN for a worker whose ratings are all the same."""
    return np.asarray(standardise(drawn.raw, drawn.workers, drawn.people).mean(axis=1))


def fit(sample: Sample, seed: int) -> RaterModel:
    """Fit the model to a run of conversations, in which at least one worker passed."""
    observed = _of_sample(sample)
    seen = _moments(observed, sample.screening.workers["passed"].to_numpy(bool))
    model = _first_guess(sample, observed, seen)
    for _ in range(FIT_ROUNDS):
        rng = generator(seed, "simulated moments")
        drawn = draw_ratings(model, FIT_WORKERS, rng)
        found = _moments(drawn, passes(drawn, model.counts_for_qc, sample.screening.alpha))
        model = _moved(model, seen, found)
    return model


def _of_sample(sample: Sample) -> DrawnRatings:
    """Return the ratings of a run; the bot is its last system."""
    return DrawnRatings(
        sample.raw,
        sample.workers,
        sample.systems,
        len(sample.screening.workers),
        len(sample.run.systems) - 1,
    )


def _moments(drawn: DrawnRatings, passed: NDArray[np.bool_]) -> Moments:
    taken = passed[drawn.workers]
    raw, systems, workers = drawn.raw[taken], drawn.systems[taken], drawn.workers[taken]
    means = np.stack([group_means(column, systems, drawn.qc + 1) for column in raw.T], axis=1)
    competing = systems != drawn.qc
    rest = (raw - means[systems])[competing]
    of_conversation = rest.mean(axis=1)
    owners = workers[competing]
    of_worker = group_means(of_conversation, owners, drawn.people)
    there = np.isfinite(of_worker)
    return Moments(
        means,
        float(((rest - of_conversation[:, None]) ** 2).mean()),
        float(((of_conversation - of_worker[owners]) ** 2).mean()),
        float((of_worker[there] ** 2).mean()),
        float(passed.mean()),
    )


def _first_guess(sample: Sample, observed: DrawnRatings, seen: Moments) -> RaterModel:
    run = sample.run
    assignments = codes(run.conversations["assignment"])
    held = np.bincount(assignments)
    # Use only assignments of the most common length; shorter ones would give line-ups of unequal length.
    usual = int(np.bincount(held).argmax())
    order = np.argsort(assignments, kind="stable")
    of_usual = order[(held == usual)[assignments[order]]]
    lineups = observed.systems[of_usual].reshape(-1, usual)
    met = lineups[(lineups == observed.qc).any(axis=1) & (lineups != observed.qc).any(axis=1)]
    done = run.assignments["worker"].cat.codes.to_numpy()
    counted = sample.counted
    errors = _errors(
        sample.raw[counted].mean(axis=1), sample.systems[counted], sample.workers[counted], observed
    )
    return RaterModel(
        systems=tuple(run.systems["system"]),
        means=np.where(np.isfinite(seen.means), seen.means, np.nanmean(seen.means)),
        counts_for_qc=run.criteria["counts_for_qc"].to_numpy(bool),
        maximum=scale_maximum(run),
        worker_sd=float(np.sqrt(seen.between_workers)),
        conversation_sd=float(np.sqrt(seen.within_workers)),
        rating_sd=float(np.sqrt(seen.within_conversations)),
        random_share=1 - seen.passed,
        lineups=met,
        per_worker=tuple(np.bincount(done).tolist()),
        errors=errors,
    )


def _errors(
    values: NDArray[np.float64], systems: NDArray[np.intp], workers: NDArray[np.intp], run: DrawnRatings
) -> NDArray[np.float64]:
    """Return the standard error of each competing system's mean, clustered by worker, (S - 1,)."""
    cells = workers * (run.qc + 1) + systems
    size = run.people * (run.qc + 1)
    means = group_means(values, systems, run.qc + 1)
    moved = np.bincount(cells, values - means[systems], size).reshape(run.people, -1)
    count = np.maximum(np.bincount(systems, minlength=run.qc + 1), 1)
    return np.asarray(np.sqrt((moved**2).sum(axis=0)) / count)[: run.qc]


def _moved(model: RaterModel, seen: Moments, found: Moments) -> RaterModel:
    """Return the model adjusted towards the observed moments `seen`; `found` are its own moments."""

    def scaled(sd: float, name: str) -> float:
        return sd * float(np.sqrt(max(getattr(seen, name), 1e-9) / max(getattr(found, name), 1e-9)))

    step = np.where(np.isfinite(seen.means - found.means), seen.means - found.means, 0)
    return replace(
        model,
        means=model.means + step,
        worker_sd=scaled(model.worker_sd, "between_workers"),
        conversation_sd=scaled(model.conversation_sd, "within_workers"),
        rating_sd=scaled(model.rating_sd, "within_conversations"),
        random_share=float(np.clip(model.random_share + found.passed - seen.passed, 0, MOST_RANDOM)),
    )


def assumed(
    systems: int, spread: float, criteria: int, counted: int, held: int, random_share: float, seed: int
) -> RaterModel:
    """Return a model without data: raters as in the published run 1, quality of systems drawn with `spread`.

    Args:
        systems: number of competing systems.
        spread: standard deviation of their quality, in points.
        criteria: number of criteria.
        counted: number of criteria that count for quality control.
        held: conversations with systems in an assignment, without the bot's.
        random_share: share of workers who set sliders at random.
        seed: seed of the line-ups.
    """
    rng = generator(seed, "line-ups")
    rounds = 20 * systems
    queue = np.concatenate([rng.permutation(systems) for _ in range(rounds * held // systems + 2)])
    lineups = np.array([_distinct(queue[number * held :], held) for number in range(rounds)])
    strong = np.arange(criteria) < counted
    return RaterModel(
        systems=(*(f"system {number + 1}" for number in range(systems)), "qc"),
        means=np.vstack(
            [
                np.where(strong, MEAN_STRONG, MEAN_WEAK) + np.zeros((systems, 1)),
                np.where(strong, MEAN_QC, MEAN_WEAK),
            ]
        ),
        counts_for_qc=strong,
        maximum=100.0,
        worker_sd=WORKER_SD,
        conversation_sd=CONVERSATION_SD,
        rating_sd=RATING_SD,
        random_share=random_share,
        lineups=np.column_stack([lineups, np.full(rounds, systems)]),
        per_worker=(1,),
        errors=np.zeros(systems),
        spread=spread,
    )


def _distinct(queue: NDArray[np.intp], held: int) -> NDArray[np.intp]:
    """Return the first `held` different systems of a queue."""
    _, first = np.unique(queue, return_index=True)
    return queue[np.sort(first)[:held]]


# Means of the published run 1 (`benchmarks/crowd_calibration.py`), the same as in the simulated crowd.
MEAN_STRONG, MEAN_WEAK, MEAN_QC = 43.0, 29.0, 0.0
WORKER_SD, CONVERSATION_SD, RATING_SD = 15.6, 15.8, 17.5


# JSON file: `format`, `version`; `systems`: name → label of criterion → quality, in points of 0 to 100,
# higher is better, before ratings are cut off, with the quality-control bot as `qc`; `worker_sd`,
# `conversation_sd`, `rating_sd`, in the same points; `random_share`.
FORMAT, VERSION = "candor-rater-model", 1
BOT = "qc"  # the server's name of the QC bot, whatever its name in the source
POINTS = 100.0  # the crowd's scale


def write_model(model: RaterModel, criteria: Sequence[str], path: Path) -> None:
    """Write a model of raters.

    Args:
        model: fitted to a run.
        criteria: labels of the criteria, in the order of its means.
        path: file to write; an existing file is replaced.

    Raises:
        OptionError: the file cannot be written.
    """
    scale = POINTS / model.maximum
    names = (*model.systems[:-1], BOT)
    content = {
        "format": FORMAT,
        "version": VERSION,
        "systems": {
            name: dict(zip(criteria, (means * scale).tolist(), strict=True))
            for name, means in zip(names, model.means, strict=True)
        },
        "worker_sd": model.worker_sd * scale,
        "conversation_sd": model.conversation_sd * scale,
        "rating_sd": model.rating_sd * scale,
        "random_share": model.random_share,
    }
    try:
        path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise OptionError(f"--model {path}: it cannot be written: {error.strerror}.") from None
