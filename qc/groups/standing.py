"""Scores and ranks by group, and how far systems change places between the groups of a field."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.groups.fields import WorkerField
from qc.method.scores import places
from qc.statistics.person_means import Means, person_means, rank_ranges
from qc.statistics.places import RankPlaces, change_of_places
from qc.statistics.resampling import generator


@dataclass(frozen=True)
class GroupStanding:
    """One group's scores of S systems, in the order of the scores; each person counts once.

    Attributes:
        group: name.
        people: number of people in it, who passed.
        scores: overall z, with intervals.
        rank: (S,), 1 for the best, ties share the best rank; 0 for a system that nobody in the group rated.
        rank_low, rank_high: (S,), range of the rank; see `qc.statistics.person_means.rank_ranges`.
    """

    group: str
    people: int
    scores: Means
    rank: NDArray[np.intp]
    rank_low: NDArray[np.intp]
    rank_high: NDArray[np.intp]


@dataclass(frozen=True)
class FieldStanding:
    """A field of the background.

    Attributes:
        field: name.
        groups: the groups that may be shown.
        withheld: number of groups withheld, because they are small or could be found by subtraction.
        places: how far systems change places between the shown groups; None with fewer than two.
        p_holm, p_scores_holm: the p-values of `places` after Holm's correction for the number of fields; NaN
            without `places`.
    """

    field: str
    groups: tuple[GroupStanding, ...]
    withheld: int
    places: RankPlaces | None
    p_holm: float = np.nan
    p_scores_holm: float = np.nan


def standing(
    field: WorkerField, shown: NDArray[np.bool_], values: NDArray[np.float64], seed: int
) -> FieldStanding:
    """Return the scores by group of a field.

    Args:
        field: a field of W people.
        shown: (groups,), whether a group may be shown.
        values: (W, S), mean overall z that each person gives to each system, NaN if they did not meet.
        seed: seed of the permutations.
    """
    numbers = np.flatnonzero(shown)
    taken = np.isin(field.codes, numbers)
    places = None
    if len(numbers) > 1:
        rng = generator(seed, f"people dealt to the groups of {field.name}")
        places = change_of_places(
            values[taken], np.searchsorted(numbers, field.codes[taken]), len(numbers), rng
        )
    return FieldStanding(
        field.name,
        tuple(_group(field.groups[number], values[field.codes == number]) for number in numbers),
        int((~shown).sum()),
        places,
    )


def _group(name: str, values: NDArray[np.float64]) -> GroupStanding:
    scores = person_means(values)
    rank = np.nan_to_num(places(scores.mean)).astype(np.intp)
    return GroupStanding(name, len(values), scores, rank, *rank_ranges(values))
