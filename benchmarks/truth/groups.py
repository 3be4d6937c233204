"""Measure results by group, where groups agree or not, and weighting to a population unlike the workers.

Every worker is of one of three ages and one of two sexes. The workers' shares differ from the population's.
Where groups differ, each age adds its own points to some systems, and so does each sex. The true scores of a
group and of the population come from a run with very many workers.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.truth.part import Count, Counted, Part, below, held
from qc.groups import whose_opinion
from qc.method.sample import take_sample
from qc.method.scores import score
from qc.robustness.intervals import means_of_sums, worker_sums
from qc.run import Run
from tests.qc.support.designs import DESIGNS, MAXIMUM, Design, run_of

COLUMNS = (
    "group's score held (95)",
    "rank ranges of a group hold (≥ 95)",
    "scores of groups differ (5 if they do not)",
    "places between groups differ (5 if they do not)",
    "population's score held: raking (95)",
    "population's score held: multilevel (95)",
    "population's score held: not weighted",
)
TAKING_PART = {"age": {"old": 0.2, "young": 0.5, "middle": 0.3}, "sex": {"f": 0.35, "m": 0.65}}
POPULATION = {"age": {"old": 0.4, "young": 0.25, "middle": 0.35}, "sex": {"f": 0.5, "m": 0.5}}
# Points that a group adds to the systems whose number leaves this remainder when divided by three.
DIFFERENCES = {
    "old": (12, 0, -12),
    "young": (-12, 0, 12),
    "middle": (0, 0, 0),
    "f": (0, 6, 0),
    "m": (0, -6, 0),
}
TRUTH_WORKERS = 20_000


@dataclass(frozen=True)
class Opinions:
    """Who takes part, and what is true: overall z of (S,) systems by group, and of the population."""

    by_group: Mapping[str, NDArray[np.float64]]
    population: NDArray[np.float64]


def with_groups(run: Run, rng: np.random.Generator, *, differ: bool) -> Run:
    """Return `run` with the background of its workers, and what it does to their ratings."""
    workers = run.assignments["worker"].cat.categories
    of_worker = run.conversations["worker"].cat.codes.to_numpy()
    system = run.conversations["system"].cat.codes.to_numpy()
    background, added = {"worker": workers}, np.zeros(len(system))
    for field, shares in TAKING_PART.items():
        codes = rng.choice(len(shares), len(workers), p=list(shares.values()))
        background[field] = np.array(list(shares))[codes]
        points = np.array([DIFFERENCES[group] for group in shares], np.float64)
        added += points[codes[of_worker], system % 3]
    added[run.conversations["is_qc"].to_numpy() | (not differ)] = 0
    ratings = (run.ratings + added[:, None]).clip(0, MAXIMUM)
    return replace(run, ratings=ratings, background=pd.DataFrame(background, dtype="str"))


def truth_of(design: Design, *, differ: bool) -> Opinions:
    """Return what groups and population think; one thing where they do not differ."""
    rng = np.random.default_rng(0)
    run = with_groups(run_of(replace(design, workers=TRUTH_WORKERS), rng), rng, differ=differ)
    sample = take_sample(run)
    scores = score(sample)
    order = np.argsort([int(name.split()[-1]) for name in scores.z["system"]])
    values = means_of_sums(worker_sums(sample, scores, sample.overall["z"][:, None]))[:, order, 0]
    passed = sample.screening.workers["passed"].to_numpy(bool)
    everyone = np.nanmean(values, axis=0)
    if not differ or run.background is None:
        return Opinions({group: everyone for shares in POPULATION.values() for group in shares}, everyone)
    names = sample.screening.workers["worker"].astype(str)[passed]
    background = run.background.set_index("worker").loc[names]
    of = {
        group: (background[field] == group).to_numpy()
        for field, shares in POPULATION.items()
        for group in shares
    }
    population = np.zeros(len(everyone))
    for (age, of_age), (sex, of_sex) in product(*(shares.items() for shares in POPULATION.values())):
        population += of_age * of_sex * np.nanmean(values[of[age] & of[sex]], axis=0)
    return Opinions({group: np.nanmean(values[rows], axis=0) for group, rows in of.items()}, population)


def _counting(key: str) -> Count:
    design, differ = CROWDS[key]
    truth = truth_of(design, differ=differ)

    def count(number: int) -> Mapping[str, Counted]:
        rng = np.random.default_rng([1, number])
        sample = take_sample(with_groups(run_of(design, rng), rng, differ=differ))
        scores = score(sample)
        found = whose_opinion(sample, scores, POPULATION, number)
        if found is None:  # they have a background, so something is known of them
            return {}
        of_system = [int(name.split()[-1]) for name in found.systems]
        groups = [group for field in found.fields for group in field.groups]
        true = np.array([truth.by_group[group.group][of_system] for group in groups])
        ranks = 1 + (true[:, None, :] > true[:, :, None]).sum(axis=2)
        low, high = (np.array([getattr(each, name) for each in groups]) for name in ("rank_low", "rank_high"))
        within = ((low <= ranks) & (ranks <= high))[low > 0]
        places = [field.places for field in found.fields if field.places is not None]
        population = truth.population[of_system]
        by = [found.population.by_raking, found.population.by_model] if found.population else []
        of_population = [held(each.low, each.high, population) for each in (*by, found.everyone)]
        counts = (
            _all(held(one.scores.low, one.scores.high, of) for one, of in zip(groups, true, strict=True)),
            (float(within.sum()), len(within)),
            below([each.p_scores for each in places]),
            below([each.p for each in places]),
            *of_population,
        )
        return dict(zip(COLUMNS, counts, strict=True))

    return count


def _all(counts: Iterable[Counted]) -> Counted:
    hits, of = zip(*counts, strict=True)
    return float(sum(hits)), int(sum(of))


CROWDS = {
    "alike": (DESIGNS["published"], False),
    "differing": (DESIGNS["published"], True),
}
PARTS = {
    "groups": Part(
        {"Whose opinion it is": COLUMNS},
        {
            "alike": "248 workers, groups that think alike",
            "differing": "248 workers, groups that differ",
        },
        _counting,
    )
}
