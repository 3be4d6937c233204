"""The forecast correlation with a second run, from halves of this one."""

import numpy as np
import pandas as pd

from qc.robustness.forecast import ReplicationForecast, forecast
from qc.sections import schema
from qc.sections.section import Part, Section
from qc.table import OVERALL, THREE, Table, matrix


def by_criterion(found: ReplicationForecast) -> Table:
    """Return the forecast of the correlation with a second run; a reader sees the criteria side by side."""
    r = {OVERALL: found.r, **found.criteria}
    frame = pd.DataFrame({"criterion": list(r), "r": list(r.values()), "low": np.nan, "high": np.nan})
    frame.loc[0, ["low", "high"]] = found.low, found.high
    return matrix(frame, "", ["forecast r"], r, np.array([list(r.values())]), THREE)


FORECAST = Part(
    kind=ReplicationForecast,
    make=lambda a: forecast(a.sample, a.scores, a.options.seed),
    key="forecast",
    option="forecast",
    notes=lambda found: found.notes,
    notes_place="page",
    schema=schema.record(
        "How a second run would correlate with this one.",
        r=schema.number("Forecast of Pearson's r, overall.", null=True),
        low=schema.number("Lower end of its interval.", null=True),
        high=schema.number("Upper end.", null=True),
        splits=schema.integer("Number of random halvings."),
        level=schema.number("Of the interval."),
        criteria=schema.by_name("Forecast by label.", schema.number(null=True)),
        notes=schema.array("What a reader of the forecast must know.", schema.text()),
    ),
)

SECTION = Section(
    id="forecast",
    title="Would a second run agree?",
    parts=(FORECAST,),
    tables=(FORECAST.file("forecast.csv", "how a second run would correlate with this one", by_criterion),),
    page="""\
<p>The workers of this run were split into two halves at random, {{ found.splits | whole }} times. \
How well the halves agree, stepped up to the full size (Spearman–Brown), forecasts how a second run of the \
same size with fresh workers would correlate with this one: overall <b>r = \
{{ found.r | decimal }}</b>, {{ found.level | percent(0) }} interval \
{{ found.low | decimal }} to {{ found.high | decimal }}.{% if a.replication %} The real second \
run gave {{ a.replication.z.pearson.overall | decimal }}.{% endif %}</p>
{% call table("forecast.csv", "Forecast correlation with a second run.") %}
Criteria with a low r need more workers before their scores can be relied on.
{% endcall %}
""",
)
