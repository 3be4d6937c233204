"""What a persona contributes: systems of a family with one against those without.

Source: Ji et al., ACL 2022, the comparison of systems with and without persona; intervals and tests are
additions of ours.

Interval and p-value come from the same draws of whole workers, which keep together what one worker
contributed to several systems and families. Beside them, of each family, stands the p-value of the published
method's comparison of two systems: a rank-sum test on overall z, each conversation for itself.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.method.scores import Scores
from qc.robustness.intervals import Draws
from qc.statistics.confidence import LEVEL
from qc.statistics.rank_sum import rank_sum_less
from qc.statistics.resampling import percentile_interval

EVERY_FAMILY = "all families"


@dataclass(frozen=True)
class FamilyPersona:
    """One family's systems with and without persona, or the mean over families.

    Attributes:
        family: its name; EVERY_FAMILY for the mean.
        with_persona, without: the systems, joined by ", " where there are several; empty for the mean.
        z_with, z_without: overall z, the mean of the systems' scores, each system weighing the same; NaN if
            none of them has a score.
        difference: `z_with` − `z_without`.
        low, high: its percentile interval over the draws of workers; NaN if it has none, or if a system
            was rated by a single worker.
        p: two-sided percentile p-value: 1 − the level at which the percentile interval just reaches 0. With
            k of n draws on the side of 0 that has fewer, it is 2 (1 + k) / (1 + n), so never below
            2 / (1 + n). NaN where the interval is. Source: Efron and Tibshirani, *An Introduction to the
            Bootstrap*, 1993, section 15.4.
        p_rank_sum: two-sided, of the rank-sum test, which takes a worker's conversations as independent; NaN
            for the mean, and if either kind has no kept conversation.
    """

    family: str
    with_persona: str
    without: str
    z_with: float
    z_without: float
    difference: float
    low: float
    high: float
    p: float
    p_rank_sum: float


@dataclass(frozen=True)
class PersonaEffect:
    """The persona's contribution in each family, by name, and the mean over families that have a difference.

    `pooled` is None with fewer than two such families. `level` is that of the intervals.
    """

    families: tuple[FamilyPersona, ...]
    pooled: FamilyPersona | None
    level: float = LEVEL


@dataclass(frozen=True)
class _Family:
    """A family's systems: their names, and the ranks, from 0, of those with a score."""

    name: str
    with_names: tuple[str, ...]
    without_names: tuple[str, ...]
    with_persona: NDArray[np.intp]
    without: NDArray[np.intp]

    def difference(self, overall: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean score of the systems with persona minus that of those without, (…,) from (…, S)."""
        return _mean(overall, self.with_persona) - _mean(overall, self.without)


def persona_effect(sample: Sample, scores: Scores, draws: Draws) -> PersonaEffect | None:
    """Return what a persona contributes; None if no family has systems both with and without one."""
    families = _families(sample, draws.raters, tuple(scores.z["system"]))
    if not families:
        return None
    overall = scores.z["overall"].to_numpy(np.float64)
    # The draws of a system that a single worker rated tell nothing.
    drawn = np.where(draws.raters > 1, draws.overall("z"), np.nan)
    each = tuple(_of_family(sample, family, overall, drawn) for family in families)
    pooled = [family for family in families if len(family.with_persona) and len(family.without)]
    return PersonaEffect(each, _mean_effect(pooled, overall, drawn) if len(pooled) > 1 else None)


def _families(sample: Sample, raters: NDArray[np.intp], order: tuple[str, ...]) -> list[_Family]:
    """Return the families that have systems of both kinds, by name."""
    competing = sample.run.systems[~sample.run.systems["is_qc"]]
    families = []
    for name, members in competing.groupby("family", sort=True):
        kinds = [tuple(members.loc[members["has_persona"] == kind, "system"]) for kind in (True, False)]
        if all(kinds):
            ranks = [[order.index(system) for system in kind] for kind in kinds]
            scored = [np.array([rank for rank in kind if raters[rank] > 0], dtype=np.intp) for kind in ranks]
            families.append(_Family(str(name), kinds[0], kinds[1], scored[0], scored[1]))
    return families


def _of_family(
    sample: Sample, family: _Family, overall: NDArray[np.float64], drawn: NDArray[np.float64]
) -> FamilyPersona:
    return replace(
        _mean_effect([family], overall, drawn),
        family=family.name,
        with_persona=", ".join(family.with_names),
        without=", ".join(family.without_names),
        p_rank_sum=_p_rank_sum(
            _conversations(sample, family.with_names), _conversations(sample, family.without_names)
        ),
    )


def _mean_effect(
    families: list[_Family], overall: NDArray[np.float64], drawn: NDArray[np.float64]
) -> FamilyPersona:
    """Return the mean over the families, each weighing the same."""
    differences = np.mean([family.difference(drawn) for family in families], axis=0)
    low, high = percentile_interval(differences, LEVEL)
    return FamilyPersona(
        family=EVERY_FAMILY,
        with_persona="",
        without="",
        z_with=float(np.mean([_mean(overall, family.with_persona) for family in families])),
        z_without=float(np.mean([_mean(overall, family.without) for family in families])),
        difference=float(np.mean([family.difference(overall) for family in families])),
        low=float(low),
        high=float(high),
        p=_p_of_draws(differences),
        p_rank_sum=np.nan,
    )


def _mean(overall: NDArray[np.float64], ranks: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the mean of the scores at `ranks`, (…,); NaN where there are none, or one of them is NaN."""
    if len(ranks) == 0:
        return np.full(overall.shape[:-1], np.nan)
    return np.asarray(overall[..., ranks].mean(axis=-1))


def _conversations(sample: Sample, systems: tuple[str, ...]) -> NDArray[np.float64]:
    """Return the rounded overall z of every counted conversation with one of the systems."""
    codes = np.flatnonzero(sample.run.systems["system"].isin(systems))
    rows = sample.counted & np.isin(sample.systems, codes)
    return sample.overall_rounded[rows]


def _p_rank_sum(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    if len(first) == 0 or len(second) == 0:
        return np.nan
    return float(min(1.0, 2 * min(rank_sum_less(first, second), rank_sum_less(second, first))))


def _p_of_draws(differences: NDArray[np.float64]) -> float:
    known = int((~np.isnan(differences)).sum())
    if known == 0:
        return np.nan
    smaller = min(np.count_nonzero(differences <= 0), np.count_nonzero(differences >= 0))
    return float(min(1.0, 2 * (1 + smaller) / (1 + known)))
