"""Effect of a persona: compare the systems of a family with and without one.

Source: Ji et al., ACL 2022, the comparison of systems with and without persona; intervals and tests are
our additions.

Interval and p-value use Student's t with standard errors clustered by worker (`qc.statistics.clustered`),
over all systems and families that a worker rated. Each family also has the p-value of the published
comparison of two systems: a rank-sum test on overall z that treats conversations as independent.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.method.scores import Scores, ranks_of
from qc.statistics.clustered import ClusteredFit
from qc.statistics.confidence import LEVEL
from qc.statistics.rank_tests import rank_sum_less

EVERY_FAMILY = "all families"


@dataclass(frozen=True)
class FamilyPersona:
    """One family's systems with and without persona, or the mean over families.

    Attributes:
        family: name of the family; EVERY_FAMILY for the mean.
        with_persona, without: the systems, joined by ", "; empty for the mean.
        z_with, z_without: overall z, the unweighted mean of the systems' scores; NaN if none of them has a
            score.
        difference: `z_with` − `z_without`.
        low, high: its interval; NaN if there is no difference, if only one worker rated a system, or if
            workers do not differ at all.
        p: two-sided, for a difference of 0; NaN if the interval is NaN.
        p_rank_sum: two-sided, of the rank-sum test, which treats a worker's conversations as independent; NaN
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
    """The persona's effect in each family, by name, and the mean over families that have a difference.

    `pooled` is None with fewer than two such families. `level` is the level of the intervals.
    """

    families: tuple[FamilyPersona, ...]
    pooled: FamilyPersona | None
    level: float = LEVEL


@dataclass(frozen=True)
class _Family:
    """A family's systems: their names, and the row numbers in the scores of those with a score."""

    name: str
    with_names: tuple[str, ...]
    without_names: tuple[str, ...]
    with_persona: NDArray[np.intp]
    without: NDArray[np.intp]

    def contrast(self, systems: int) -> NDArray[np.float64]:
        """Return the weights, (S,), of the systems in the difference of the two means."""
        weights = np.zeros(systems)
        weights[self.with_persona] = 1 / max(len(self.with_persona), 1)
        weights[self.without] = -1 / max(len(self.without), 1)
        return weights


def persona_effect(sample: Sample, scores: Scores) -> PersonaEffect | None:
    """Return the effect of a persona; None if no family has systems both with and without one."""
    families = _families(sample, scores)
    if not families:
        return None
    overall = scores.z["overall"].to_numpy(np.float64)
    told = [family for family in families if len(family.with_persona) and len(family.without)]
    rows = [family.contrast(len(overall)) for family in told]
    pooled = [np.mean(rows, axis=0)] if len(told) > 1 else []
    found = _fit(sample, scores).contrasts(np.array([*rows, *pooled]).reshape(-1, len(overall)))
    bounds = np.stack([*found.interval(), found.p()], axis=1)
    of_told = {family.name: bounds[at] for at, family in enumerate(told)}
    each = tuple(
        _of_family(sample, family, overall, of_told.get(family.name, np.full(3, np.nan)))
        for family in families
    )
    return PersonaEffect(each, _mean_effect(told, overall, bounds[-1]) if pooled else None)


def _fit(sample: Sample, scores: Scores) -> ClusteredFit:
    """Return the regression of overall z on the systems, whose coefficients are their scores."""
    counted = sample.counted
    ranks = ranks_of(sample, scores)[sample.systems[counted]]
    # Multiplied by the root of its weight, a row has this weight in a sum of squares.
    roots = np.sqrt(sample.weights[counted])
    design = np.equal(ranks[:, None], np.arange(len(scores.z))) * roots[:, None]
    return ClusteredFit(design, sample.overall["z"][counted] * roots, sample.workers[counted])


def _families(sample: Sample, scores: Scores) -> list[_Family]:
    """Return the families with systems of both kinds, by name."""
    order, rated = tuple(scores.z["system"]), scores.z["n"].to_numpy() > 0
    competing = sample.run.systems[sample.run.competing]
    families = []
    for name, members in competing.groupby("family", sort=True):
        kinds = [tuple(members.loc[members["has_persona"] == kind, "system"]) for kind in (True, False)]
        if all(kinds):
            ranks = [[order.index(system) for system in kind] for kind in kinds]
            scored = [np.array([rank for rank in kind if rated[rank]], dtype=np.intp) for kind in ranks]
            families.append(_Family(str(name), kinds[0], kinds[1], scored[0], scored[1]))
    return families


def _of_family(
    sample: Sample, family: _Family, overall: NDArray[np.float64], bounds: NDArray[np.float64]
) -> FamilyPersona:
    return replace(
        _mean_effect([family], overall, bounds),
        family=family.name,
        with_persona=", ".join(family.with_names),
        without=", ".join(family.without_names),
        p_rank_sum=_p_rank_sum(
            _conversations(sample, family.with_names), _conversations(sample, family.without_names)
        ),
    )


def _mean_effect(
    families: list[_Family], overall: NDArray[np.float64], bounds: NDArray[np.float64]
) -> FamilyPersona:
    """Return the unweighted mean over the families; `bounds` are low, high and p."""
    z_with, z_without = (
        float(np.mean([_mean(overall, getattr(family, kind)) for family in families]))
        for kind in ("with_persona", "without")
    )
    low, high, p = map(float, bounds)
    return FamilyPersona(
        family=EVERY_FAMILY,
        with_persona="",
        without="",
        z_with=z_with,
        z_without=z_without,
        difference=z_with - z_without,
        low=low,
        high=high,
        p=p,
        p_rank_sum=np.nan,
    )


def _mean(overall: NDArray[np.float64], ranks: NDArray[np.intp]) -> float:
    """Return the mean of the scores at `ranks`; NaN if there are none."""
    return float(overall[ranks].mean()) if len(ranks) else np.nan


def _conversations(sample: Sample, systems: tuple[str, ...]) -> NDArray[np.float64]:
    """Return the rounded overall z of every counted conversation with one of the systems."""
    codes = np.flatnonzero(sample.run.systems["system"].isin(systems))
    rows = sample.counted & np.isin(sample.systems, codes)
    return sample.overall_rounded[rows]


def _p_rank_sum(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    if len(first) == 0 or len(second) == 0:
        return np.nan
    return float(min(1.0, 2 * min(rank_sum_less(first, second), rank_sum_less(second, first))))
