"""Experiments made up with known truth: what a run of each design could have been, drawn anew each time.

The noise is that which `benchmarks/crowd_calibration.py` found in the published run 1, and so is the share of
workers who rate at random; systems are as far apart as there (its raw overall scores). A run goes through the
real loader's types, filter and standardisation; nothing here knows a statistic.
"""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.run import CHANGE, OPINION, Run, Words

STRONG, WEAK = 5, 2  # criteria that count for quality control, and that do not
LABELS = [f"criterion {number}" for number in range(STRONG + WEAK)]
SD_WORKER, SD_CONVERSATION, SD_REST = 15.6, 15.8, 17.5
MEAN_STRONG, MEAN_WEAK, MEAN_QC = 43.0, 29.0, 5.0
CARELESS = 0.3  # of the workers rate at random
RETURNING = 0.18  # chance that a worker does one more assignment
MAXIMUM = 100.0
# Of each family without and with persona, in points from the mean of all.
PUBLISHED = (13.1, 6.1, 4.5, 1.8, -10.4, -10.8, 11.0, 0.5, -5.7, -10.0)


@dataclass(frozen=True)
class Design:
    """What is asked of whom, and what is true.

    Attributes:
        name: in words.
        workers: how many take part, those who rate at random among them.
        assignments: of each worker; None draws it: one, and with chance RETURNING one more, and so on.
        quality: of each system, points added to every rating of it. Two neighbours are a family, and an
            assignment meets one of them; an odd number of systems is met whole in each assignment.
        taste: standard deviation of what one worker has for one system beyond its quality, in points, the
            same in all their conversations. It is part of SD_CONVERSATION, or more than that.
        careless: share of the workers who rate at random.
        leading: assignments of the first workers, none of whom rates at random, instead of `assignments`.
        mean_qc: points that workers give the qc bot on average, before the scale cuts them off.
        returning: chance that a worker does one more assignment, where `assignments` is None.
        pace: standard deviation of the logarithm of a worker's assignments; above 0 it draws them instead.
        halo: whether workers have one impression of a conversation, by which they set all its sliders.
        step: all ratings are multiples of it.
        width: share of the scale that a worker uses, each another part of it.
        split: points by which half of the workers like the first system more, and the other half less.
        without_qc: share of the conversations with the qc bot whose ratings are missing.
    """

    name: str
    workers: int
    assignments: int | None = None
    quality: tuple[float, ...] = PUBLISHED
    taste: float = 8.0
    careless: float = CARELESS
    leading: tuple[int, ...] = ()
    mean_qc: float = MEAN_QC
    returning: float = RETURNING
    pace: float = 0.0
    halo: bool = False
    step: float = 1.0
    width: float = 1.0
    split: float = 0.0
    without_qc: float = 0.0


DESIGNS = {
    "published": Design("published shape: 248 workers", 248),
    "forty": Design("40 workers", 40),
    "twenty": Design("20 workers", 20),
    "sixteen": Design("16 workers × 8 assignments", 16, 8),
    "tastes": Design("16 workers × 8 assignments, strong tastes", 16, 8, taste=20.0),
    "three": Design("three equal systems, 40 workers", 40, quality=(0.0, 0.0, 0.0)),
}


def with_equal_systems(design: Design) -> Design:
    """Return `design` with as many systems, none better than another."""
    return replace(design, name=f"{design.name}, equal systems", quality=(0.0,) * len(design.quality))


def run_of(design: Design, rng: np.random.Generator) -> Run:
    """Draw a run; the qc bot is the last of its systems, and neither first nor last in an assignment."""
    workers, count = design.workers, len(design.quality)
    times = _assignments(design, rng)
    owner = np.repeat(np.arange(workers), times)
    systems = _lineups(len(owner), count, rng)
    by_worker = np.repeat(owner, systems.shape[1])
    run = _as_run(_ratings(design, by_worker, systems.ravel(), rng), owner, systems, count)
    return _without_some_qc(run, design.without_qc, rng) if design.without_qc else run


