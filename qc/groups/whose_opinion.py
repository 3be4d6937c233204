"""Estimate scores and ranks by group of workers, and for a population."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from qc.errors import OptionError, joined
from qc.groups.fields import WorkerField, fields_of
from qc.groups.population import Population, population
from qc.method.sample import Sample
from qc.method.scores import Scores, places
from qc.options import Margins
from qc.robustness.intervals import means_of_sums, worker_sums
from qc.statistics.clustered_means import Means, person_means, rank_ranges
from qc.statistics.confidence import holm
from qc.statistics.places import RankPlaces, change_of_places
from qc.statistics.resampling import generator
from qc.table import listed, percent, whole


@dataclass(frozen=True)
class GroupStanding:
    """One group's scores of S systems, in the order of the scores; each person counts once.

    Attributes:
        group: name.
        people: number of people in it, who passed.
        scores: overall z, with intervals.
        rank: (S,), 1 for the best, ties share the best rank; 0 for a system that nobody in the group rated.
        rank_low, rank_high: (S,), range of the rank; see `qc.statistics.clustered_means.rank_ranges`.
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


# A group of fewer than FEWEST people is withheld. The rest after subtracting all shown groups from everybody
# must also have FEWEST people; otherwise the smallest shown groups are withheld too, until it has. People in
# no group count as one more group. The same applies across fields: if one group contains another and the
# difference is smaller than FEWEST, the smaller group is withheld.
#
# Source: Willenborg and de Waal, *Elements of Statistical Disclosure Control*, 2001 (thresholds and
# complementary suppression in tables).
FEWEST = 10


def shown_groups(fields: Sequence[WorkerField]) -> list[NDArray[np.bool_]]:
    """Return, for each field, whether its groups may be shown, (groups,)."""
    shown = [_complemented(sizes, sizes[:-1] >= FEWEST) for sizes in map(_sizes, fields)]
    while (nested := _nested(fields, shown)) is not None:
        number, group = nested
        shown[number][group] = False
        shown[number] = _complemented(_sizes(fields[number]), shown[number])
    return shown


