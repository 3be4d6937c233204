"""The fewest workers found whose removal changes the leader, and who they are."""

from qc.robustness.fragility import Fragility, fragility
from qc.sections import schema
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


def _document(found: Fragility) -> Json:
    return {
        "leader": found.leader,
        "successor": found.successor,
        "fewest": len(found.workers) if found.successor else None,
        "passed": found.passed,
        "share": found.share,
        "workers": found.workers.to_dict("records"),
    }


FRAGILITY = Part(
    kind=Fragility,
    make=lambda a: fragility(a.sample, a.scores),
    key="fragility",
    content=_document,
    option="intervals",
    of_chats=True,
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

SECTION = Section(
    id="fragility",
    title="How few workers decide the leader",
    parts=(FRAGILITY,),
    tables=(
        FRAGILITY.file("fragility.csv", "the fewest workers found whose removal changes the leader", removed),
    ),
    page="""\
{% if found.successor %}
<p>Without <b>{{ found.workers | length | whole }} of the {{ found.passed | whole }}</b> workers who passed \
({{ found.share | percent }}), {{ found.successor }} would have the highest score instead of \
{{ found.leader }}. A smaller removal was looked for and not found.</p>
{% call table("fragility.csv", "Workers whose removal changes the leader.") %}
Those who hold the leader, {{ found.leader }}, up most against its rival, {{ found.successor }}, come first. \
The scores are those without the worker and all above. These workers passed quality control like all others, \
so this is no reason to exclude them. It says how much the first place depends on who took part.
{% endcall %}
{% else %}
<p>{{ found.leader }} keeps the highest score, whichever of the workers who passed are removed: no removal \
was found that changes it.</p>
{% endif %}
""",
)