def _assignments(design: Design, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return how many assignments each worker does."""
    if design.pace:
        times = np.ceil(rng.lognormal(0, design.pace, design.workers)).astype(np.intp)
    elif design.assignments is None:
        times = rng.geometric(1 - design.returning, design.workers)
    else:
        times = np.full(design.workers, design.assignments)
    times[: len(design.leading)] = design.leading
    return times


def _without_some_qc(run: Run, share: float, rng: np.random.Generator) -> Run:
    """Return `run` without that share of its conversations with the qc bot."""
    is_qc = run.conversations["is_qc"].to_numpy(bool)
    kept = ~is_qc | (rng.random(len(is_qc)) >= share)
    conversations, ratings = (
        table[kept].reset_index(drop=True) for table in (run.conversations, run.ratings)
    )
    return replace(run, conversations=conversations, ratings=ratings)


def with_context(run: Run, rng: np.random.Generator) -> Run:
    """Return `run` with times, opinions of topics and changes of topic that have nothing to do with scores.

    Workers are quick or slow, fond of topics or not, and restless or not, in all their conversations.
    """
    workers, rows = len(run.assignments["worker"].cat.categories), np.arange(len(run.conversations))
    of_assignment = run.assignments["worker"].cat.codes.to_numpy()
    of_conversation = run.conversations["worker"].cat.codes.to_numpy()
    pace = rng.normal(0, 0.3, workers)[of_assignment] + rng.normal(0, 0.3, len(of_assignment))
    fond = rng.normal(0, 1, workers)[of_conversation] + rng.normal(0, 1, len(rows))
    changes = np.repeat(rows, rng.poisson(rng.gamma(1.0, 1.0, workers)[of_conversation]))
    opinions = np.searchsorted([0.5, 1.5], -fond)  # from like to dislike
    opening = {"conversation": rows.astype(np.int32), "round": np.zeros(len(rows), np.int32)}
    changed = {"conversation": changes.astype(np.int32), "round": np.ones(len(changes), np.int32)}
    words = Words(
        exchanges=pd.DataFrame({**opening, "input": "hello", "reply": "hello"}),
        topics=pd.DataFrame(
            {
                **opening,
                "topic": "anything",
                "opinion": pd.Categorical.from_codes(opinions, dtype=OPINION),
            }
        ),
        changes=pd.DataFrame(
            {
                **changed,
                "how": pd.Categorical.from_codes(np.zeros(len(changes), np.intp), dtype=CHANGE),
                "bot_opinion": pd.Categorical.from_codes(np.zeros(len(changes), np.intp), dtype=OPINION),
            }
        ),
    )
    return replace(run, assignments=run.assignments.assign(seconds=2400 * np.exp(pace)), words=words)


def _lineups(assignments: int, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the systems that each assignment meets, in order; `count` stands for the qc bot."""
    if count % 2:
        met = np.tile(np.arange(count), (assignments, 1))
    else:
        met = 2 * np.arange(count // 2) + rng.integers(0, 2, (assignments, count // 2))
    met = rng.permuted(met, axis=1)
    place = rng.integers(1, met.shape[1], assignments)[:, None]  # of the qc bot
    columns = np.arange(met.shape[1] + 1)
    before = np.minimum(columns - (columns > place), met.shape[1] - 1)
    return np.where(columns == place, count, np.take_along_axis(met, before, axis=1)).astype(np.intp)


def _ratings(
    design: Design, workers: NDArray[np.intp], systems: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return (conversations, criteria), whole numbers from 0 to MAXIMUM."""
    count = len(design.quality)
    tastes = rng.normal(0, design.taste, (design.workers, count + 1))
    tastes[:, count] = 0  # nobody has a taste for nonsense
    if design.split:
        tastes[:, 0] += design.split * rng.choice([-1, 1], design.workers)
    of_conversation = np.sqrt(max(SD_CONVERSATION**2 - design.taste**2, 0))
    impressions = 1 if design.halo else len(LABELS)
    noise = (
        rng.normal(0, SD_WORKER, design.workers)[workers, None]
        + tastes[workers, systems][:, None]
        + rng.normal(0, of_conversation, (len(systems), 1))
        + rng.normal(0, SD_REST, (len(systems), impressions))
    )
    usual = np.hstack(
        [np.full(STRONG, MEAN_STRONG), np.full(WEAK, MEAN_STRONG if design.halo else MEAN_WEAK)]
    )
    means = np.vstack(
        [usual + np.array(design.quality)[:, None], np.where(usual == MEAN_WEAK, usual, design.mean_qc)]
    )
    careless = rng.random(design.workers) < design.careless
    careless[: len(design.leading)] = False
    random = careless[workers, None]
    ratings = means[systems] + noise
    ratings = np.where(random, rng.uniform(0, MAXIMUM, ratings.shape), ratings)
    if design.width < 1:
        lowest = rng.uniform(0, MAXIMUM * (1 - design.width), design.workers)
        ratings = lowest[workers, None] + design.width * np.clip(ratings, 0, MAXIMUM)
    return np.rint(np.clip(ratings, 0, MAXIMUM) / design.step) * design.step


def _as_run(
    ratings: NDArray[np.float64], owner: NDArray[np.intp], lineups: NDArray[np.intp], count: int
) -> Run:
    """Return the frames of a run; `owner` is the worker of each assignment."""
    held, systems = lineups.shape[1], lineups.ravel()
    families = [f"family {number // 2}" if count % 2 == 0 else f"family {number}" for number in range(count)]
    workers = pd.Index([f"worker {number:05}" for number in range(owner.max() + 1)], dtype="str")
    assignments = pd.Index([f"assignment {number:06}" for number in range(len(owner))], dtype="str")
    names = pd.Index([*(f"system {number}" for number in range(count)), "qc"], dtype="str")
    is_qc = np.arange(count + 1) == count
    return Run(
        name="made up",
        source="made up",
        partial=False,
        criteria=pd.DataFrame(
            {
                "label": LABELS,
                "negative": False,
                "counts_for_qc": np.arange(len(LABELS)) < STRONG,
                "maximum": MAXIMUM,
            }
        ),
        systems=pd.DataFrame(
            {
                "system": names,
                "family": [*families, "qc"],
                "has_persona": [*(count % 2 == 0 and number % 2 == 1 for number in range(count)), False],
                "is_qc": is_qc,
            }
        ),
        assignments=pd.DataFrame(
            {
                "assignment": assignments,
                "hit": assignments,
                "worker": pd.Categorical.from_codes(owner, categories=workers),
                "seconds": 2400.0,
                "reward": np.nan,
                "feedback": pd.Series(np.nan, index=range(len(owner)), dtype="str"),
            }
        ),
        conversations=pd.DataFrame(
            {
                "conversation": pd.RangeIndex(len(systems)).astype("str"),
                "assignment": pd.Categorical.from_codes(
                    np.repeat(np.arange(len(owner)), held), categories=assignments
                ),
                "worker": pd.Categorical.from_codes(np.repeat(owner, held), categories=workers),
                "position": np.tile(np.arange(1, held + 1), len(owner)),
                "system": pd.Categorical.from_codes(systems, categories=names),
                "is_qc": is_qc[systems],
                "persona": pd.Series(np.nan, index=range(len(systems)), dtype="str"),
            }
        ),
        ratings=pd.DataFrame(ratings, columns=LABELS),
    )
