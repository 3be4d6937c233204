"""The assignments that take no part, and why."""

from dataclasses import asdict

import pandas as pd

from qc.sections import schema
from qc.sections.analysis import Analysis
from qc.sections.section import MadeFile, Section
from qc.table import Column, Table


def left_out(analysis: Analysis) -> Table:
    """Return the assignments that are not analysed."""
    keys = ["assignment", "worker", "reason"]
    frame = pd.DataFrame([asdict(out) for out in analysis.run.left_out], columns=keys)
    return Table(frame, tuple(Column(key, key.capitalize()) for key in keys))


SECTION = Section(
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
