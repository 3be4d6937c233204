"""The assignments: time, workload and cost of those that count, and why others take no part."""

from dataclasses import asdict

import pandas as pd

from qc.sections import schema
from qc.sections.analysis import Analysis
from qc.sections.section import Json, MadeFile, Section, always
from qc.table import COUNT, GROUPS, ONE, TWO, Column, Table


def workload(analysis: Analysis) -> Table:
    """Return statistics of the assignments per worker."""
    spreads = [(group, getattr(analysis.workload, group)) for group in GROUPS]
    return Table(
        pd.DataFrame(
            [(group, spread.count, spread.mean, spread.median, spread.maximum) for group, spread in spreads],
            columns=["group", "workers", "mean", "median", "maximum"],
        ),
        (
            Column("group", "Workers"),
            Column("workers", "Number", COUNT),
            Column("mean", "Mean", TWO),
            Column("median", "Median", ONE),
            Column("maximum", "Most", COUNT),
        ),
    )


def distribution(analysis: Analysis) -> Table:
    """Return how many workers did how many assignments."""
    return Table(
        pd.DataFrame([asdict(each) for each in analysis.workload.distribution]),
        (
            Column("assignments", "Assignments", COUNT),
            Column("passed", "Workers who passed", COUNT),
            Column("failed", "Workers who failed", COUNT),
        ),
    )


def cost(analysis: Analysis) -> Table:
    """Return the cost in dollars."""
    return Table(pd.DataFrame([asdict(analysis.cost)]))


_COST_SCHEMA = schema.record(
    "Rewards and the platform’s fee, in dollars.",
    reward=schema.number("Mean reward of an assignment.", null=True),
    paid_assignments=schema.integer("Assignments analysed."),
    fee=schema.number(
        "Of the platform, as a share of the rewards; 0 unless `--fee` gave it.", minimum=0, maximum=1
    ),
    total=schema.number("Rewards of all of them, if all are paid, with the fee.", null=True),
    per_kept_assignment=schema.number("Total per assignment of a worker who passed.", null=True),
    per_kept_conversation=schema.number(
        "Total per conversation with a system of a worker who passed.", null=True
    ),
)


def _document(analysis: Analysis) -> Json:
    return {
        "minutes_per_conversation": analysis.minutes,
        "workload": analysis.workload,
        "cost": analysis.cost,
    }


COST_SECTION = Section(
    id="cost",
    title="Time, workload and cost",
    tables=(
        MadeFile("workload.csv", "assignments per worker", workload),
        MadeFile("workload_distribution.csv", "how many workers did how many assignments", distribution),
        MadeFile("cost.csv", "dollars", cost),
    ),
    document=_document,
    schema={
        "minutes_per_conversation": schema.record(
            "Working time of an assignment over its conversations, or its items, mean over assignments.",
            passed=schema.number("Workers who passed.", null=True),
            failed=schema.number("Workers who failed.", null=True),
            all=schema.number("All.", null=True),
        ),
        "workload": schema.record(
            "Assignments per worker.",
            passed=schema.shared("spread", "Workers who passed."),
            failed=schema.shared("spread", "Workers who failed."),
            all=schema.shared("spread", "All workers."),
            distribution=schema.rows(
                "How many workers did how many assignments, ascending.",
                assignments=schema.integer("Number of assignments."),
                passed=schema.integer("Workers who did so many and passed."),
                failed=schema.integer("Workers who did so many and failed."),
            ),
        ),
        "cost": _COST_SCHEMA,
    },
    is_shown=always,
    page="""\
<dl class="facts">
{{ fact("minutes per " ~ thing ~ ", workers who passed", a.minutes.passed | decimal(2)) }}
{{ fact("minutes per " ~ thing ~ ", workers who failed", a.minutes.failed | decimal(2)) }}
{% if a.transcripts %}
{{ fact("minutes per assignment, workers who passed", a.transcripts.minutes_per_assignment.passed | \
decimal(1)) }}
{{ fact("minutes per assignment, workers who failed", a.transcripts.minutes_per_assignment.failed | \
decimal(1)) }}
{% endif %}
{{ fact("assignments analysed", a.cost.paid_assignments | whole) }}
{% if a.cost.total == a.cost.total %}
{{ fact("dollars for an assignment", a.cost.reward | decimal(2)) }}
{{ fact("dollars if all of them are paid" ~ (", with a fee of " ~ (a.cost.fee | percent(0)) if a.cost.fee \
else ""), a.cost.total | decimal(2)) }}
{{ fact("dollars per assignment kept", a.cost.per_kept_assignment | decimal(2)) }}
{{ fact("dollars per " ~ ("conversation" if chatted else "judgment") ~ " kept", \
a.cost.per_kept_conversation | decimal(2)) }}
{% endif %}
</dl>
<p>Minutes are the working time of an assignment divided by its \
{{ "conversations" if chatted else "items, control items among them" }}, averaged over assignments. \
{% if a.cost.total == a.cost.total %}Cost is {{ "rewards and the fee of the platform" if a.cost.fee else \
"rewards only; --fee adds the fee of a platform" }}, and supposes that every analysed assignment is paid, \
whether its worker passed or not.{% else %}What was paid is not known here; <code>--reward</code> gives \
it.{% endif %}</p>
{% call table("workload.csv", "Assignments per worker.") %}
How many assignments one worker did. The filter tests workers, not assignments, so those who did more are \
judged more surely.
{% endcall %}
<details>
<summary>How many workers did how many</summary>
{% call table("workload_distribution.csv", "Workers by their number of assignments.") %}
Every number of assignments that somebody did.
{% endcall %}
</details>
""",
)


def left_out(analysis: Analysis) -> Table:
    """Return the assignments that are not analysed."""
    keys = ["assignment", "worker", "reason"]
    frame = pd.DataFrame([asdict(out) for out in analysis.run.left_out], columns=keys)
    return Table(frame, tuple(Column(key, key.capitalize()) for key in keys))


LEFT_OUT_SECTION = Section(
    id="left-out",
    title="What was left out",
    tables=(MadeFile("left_out.csv", "assignments that take no part, and why", left_out),),
    document=lambda a: {"left_out": a.run.left_out},
    schema={
        "left_out": schema.rows(
            "Assignments that take no part.",
            assignment=schema.text("Id."),
            worker=schema.text("Id."),
            reason=schema.text("Why."),
        )
    },
    is_shown=lambda a: a.run.left_out,
    page="""\
{% call table("left_out.csv", "Assignments that take no part.") %}
They are neither in the scores nor in the pass rates.
{% endcall %}
""",
)
