"""The chain from the background of workers to what its groups think, and what a population would."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from qc.groups.disclosure import FEWEST, shown_groups
from qc.groups.fields import Field, fields_of
from qc.groups.margins import MarginField, margin_fields
from qc.groups.population import Population, population
from qc.groups.standing import FieldStanding, standing
from qc.method.sample import Sample
from qc.method.scores import Scores
from qc.number_format import listed, percent, whole
from qc.options import Margins
from qc.robustness.intervals import means_of_sums, worker_sums
from qc.statistics.multiplicity import holm
from qc.statistics.person_means import Means, person_means


@dataclass(frozen=True)
class WhoseOpinion:
    """What is known of the workers who passed, and what follows of it; systems in the order of the scores.

    Attributes:
        systems: (S,), names.
        people: workers who passed.
        everyone: what all of them think, each counting once.
        fields: by field.
        margins: of the population, as far as they could be used; none if none were given.
        population: what it would think; None without margins, or where no weights meet them.
        notes: sentences that a reader must see beside these numbers.
    """

    systems: tuple[str, ...]
    people: int
    everyone: Means
    fields: tuple[FieldStanding, ...]
    margins: tuple[MarginField, ...]
    population: Population | None
    notes: tuple[str, ...]


def whose_opinion(sample: Sample, scores: Scores, margins: Margins | None, seed: int) -> WhoseOpinion | None:
    """Return what groups of workers think; None where nothing is known of them.

    Args:
        sample: the run.
        scores: of its systems, whose order is taken.
        margins: of a population; None if none are known.
        seed: of the deals that say what chance would do.

    Raises:
        OptionError: margins are about fields or groups that the run does not have.
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
    """Return the fields with p-values corrected for their number."""
    of_places, of_scores = (
        holm(np.array([getattr(each.places, name) if each.places else np.nan for each in fields]))
        for name in ("p", "p_scores")
    )
    return tuple(
        replace(each, p_holm=float(p), p_scores_holm=float(p_scores))
        for each, p, p_scores in zip(fields, of_places, of_scores, strict=True)
    )


def _notes(
    fields: Sequence[Field],
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
