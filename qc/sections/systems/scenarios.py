"""Scores by scenario."""

from qc.method.scores import ScenarioScores, score_scenarios
from qc.sections import schema
from qc.sections.section import Part, Section
from qc.table import COUNT, INTERVAL, THREE, Column, Table


def scenarios(found: ScenarioScores) -> Table:
    """Return the scores by scenario; the row for all systems comes first."""
    columns = (
        Column("scenario", "Scenario"),
        Column("system", "System"),
        Column("z", "z", THREE),
        INTERVAL,
        Column("high", None, THREE),
        Column("n", "Conversations", COUNT),
        Column("workers", "Workers", COUNT),
    )
    shown = found.table.assign(system=found.table["system"].replace("", "all systems"))
    return Table(found.table, columns, shown)


_SCENARIOS_SCHEMA = schema.rows(
    "Scores by scenario; absent if the study has none, or the source does not hold them.",
    scenario=schema.text("Label of the scenario."),
    system=schema.text("The system; empty: all of them."),
    n=schema.integer("Conversations of the workers who passed."),
    workers=schema.integer("Workers behind them."),
    z=schema.number("Mean overall z.", null=True),
    low=schema.number(
        (
            "Lower end of the interval of the mean z; null with fewer than five workers, where "
            "few of many did most of it, or where all do the same."
        ),
        null=True,
    ),
    high=schema.number("Upper end of the interval of the mean z.", null=True),
)

SCORES = Part(
    kind=ScenarioScores,
    make=lambda a: score_scenarios(a.sample, a.scores, a.options.bootstrap, a.options.seed),
    key="scenarios",
    content=lambda found: found.table,
    notes=lambda found: found.notes,
    schema=_SCENARIOS_SCHEMA,
)

SECTION = Section(
    id="scenarios",
    title="Scores by scenario",
    parts=(SCORES,),
    tables=(SCORES.file("scenarios.csv", "scores by scenario, of all systems and of each", scenarios),),
    page="""\
{% call table("scenarios.csv", "Overall z by scenario, of all systems and of each.") %}
Of the workers who passed. A scenario in which all systems score low is a hard one; one in which a system \
falls behind the others shows where it is weak. Intervals are of whole workers, like those of the ranking; \
there is none of fewer than five of them, where few of many did most of it, or where all do the same.
{% endcall %}
""",
)
