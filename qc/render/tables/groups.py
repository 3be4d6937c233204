"""Tables of scores by group of workers, and for another population."""

import numpy as np
import pandas as pd

from qc.groups import WhoseOpinion
from qc.groups.standing import FieldStanding, GroupStanding
from qc.number_format import MISSING, decimal, ranks, whole
from qc.render.table import COUNT, SHARE, THREE, TWO, WRITTEN, Column, P, Table

STANDING = [
    "field",
    "group",
    "people",
    "system",
    "raters",
    "z",
    "low",
    "high",
    "rank",
    "rank_low",
    "rank_high",
]


def standings(found: WhoseOpinion) -> Table | None:
    """Return the scores and ranks by group; a reader sees a column for each group. None without a group."""
    groups = [(field, group) for field in found.fields for group in field.groups]
    if not groups:
        return None
    frame = pd.concat([_standing(*each, found.systems) for each in groups], ignore_index=True)
    rows = pd.DataFrame({number: _in_words(group) for number, (_, group) in enumerate(groups)})
    rows.insert(0, "system", list(found.systems))
    heads = (f"{field.field}: {group.group} ({whole(group.people)} people)" for field, group in groups)
    columns = (Column(number, head, WRITTEN) for number, head in enumerate(heads))
    return Table(frame, (Column("system", "System"), *columns), rows)


def _standing(field: FieldStanding, group: GroupStanding, systems: tuple[str, ...]) -> pd.DataFrame:
    """Return a row for each system whose score is not withheld."""
    rows = pd.DataFrame(
        {
            "field": field.field,
            "group": group.group,
            "people": group.people,
            "system": list(systems),
            "raters": group.scores.raters,
            "z": group.scores.mean,
            "low": group.scores.low,
            "high": group.scores.high,
            "rank": group.rank,
            "rank_low": group.rank_low,
            "rank_high": group.rank_high,
        },
        columns=STANDING,
    )
    return rows[rows["rank"] > 0]


def _in_words(group: GroupStanding) -> list[str]:
    """Return a group's results for each system: score, half-width of the interval, range of ranks."""
    scores, low, high = group.scores, group.rank_low.tolist(), group.rank_high.tolist()
    half = (scores.high - scores.low) / 2
    return [
        f"{decimal(z, 2)} ± {decimal(half[row], 2)} ({ranks(low[row], high[row])})"
        if np.isfinite(z)
        else MISSING
        for row, z in enumerate(scores.mean.tolist())
    ]


def places(found: WhoseOpinion) -> Table | None:
    """Return how far systems change places; None if no field has two groups to compare."""
    rows = [
        {
            "field": each.field,
            "groups": len(each.groups),
            "moved": each.places.moved,
            "chance": each.places.chance,
            "chance_low": each.places.chance_low,
            "chance_high": each.places.chance_high,
            "p": each.places.p,
            "p_holm": each.p_holm,
            "p_scores": each.places.p_scores,
            "p_scores_holm": each.p_scores_holm,
        }
        for each in found.fields
        if each.places is not None
    ]
    columns = (
        Column("field", "Field"),
        Column("groups", "Groups", COUNT),
        Column("moved", "Places moved", TWO),
        Column("chance", "By chance", TWO),
        Column("chance_low", "95 % of chance", TWO, upper="chance_high"),
        Column("p", form=P),
        Column("p_holm", "p, Holm", P),
        Column("p_scores", form=P),
        Column("p_scores_holm", "p of scores, Holm", P),
    )
    return Table(pd.DataFrame(rows), columns) if rows else None


def population(found: WhoseOpinion) -> Table | None:
    """Return the scores for the population; None if there is none."""
    if found.population is None:
        return None
    raked, modelled = found.population.by_raking, found.population.by_model
    frame = pd.DataFrame(
        {
            "system": list(found.systems),
            "plain": found.everyone.mean,
            "raked": raked.score,
            "raked_low": raked.low,
            "raked_high": raked.high,
            "modelled": modelled.score,
            "modelled_low": modelled.low,
            "modelled_high": modelled.high,
        }
    )
    columns = (
        Column("system", "System"),
        Column("plain", "These workers", THREE),
        Column("raked", "Raked", THREE),
        Column("raked_low", "95 % interval", THREE, upper="raked_high"),
        Column("modelled", "Multilevel model", THREE),
        Column("modelled_low", "95 % interval", THREE, upper="modelled_high"),
    )
    return Table(frame, columns)


def margins(found: WhoseOpinion) -> Table | None:
    """Return the margins that were used; None without scores for a population."""
    if found.population is None:
        return None
    rows = []
    for each in found.margins:
        people = np.bincount(each.field.codes[each.field.codes >= 0], minlength=len(each.shares))
        for group, count, share in zip(each.field.groups, people.tolist(), each.shares.tolist(), strict=True):
            rows.append((each.field.name, group, count, count / people.sum(), share))
    columns = (
        Column("field", "Field"),
        Column("group", "Group"),
        Column("people", "People", COUNT),
        Column("share", "Share of these workers", SHARE),
        Column("population_share", "Share of the population", SHARE),
    )
    return Table(pd.DataFrame(rows, columns=[column.key for column in columns]), columns)
