"""Scores by group of workers, and for another population."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from qc.groups import WhoseOpinion, whose_opinion
from qc.groups.whose_opinion import FieldStanding, GroupStanding
from qc.sections import schema
from qc.sections.analysis import Analysis
from qc.sections.section import Json, Part, Section, TitledTable
from qc.table import (
    COUNT,
    MISSING,
    SHARE,
    SYSTEM_COLUMN,
    THREE,
    TWO,
    WRITTEN,
    Column,
    P,
    Table,
    decimal,
    ranks,
    whole,
)

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
    return Table(frame, (SYSTEM_COLUMN, *columns), rows)


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
        SYSTEM_COLUMN,
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


def _groups(found: WhoseOpinion) -> Json:
    """Return the content of the tables, which exclude groups that are withheld."""
    weighted = found.population
    return {
        "people": found.people,
        "standings": _rows(standings(found)),
        "places": _rows(places(found)),
        "population": None
        if weighted is None
        else {
            "people": weighted.people,
            "effective_people": weighted.effective,
            "largest_weight": float(weighted.weights.max()),
            "gap": weighted.raked.gap,
            "model_sd": weighted.model_sd,
            "margins": _rows(margins(found)),
            "systems": _rows(population(found)),
        },
    }


def _rows(table: Table | None) -> pd.DataFrame | list[Json]:
    return [] if table is None else table.frame


_GROUPS_SCHEMA = schema.record(
    "Whose opinion it is, by what is known of the workers who passed; absent where nothing is known.",
    people=schema.integer("Workers who passed."),
    standings=schema.rows(
        "Scores and ranks by group; of groups of ten people and more.",
        field=schema.text("What is known of the workers: a column of the file, or a question's label."),
        group=schema.text("The group."),
        people=schema.integer("People in it."),
        system=schema.text("The system."),
        raters=schema.integer("How many of them rated it."),
        z=schema.number("Overall z, each person counting once."),
        low=schema.number("Lower end of its interval.", null=True),
        high=schema.number("Upper end of its interval.", null=True),
        rank=schema.integer("Its rank in the group, 1 for the best."),
        rank_low=schema.integer("The best rank that the group leaves open."),
        rank_high=schema.integer("The worst rank that the group leaves open."),
    ),
    places=schema.rows(
        (
            "How far systems change places between the groups of a field; empty where no two "
            "groups are large enough."
        ),
        field=schema.text("The field."),
        groups=schema.integer("How many of its groups are compared."),
        moved=schema.number("By how many places a system lies apart in two groups, on average."),
        chance=schema.number("The same, expected if it did not matter who is in which group."),
        chance_low=schema.number("Lower end of what chance does 95 % of the time."),
        chance_high=schema.number("Upper end of what chance does 95 % of the time."),
        p=schema.number("How often chance moves them further, or as far with scores at least as far apart."),
        p_holm=schema.number("The same after Holm's correction for the number of fields."),
        p_scores=schema.number("How often chance has the groups' scores differ as much."),
        p_scores_holm=schema.number("The same after Holm's correction."),
    ),
    population=schema.or_null(
        schema.record(
            "Scores for the population.",
            people=schema.integer("Workers of whom every field of the margins is known."),
            effective_people=schema.number("As how many people of equal weight they count (Kish)."),
            largest_weight=schema.number("The largest weight of a person; 1 is the mean."),
            gap=schema.number("The largest distance of a weighted share from the margins."),
            model_sd=schema.number(
                "Standard deviation of what groups think of a system, by the multilevel model.", null=True
            ),
            margins=schema.rows(
                "The margins as they were used.",
                field=schema.text("The field of the margins."),
                group=schema.text("The group; `others` are those that are withheld, together."),
                people=schema.integer("Workers in the group."),
                share=schema.number("Their share of these workers."),
                population_share=schema.number("Its share of the population."),
            ),
            systems=schema.rows(
                "Scores, in the order of `systems`.",
                system=schema.text("The system's name."),
                plain=schema.number("Overall z of these workers, each counting once.", null=True),
                raked=schema.number("The score by raking.", null=True),
                raked_low=schema.number("Lower end of the interval by raking.", null=True),
                raked_high=schema.number("Upper end of the interval by raking.", null=True),
                modelled=schema.number("The score by the multilevel model.", null=True),
                modelled_low=schema.number("Lower end of the interval by the model.", null=True),
                modelled_high=schema.number("Upper end of the interval by the model.", null=True),
            ),
        ),
        "Scores for the population of given margins; null without them.",
    ),
)


def _summary(analysis: Analysis) -> Iterator[TitledTable]:
    if (found := analysis.groups) is None:
        return
    titled = (
        ("How far systems change places between groups of workers", places(found)),
        ("Scores for the population of --margins", population(found)),
    )
    for title, table in titled:
        if table is not None:
            yield TitledTable(title, table)


OPINIONS = Part(
    kind=WhoseOpinion,
    make=lambda a: whose_opinion(a.sample, a.scores, a.options.margins, a.options.seed),
    key="groups",
    content=_groups,
    option="groups",
    notes=lambda found: found.notes,
    schema=_GROUPS_SCHEMA,
)

SECTION = Section(
    id="groups",
    title="Whose opinion",
    parts=(OPINIONS,),
    tables=(
        OPINIONS.file(
            "groups.csv",
            "what each group of workers thinks of each system: z, rank, intervals",
            standings,
        ),
        OPINIONS.file(
            "group_places.csv",
            "how far systems change places between groups, and what chance does",
            places,
        ),
        OPINIONS.file(
            "population.csv", "scores for the population whose margins `--margins` gives", population
        ),
        OPINIONS.file("margins.csv", "these margins beside those of the workers", margins),
    ),
    summary=_summary,
    page="""\
<p>The {{ found.people | whole }} workers who passed, sorted by what is known of them. Here each person \
counts once, however many conversations they held.{% for field in found.fields if not field.places %} \
Of {{ field.field }} no two groups are large enough to be compared.{% endfor %}</p>
{% call table("group_places.csv", "How far systems change places between groups.") %}
Places moved: how many places a system lies apart in two groups of the field, on average. Groups never \
agree to the last place, the less the smaller they are: “By chance” is what comes of dealing the same \
people to groups of the same sizes at random. Only what lies beyond it, with a small p, says that groups \
differ. The last column asks the same of the scores themselves, which may differ without moving any system \
past another. Both p are corrected for the number of fields (Holm).
{% endcall %}
{% call table("groups.csv", "Scores and ranks by group.") %}
Overall z with half the width of its 95 % interval, and in brackets the range of ranks that the group \
leaves open: a system is behind those that are surely above it, and before those that it is surely above. \
Groups of fewer than ten people are withheld, and others from which they could be found by subtraction.
{% endcall %}
{% if found.population %}
{% call table("population.csv", "Scores for the population of the given margins.") %}
Raked: people of each group weighted so that every group has its share of the population. Multilevel \
model: combinations of groups lean on what all think, the more the fewer people they have. They count as \
much as {{ found.population.effective | decimal(0) }} people of equal weight would, of \
{{ found.population.people | whole }}; the heaviest weighs \
{{ found.population.weights.max() | decimal(1) }}. Neither mends differences between those of a group \
who took part and those who did not.
{% endcall %}
{% call table("margins.csv", "The margins.") %}
Groups too small to be shown are weighted together, as others.
{% endcall %}
{% endif %}
""",
)
