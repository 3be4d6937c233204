"""Estimate scores and ranks by group of workers, compare the groups, and weight them to a population.

**Changes of places** are compared with chance by a permutation test: people are assigned to the groups at
random, with the same group sizes. If group membership does not matter, every permutation is as likely as the
observed one.

Places are whole numbers, so many permutations move systems as far as the observed one. If all these ties
counted as extreme, p would be below 0.05 in fewer than 5 % of the runs without an effect. So permutations are
ordered by two statistics: first by how far systems move, and ties by how far apart the scores are. Any order
that is fixed in advance gives an exact test, and this one has hardly any ties.

Sources: Good, *Permutation, Parametric and Bootstrap Tests of Hypotheses*, 3rd edition, 2005; the p-value
that counts the observed permutation: Phipson and Smyth, *Permutation P-values Should Never Be Zero*,
Statistical Applications in Genetics and Molecular Biology 9, 2010.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from qc.errors import OptionError, joined
from qc.groups.population import Population, WorkerField, fields_of, population
from qc.method.sample import Sample
from qc.method.scores import Scores, places
from qc.names import case_note
from qc.options import Margins
from qc.robustness.intervals import means_of_sums, worker_sums
from qc.statistics.clustered_means import Means, person_means, rank_ranges
from qc.statistics.confidence import LEVEL, holm, without_noise
from qc.statistics.resampling import BLOCK_CELLS, exact, generator, percentile_interval
from qc.table import listed, percent, whole

DEALS = 999


@dataclass(frozen=True)
class RankPlaces:
    """How far S systems change places between G groups.

    Attributes:
        moved: difference of a system's place between two groups: mean over systems and pairs of groups.
        chance: the expected value of `moved` if group membership does not matter.
        chance_low, chance_high: 95 % range of `moved` if group membership does not matter.
        p: share of permutations that move systems further, or as far with scores at least as far apart.
        p_scores: share of permutations in which the scores of the groups differ at least as much, by the
            weighted sum of squares of their distances from the scores of all (weights: raters). It also
            detects differences that move no system past another.
    """

    moved: float
    chance: float
    chance_low: float
    chance_high: float
    p: float
    p_scores: float


def change_of_places(
    values: NDArray[np.float64], groups: NDArray[np.intp], count: int, rng: np.random.Generator
) -> RankPlaces:
    """Return how far systems change places, with DEALS permutations of the people.

    Args:
        values: (W, S), the value that each person gives to each system, NaN if they did not meet.
        groups: (W,), codes from 0 to `count` - 1; each occurs.
        count: number of groups, at least 2.
        rng: source of the permutations.
    """
    there = np.isfinite(values)
    sums = exact(np.hstack([np.where(there, values, 0), there.astype(np.float64)]))
    sizes = np.bincount(groups, minlength=count)
    starts = np.cumsum(sizes) - sizes
    order = np.argsort(groups, kind="stable")
    seen = _statistics(np.add.reduceat(sums[order], starts)[None])[:, 0]
    dealt = np.empty((2, DEALS))
    size = max(1, min(DEALS, BLOCK_CELLS // sums.size))
    for start in range(0, DEALS, size):
        block = range(start, min(start + size, DEALS))
        people = np.array([rng.permutation(len(sums)) for _ in block])
        dealt[:, block.start : block.stop] = _statistics(np.add.reduceat(sums[people], starts, axis=1))
    low, high = percentile_interval(dealt[0][:, None], LEVEL)
    (moved, squares), (of_moved, of_squares) = without_noise(dealt), without_noise(seen)
    as_far_apart = squares >= of_squares
    as_far = (moved > of_moved) | ((moved == of_moved) & as_far_apart)
    return RankPlaces(
        moved=float(seen[0]),
        chance=float(dealt[0].mean()),
        chance_low=float(low[0]),
        chance_high=float(high[0]),
        p=_p(as_far),
        p_scores=_p(as_far_apart),
    )


def _p(extreme: NDArray[np.bool_]) -> float:
    """Return the p-value from whether each permutation is extreme; the observed one counts too."""
    return float((1 + extreme.sum()) / (len(extreme) + 1))


def _statistics(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean change of places and the sum of squares between groups of each permutation, (2, D).

    Args:
        sums: (D, G, 2 S), sums and then counts.
    """
    systems = sums.shape[2] // 2
    totals, counts = sums[..., :systems], sums[..., systems:]
    means = totals / np.where(counts > 0, counts, np.nan)
    of_all = totals.sum(axis=1) / np.maximum(counts.sum(axis=1), 1)
    squares = np.nansum(counts * (means - of_all[:, None]) ** 2, axis=(1, 2))
    ranked = without_noise(means)
    pairs = combinations(range(sums.shape[1]), 2)
    moved = np.mean([_moved(ranked[:, one], ranked[:, other]) for one, other in pairs], axis=0)
    return np.stack([moved, squares])


def _moved(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean difference in places, (D,), over the systems that both groups rated; 0 without any."""
    both = np.isfinite(one) & np.isfinite(other)
    apart = np.abs(_ranks(one, both) - _ranks(other, both))
    return np.asarray(np.where(both, apart, 0).sum(axis=1) / np.maximum(both.sum(axis=1), 1))


def _ranks(scores: NDArray[np.float64], taken: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return ranks among those taken, 1 for the best, (D, S); ties share the middle rank."""
    known = np.where(taken, scores, -np.inf)
    above = (known[:, None, :] > known[:, :, None]).sum(axis=2)
    level = (known[:, None, :] == known[:, :, None]).sum(axis=2)
    return np.asarray(above + (level + 1) / 2)


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
    of_groups = np.array([shares[group] for group in field.groups])
    wanted = of_groups / of_groups.sum()
    missing = sum(share for group, share in shares.items() if group not in field.groups)
    # Withheld groups are weighted as one, so that their scores cannot be found by subtraction.
    shown = _enough_others(field, shown)
    order = np.where(shown, np.cumsum(shown) - 1, shown.sum())
    names = (*(group for group, may in zip(field.groups, shown, strict=True) if may), OTHERS)
    merged = np.asarray(np.bincount(order, wanted), np.float64)
    codes = np.where(field.codes < 0, -1, order[field.codes])
    used = replace(field, groups=names[: len(merged)], codes=codes)
    return MarginField(used, merged, missing)


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
        notes += case_note(f"groups of {field.name}", field.groups)
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