def _complemented(sizes: NDArray[np.intp], shown: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return whether each group can be shown without revealing fewer than FEWEST people by subtraction.

    Args:
        sizes: (groups + 1,), number of people in each group, then of those in none.
        shown: (groups,), whether a group is large enough by itself.
    """
    shown = shown.copy()
    while shown.any() and 0 < sizes.sum() - sizes[:-1][shown].sum() < FEWEST:
        shown[np.flatnonzero(shown)[np.argmin(sizes[:-1][shown])]] = False
    return shown


def _sizes(field: WorkerField) -> NDArray[np.intp]:
    """Return the number of people in each group, and last in none, (groups + 1,)."""
    count = len(field.groups)
    return np.bincount(np.where(field.codes < 0, count, field.codes), minlength=count + 1)


def _nested(fields: Sequence[WorkerField], shown: Sequence[NDArray[np.bool_]]) -> tuple[int, int] | None:
    """Return field and index of a group that differs from a group of another field by too few people."""
    there = [
        (number, group, field.codes == group)
        for number, field in enumerate(fields)
        for group in np.flatnonzero(shown[number]).tolist()
    ]
    for number, group, inner in there:
        for other, _, outer in there:
            rest = int(outer.sum() - inner.sum())
            if number != other and 0 < rest < FEWEST and not (inner & ~outer).any():
                return number, group
    return None


# Common name of the withheld groups.
OTHERS = "others"


@dataclass(frozen=True)
class MarginField:
    """A field of the margins, with the withheld groups merged into one.

    Attributes:
        field: the shown groups, then OTHERS if any are withheld.
        shares: (groups,), shares of the population, which add up to 1.
        missing: share of the population in groups without workers; `shares` are shares of the rest.
    """

    field: WorkerField
    shares: NDArray[np.float64]
    missing: float


def margin_fields(
    margins: Margins, fields: Sequence[WorkerField], shown: Sequence[NDArray[np.bool_]]
) -> list[MarginField]:
    """Return the fields of the margins, without those with fewer than two remaining groups.

    Raises:
        OptionError: a field or a group exists only in the margins, or only in the run.
    """
    known = {field.name: (field, of_field) for field, of_field in zip(fields, shown, strict=True)}
    unknown = sorted(set(margins) - known.keys())
    if unknown:
        raise OptionError(
            f"--margins has the fields {joined(unknown)}, but this run has these fields of its workers: "
            f"{joined(sorted(known)) or 'none'}. Use the names of --background or the study."
        )
    found = [_margin_field(*known[name], shares) for name, shares in margins.items()]
    return [each for each in found if len(each.shares) > 1]


def _margin_field(field: WorkerField, shown: NDArray[np.bool_], shares: Mapping[str, float]) -> MarginField:
    stray = [group for group in field.groups if group not in shares]
    if stray:
        raise OptionError(
            f"--margins has no share of {joined(stray)} in {field.name}, where workers of this run are. Add "
            f"it, or give those workers one of its groups: {joined(list(shares))}."
        )
    present = sum(shares[group] for group in field.groups)
    wanted = np.array([shares[group] for group in field.groups]) / present
    # Withheld groups are weighted as one, so that their scores cannot be found by subtraction.
    shown = _enough_others(field, shown)
    order = np.where(shown, np.cumsum(shown) - 1, shown.sum())
    names = (*(group for group, may in zip(field.groups, shown, strict=True) if may), OTHERS)
    merged = np.asarray(np.bincount(order, wanted), np.float64)
    codes = np.where(field.codes < 0, -1, order[field.codes])
    used = replace(field, groups=names[: len(merged)], codes=codes)
    return MarginField(used, merged, 1 - present)


def _enough_others(field: WorkerField, shown: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return whether each group stays separate, so that the merged others have FEWEST people or none."""
    shown, sizes = shown.copy(), np.bincount(field.codes[field.codes >= 0], minlength=len(field.groups))
    while shown.any() and 0 < sizes[~shown].sum() < FEWEST:
        shown[np.flatnonzero(shown)[np.argmin(sizes[shown])]] = False
    return shown


@dataclass(frozen=True)
class WhoseOpinion:
    """Scores by group of workers who passed, and for a population; systems in the order of the scores.

    Attributes:
        systems: (S,), names.
        people: number of workers who passed.
        everyone: scores from all of them, each counted once.
        fields: scores by group, for each field.
        margins: the usable margins of the population; empty if none were given.
        population: scores for the population; None without margins, or if no weights meet them.
        notes: sentences that a reader of these numbers must see.
    """

    systems: tuple[str, ...]
    people: int
    everyone: Means
    fields: tuple[FieldStanding, ...]
    margins: tuple[MarginField, ...]
    population: Population | None
    notes: tuple[str, ...]


def whose_opinion(sample: Sample, scores: Scores, margins: Margins | None, seed: int) -> WhoseOpinion | None:
    """Return the scores by group of workers; None if the run has no background data.

    Args:
        sample: the run.
        scores: gives the order of the systems.
        margins: margins of a population; None if there are none.
        seed: seed of the permutations.

    Raises:
        OptionError: the margins have fields or groups that the run does not have.
    """
    fields = fields_of(sample)
    if not fields and margins is None:
        return None
    shown = shown_groups(fields)
    values = means_of_sums(worker_sums(sample, scores, sample.overall["z"][:, None]))[..., 0]
    used = margin_fields(margins, fields, shown) if margins is not None else []
    found = (
        population(values, [each.field for each in used], [each.shares for each in used]) if used else None
    )
    return WhoseOpinion(
        systems=tuple(scores.z["system"]),
        people=len(values),
        everyone=person_means(values),
        fields=_corrected([standing(*each, values, seed) for each in zip(fields, shown, strict=True)]),
        margins=tuple(used),
        population=found,
        notes=tuple(_notes(fields, shown, margins, used, found)),
    )


def _corrected(fields: Sequence[FieldStanding]) -> tuple[FieldStanding, ...]:
    """Return the fields with p-values corrected for the number of fields."""
    of_places, of_scores = (
        holm(np.array([getattr(each.places, name) if each.places else np.nan for each in fields]))
        for name in ("p", "p_scores")
    )
    return tuple(
        replace(each, p_holm=float(p), p_scores_holm=float(p_scores))
        for each, p, p_scores in zip(fields, of_places, of_scores, strict=True)
    )


def _notes(
    fields: Sequence[WorkerField],
    shown: Sequence[NDArray[np.bool_]],
    margins: Margins | None,
    used: Sequence[MarginField],
    found: Population | None,
) -> list[str]:
    notes = []
    withheld = [field.name for field, may in zip(fields, shown, strict=True) if not may.all()]
    if withheld:
        notes.append(
            f"Withheld in {listed(withheld)}: groups of fewer than {FEWEST} people, and others from which "
            "they could be found by subtraction."
        )
    for field in fields:
        unknown = int((field.codes < 0).sum())
        if unknown >= FEWEST:
            notes.append(
                f"{field.name} is not known of {whole(unknown)} of {whole(len(field.codes))} people."
            )
    for each in used:
        if each.missing > 0:
            notes.append(
                f"In some groups of {each.field.name}, {percent(each.missing)} of the population, nobody "
                "took part: its scores stand for the others."
            )
    if margins is not None and not used:
        notes.append("No field of the margins has two groups that may be shown, so nothing was weighted.")
    elif margins is not None and found is None:
        notes.append(
            "No weights of these people meet all margins at once, so there are no scores for the population. "
            "Give margins of fewer fields."
        )
    return notes
