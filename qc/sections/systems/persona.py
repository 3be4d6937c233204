"""Contribution of a persona to the scores of each family of systems."""

from dataclasses import fields

import numpy as np
import pandas as pd

from qc.drawing.charts import interval, point, rows
from qc.drawing.sheet import Drawing, Sheet
from qc.drawing.style import BLUE, INK
from qc.robustness.persona import FamilyPersona, PersonaEffect, persona_effect
from qc.sections import schema
from qc.sections.section import Part, Section
from qc.table import INTERVAL, THREE, Column, P, Table, decimal, probability


def families(found: PersonaEffect) -> Table:
    """Return the effect of a persona."""
    families = [*found.families, *([found.pooled] if found.pooled else [])]
    columns = (
        Column("family", "Family"),
        Column("z_without", "z without", THREE),
        Column("z_with", "z with", THREE),
        Column("difference", "Difference", THREE),
        INTERVAL,
        Column("p", "p", P),
        Column("p_rank_sum", "p, rank sum, as published", P),
    )
    return Table(pd.DataFrame(families, columns=[field.name for field in fields(FamilyPersona)]), columns)


def draw_persona(result: PersonaEffect) -> Drawing | None:
    """Draw the difference in overall z between systems with and without persona, by family and overall.

    None if no difference is known.
    """
    if not any(np.isfinite(family.difference) for family in result.families):
        return None
    entries = [*result.families, *([result.pooled] if result.pooled else [])]
    extent = np.array([(entry.difference, entry.low, entry.high) for entry in entries]).reshape(-1)
    strong = {len(result.families)} if result.pooled else set()
    labels = [entry.family for entry in entries]
    chances = [probability(e.p) for e in entries]

    def draw(width: float) -> Sheet:
        panel = rows(width, labels, "z with persona − z without", extent, chances, "p", strong)
        for i, entry in enumerate(entries):
            pooled = entry is result.pooled
            colour = INK if pooled else BLUE
            interval(panel, entry.low, entry.high, i, colour)
            point(panel, entry.difference, i, colour, "D" if pooled else "o")
        return panel.page

    found = [f"{e.family} {decimal(e.difference, 2)}" for e in entries if np.isfinite(e.difference)]
    alt = f"Difference in overall z with and without persona, by family: {', '.join(found)}."
    return Drawing("Contribution of a persona", alt, draw)


EFFECT = Part(
    kind=PersonaEffect,
    make=lambda a: persona_effect(a.sample, a.scores),
    key="persona",
    option="persona",
    schema=schema.record(
        "What a persona contributes.",
        families=schema.array("Each family.", schema.shared("persona")),
        pooled=schema.or_null(schema.shared("persona"), "Mean over families; null with fewer than two."),
        level=schema.number("Of the intervals."),
    ),
)

SECTION = Section(
    id="persona",
    title="Persona",
    parts=(EFFECT,),
    tables=(EFFECT.file("persona.csv", "each family with and without persona", families),),
    figures=(EFFECT.file("persona.svg", "what a persona contributes in each family", draw_persona),),
    page="""\
{% call drawing("persona", "What a persona contributes.") %}
The difference in overall z between a family with and without persona. A line that crosses 0 leaves open \
whether it helps or hurts.
{% endcall %}
{% call table("persona.csv", "Each family with and without persona.") %}
Difference: z with persona minus z without. p is two-sided and goes with the interval: both are Student’s \
t with standard errors by worker. The p of the rank sum, as published, takes every conversation to be \
independent. Neither is corrected for the number of families: with {{ found.families | length }} of \
them, one may come out small by chance.
{% endcall %}
""",
)
