"""Scores by the length of the reference, of a run that rates texts with references."""

import numpy as np

from qc.drawing.charts import interval, point, rows
from qc.drawing.sheet import Drawing, Sheet
from qc.drawing.style import BLUE
from qc.sections import schema
from qc.sections.section import Json, Part, Section
from qc.table import COUNT, INTERVAL, THREE, Column, Table, decimal, whole
from qc.transcripts.reference_length import ReferenceLengths, score_by_reference


def groups(found: ReferenceLengths) -> Table | None:
    """Return the effect of each group of lengths; None if there is none."""
    if found.groups.empty:
        return None
    columns = (
        Column("group", "Words of the reference"),
        Column("items", "Items", COUNT),
        Column("workers", "Workers", COUNT),
        Column("judgments", "Judg\u00adments", COUNT),
        Column("effect", "z, less the system’s mean", THREE),
        INTERVAL,
        Column("high", None, THREE),
    )
    return Table(found.groups, columns)


def systems(found: ReferenceLengths) -> Table | None:
    """Return the score of each system in each group; None if there are none."""
    if found.systems.empty:
        return None
    columns = (
        Column("group", "Words of the reference"),
        Column("system", "System"),
        Column("items", "Items", COUNT),
        Column("workers", "Workers", COUNT),
        Column("z", "z", THREE),
        INTERVAL,
        Column("high", None, THREE),
    )
    return Table(found.systems, columns)


def draw_references(found: ReferenceLengths) -> Drawing | None:
    """Draw the effect of each group of lengths with its interval; None if there is none."""
    if found.groups.empty:
        return None
    table = found.groups
    ends = table[["low", "effect", "high"]].to_numpy(np.float64)
    right = [whole(items) for items in table["items"]]

    def draw(width: float) -> Sheet:
        panel = rows(width, list(table["group"]), "z, less the system’s mean", ends.ravel(), right, "items")
        for row, (low, effect, high) in enumerate(ends.tolist()):
            interval(panel, low, high, row, BLUE)
            point(panel, effect, row, BLUE)
        return panel.page

    values = [
        f"{group} words {decimal(effect, 2)}"
        for group, effect in zip(table["group"], ends[:, 1].tolist(), strict=True)
    ]
    return Drawing(
        "Scores by the length of the reference",
        f"Mean z by the length of the reference with intervals: {'; '.join(values)}.",
        draw,
    )


def _document(found: ReferenceLengths) -> Json:
    return {
        "why_not": found.why_not or None,
        "items": found.items,
        "groups": found.groups.to_dict("records"),
        "systems": found.systems.to_dict("records"),
    }


LENGTHS = Part(
    kind=ReferenceLengths,
    make=lambda a: score_by_reference(a.sample, a.scores),
    key="reference_lengths",
    content=_document,
    option="transcripts",
    schema=schema.record(
        "Scores by the length of the reference; absent without `--references`.",
        why_not=schema.text("Why there are none; null if there are.", null=True),
        items=schema.integer("Items whose reference is known."),
        groups=schema.rows(
            "Quarters of the items by the words of their references, shortest first.",
            group=schema.text("The words."),
            items=schema.integer("Items."),
            workers=schema.integer("Workers who judged them."),
            judgments=schema.integer("Judgments."),
            effect=schema.number("Mean z relative to the mean of the same system.", null=True),
            low=schema.number(
                "Lower end of its interval for other workers and items; null with fewer than 3 of either.",
                null=True,
            ),
            high=schema.number("Upper end.", null=True),
        ),
        systems=schema.rows(
            "Each system in each group.",
            group=schema.text("The words."),
            system=schema.text("The system."),
            items=schema.integer("Items."),
            workers=schema.integer("Workers who judged them."),
            z=schema.number("Mean overall z.", null=True),
            low=schema.number(
                "Lower end of its interval for other workers and items; null with fewer than 3 of either.",
                null=True,
            ),
            high=schema.number("Upper end.", null=True),
        ),
    ),
)

SECTION = Section(
    id="references",
    title="Scores by the length of the reference",
    parts=(LENGTHS,),
    tables=(
        LENGTHS.file("references.csv", "scores by the length of the reference", groups),
        LENGTHS.file("references_systems.csv", "the same of each system", systems),
    ),
    figures=(LENGTHS.file("references.svg", "scores by the length of the reference", draw_references),),
    page="""\
{% if found.why_not %}
<p>Scores by the length of the reference are not given. {{ found.why_not }} \
{{ found.items | whole }} items have one.</p>
{% else %}
{% call drawing("references", "Scores by the length of the reference.") %}
How much better or worse items were rated than the mean of the same system, by the words of their \
references; lines are intervals of at least 95 % for other workers and other items, each looked at alone.
{% endcall %}
<details>
<summary>The same as a table, and of each system</summary>
{% call table("references.csv", "Scores by the length of the reference.") %}
Quarters of the {{ found.items | whole }} items with a reference; equal lengths are in one group.
{% endcall %}
{% call table("references_systems.csv", "Scores of each system by the length of the reference.") %}
Overall z of the workers who passed. A system that falls behind the others on long references is weak there.
{% endcall %}
</details>
{% endif %}
""",
)
