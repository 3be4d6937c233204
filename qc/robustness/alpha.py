"""Effect of other levels α of the worker filter on the workers kept, the scores and the ranking.

Source: Ji et al., ACL 2022, the section on the influence of the filter's threshold. A worker's p and z do not
depend on α; α only decides whether the worker's conversations count.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from qc.method.filter import Screening
from qc.method.sample import Sample
from qc.method.scores import Scores, score
from qc.statistics.correlation import pearson, spearman

LEVELS = tuple(percent / 100 for percent in range(1, 11))


@dataclass(frozen=True)
class AlphaLevel:
    """The results at one level.

    Attributes:
        alpha: the level; a worker passes with p below it.
        workers: number of workers who pass.
        conversations: number of their conversations with the systems.
        z: (S,), overall z scores; NaN for a system without a conversation.
        ranking_rho: Spearman's ρ with the overall z scores at the chosen α; NaN with fewer than 3 systems.
        replication_r: Pearson's r with the second run's overall z scores at this same level; NaN without
            a second run, or with fewer than 3 systems in common.
    """

    alpha: float
    workers: int
    conversations: int
    z: NDArray[np.float64]
    ranking_rho: float
    replication_r: float


@dataclass(frozen=True)
class AlphaInfluence:
    """The results at the levels 0.01 to 0.10; `systems` is the order of every level's `z`."""

    systems: tuple[str, ...]
    levels: tuple[AlphaLevel, ...]


def alpha_influence(sample: Sample, scores: Scores, other: Sample | None) -> AlphaInfluence:
    """Return the results of `sample` at each level, and its agreement with `other`, a second run, if given.

    As in the replication, the correlation uses only systems and criteria that both runs have.
    """
    systems = tuple(scores.z["system"])
    chosen = scores.z["overall"].to_numpy(np.float64)
    labels = sample.run.criteria["label"].to_list()
    z, conversations = _by_level(sample, systems, labels)
    replication = _replication(sample, other, systems, labels)
    workers = np.bincount(_first_level(sample), minlength=len(LEVELS) + 1).cumsum()
    return AlphaInfluence(
        systems,
        tuple(
            AlphaLevel(
                alpha=alpha,
                workers=int(workers[level]),
                conversations=int(conversations[level]),
                z=z[level],
                ranking_rho=spearman(chosen, z[level]),
                replication_r=replication[level],
            )
            for level, alpha in enumerate(LEVELS)
        ),
    )


def _first_level(sample: Sample) -> NDArray[np.intp]:
    """Return the index of the lowest level at which each worker passes; the number of levels if none."""
    table = sample.screening.workers
    p = np.where(table["testable"], table["p"], np.nan)
    return np.searchsorted(LEVELS, p, side="right")


def _by_level(
    sample: Sample, systems: tuple[str, ...], labels: list[str]
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the overall z of `systems` over `labels`, (levels, S), and the conversations, (levels,)."""
    if sample.items is not None:
        return _rescored(sample, systems, labels)
    first, own = _first_level(sample)[sample.workers], sample.run.systems["system"].to_list()
    rows = sample.competes & (first < len(LEVELS))
    columns = [sample.run.criteria["label"].to_list().index(label) for label in labels]
    overall = np.take(sample.z[rows], columns, axis=1).mean(axis=1)
    shape = (len(LEVELS), len(own))
    cells = first[rows] * shape[1] + sample.systems[rows]
    # A worker who passes at one level passes at every higher level.
    counts = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape).cumsum(axis=0)
    sums = np.bincount(cells, weights=overall, minlength=shape[0] * shape[1]).reshape(shape).cumsum(axis=0)
    means = sums / np.where(counts > 0, counts, np.nan)
    return means[:, [own.index(system) for system in systems]], counts.sum(axis=1)


def _rescored(
    sample: Sample, systems: tuple[str, ...], labels: list[str]
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Do the same for a run of transcripts, where a judgment's weight depends on which others pass."""
    first, table = _first_level(sample), sample.screening.workers
    z, judgments = np.full((len(LEVELS), len(systems)), np.nan), np.zeros(len(LEVELS), np.intp)
    for level, alpha in enumerate(LEVELS):
        screening = Screening(alpha, table.assign(passed=first <= level))
        at_level = replace(sample, screening=screening)
        scores = score(at_level).z.set_index("system").loc[list(systems), labels]
        z[level], judgments[level] = scores.mean(axis=1), at_level.counted.sum()
    return z, judgments


def _replication(
    sample: Sample, other: Sample | None, systems: tuple[str, ...], labels: list[str]
) -> list[float]:
    """Return Pearson's r between the overall z scores of the two runs at each level."""
    if other is None:
        return [np.nan] * len(LEVELS)
    there = set(other.run.systems.loc[other.run.competing, "system"])
    systems = tuple(system for system in systems if system in there)
    labels = [label for label in labels if label in set(other.run.criteria["label"])]
    if not systems or not labels:
        return [np.nan] * len(LEVELS)
    first, second = (_by_level(run, systems, labels)[0] for run in (sample, other))
    return [pearson(*pair) for pair in zip(first, second, strict=True)]
