"""The fewest workers found whose removal changes the leader, or what is told apart, and who they are."""

import pandas as pd

from qc.robustness.fragile_pairs import FragilePairs, Removal, fragile_pairs
from qc.robustness.fragility import Fragility, fragility
from qc.sections import schema
from qc.sections.analysis import Analysis
from qc.sections.section import Json, Part, Section
from qc.table import COUNT, THREE, Column, Table


def removed(found: Fragility) -> Table:
    """Return the workers to remove, with both scores after each removal."""
    columns = (
        Column("worker", "Worker"),
        Column("conversations", "Conver\u00adsations with the two", COUNT),
        Column("leader_z", "Leader’s z", THREE),
        Column("successor_z", "Rival’s z", THREE),
    )
    return Table(found.workers, columns)


def rejoined(found: FragilePairs) -> Table:
    """Return the workers without whom a pair is no longer told apart, and two groups are one."""
    rows = [
        (what, removal.first, removal.second, worker)
        for what, removal in (("pair", found.pair), ("groups", found.border))
        if removal is not None
        for worker in removal.workers
    ]
    columns = (
        Column("statement", "Statement"),
        Column("first", "Better system"),
        Column("second", "Other system"),
        Column("worker", "Worker"),
    )
    return Table(pd.DataFrame(rows, columns=[column.key for column in columns], dtype="str"), columns)


def _document(found: Fragility) -> Json:
    return {
        "leader": found.leader,
        "successor": found.successor,
        "fewest": len(found.workers) if found.successor else None,
        "passed": found.passed,
        "share": found.share,
        "workers": found.workers.to_dict("records"),
    }


def _of_pairs(found: FragilePairs) -> Json:
    return {
        "passed": found.passed,
        "pair": _removal(found.pair, found.passed),
        "groups": _removal(found.border, found.passed),
    }


def _removal(found: Removal | None, passed: int) -> Json | None:
    if found is None:
        return None
    return {
        "first": found.first,
        "second": found.second,
        "fewest": len(found.workers),
        "share": len(found.workers) / passed,
        "workers": list(found.workers),
    }


def _removal_schema(description: str) -> Json:
    return schema.record(
        description,
        null=True,
        first=schema.text("The better system."),
        second=schema.text("The other system."),
        fewest=schema.integer("Number of workers to remove."),
        share=schema.number("Share of the workers who passed to remove."),
        workers=schema.array("Their ids, those who keep the two apart most first.", schema.text("Id.")),
    )


def _fragile_pairs(a: Analysis) -> FragilePairs | None:
    return None if a.intervals is None else fragile_pairs(a.sample, a.scores, a.intervals, a.options.seed)


FRAGILITY = Part(
    kind=Fragility,
    make=lambda a: fragility(a.sample, a.scores),
    key="fragility",
    content=_document,
    option="intervals",
    notes=lambda found: found.notes,
    schema=schema.record(
        "The fewest workers found whose removal changes the leader; absent if several systems lead.",
        leader=schema.text("The system with the highest score."),
        successor=schema.text("The system that has it after the removal; null if none was found.", null=True),
        fewest=schema.integer("Number of workers to remove; null if no removal was found.", null=True),
        passed=schema.integer("Workers who passed."),
        share=schema.number("Share of the workers who passed to remove.", null=True),
        workers=schema.rows(
            "The workers to remove, those who hold the leader up most first.",
            worker=schema.text("Id."),
            conversations=schema.integer("With the leader or the successor."),
            leader_z=schema.number("Overall z of the leader without this worker and those above."),
            successor_z=schema.number("Overall z of the successor without them."),
        ),
    ),
)
PAIRS = Part(
    kind=FragilePairs,
    make=_fragile_pairs,
    key="fragile_pairs",
    content=_of_pairs,
    option="intervals",
    notes=lambda found: found.notes,
    schema=schema.record(
        "The fewest workers found without whom systems are no longer told apart; absent if none are.",
        passed=schema.integer("Workers who passed."),
        pair=_removal_schema(
            "Of all pairs that are told apart, the one that takes the fewest; null if none was found."
        ),
        groups=_removal_schema("The same for two groups to become one; null if none was found."),
    ),
)

SECTION = Section(
    id="fragility",
    title="How few workers decide",
    parts=(FRAGILITY, PAIRS),
    tables=(
        FRAGILITY.file("fragility.csv", "the fewest workers found whose removal changes the leader", removed),
        PAIRS.file(
            "fragile_pairs.csv",
            "the fewest workers found without whom a pair is no longer told apart, or two groups are one",
            rejoined,
        ),
    ),
    page="""\
{% if found and found.successor %}
<p>Without <b>{{ found.workers | length | whole }} of the {{ found.passed | whole }}</b> workers who passed \
({{ found.share | percent }}), {{ found.successor }} would have the highest score instead of \
{{ found.leader }}. A smaller removal was looked for and not found.</p>
{% call table("fragility.csv", "Workers whose removal changes the leader.") %}
Those who hold the leader, {{ found.leader }}, up most against its rival, {{ found.successor }}, come first. \
The scores are those without the worker and all above. These workers passed quality control like all others, \
so this is no reason to exclude them. It says how much the first place depends on who took part.
{% endcall %}
{% elif found %}
<p>{{ found.leader }} keeps the highest score, whichever of the workers who passed are removed: no removal \
was found that changes it.</p>
{% endif %}
{% if pairs and (pairs.pair or pairs.border) %}
<p>Without <b>{{ pairs.pair.workers | length | whole }} of the {{ pairs.passed | whole }}</b> workers who \
passed, {{ pairs.pair.first }} and {{ pairs.pair.second }} would no longer be told apart\
{% if pairs.border %}; without <b>{{ pairs.border.workers | length | whole }}</b>, \
{{ pairs.border.first }} and {{ pairs.border.second }} would be in one group{% endif %}.</p>
{% call table("fragile_pairs.csv", "Workers without whom a pair is not told apart, or two groups are one.") %}
Those who keep the two systems apart most come first. Every removal was checked by computing what is told \
apart without these workers. This is no reason to exclude them, either.
{% endcall %}
{% elif pairs %}
<p>No removal of up to a quarter of the workers who passed was found that changes what is told apart.</p>
{% endif %}
""",
    words=lambda a: {"pairs": a.of(FragilePairs)},
)
