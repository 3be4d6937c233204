"""The correlation with a second run: given by `--replicate`, and forecast from halves of this run."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from qc.drawing.charts import limits, point
from qc.drawing.panel import Panel, Scale, label_points, round_ticks, tick_labels
from qc.drawing.sheet import Drawing, Sheet
from qc.drawing.style import MUTED, TEXT, shortened
from qc.method.replication import Correlations, Replication, SameConclusions, replicate
from qc.method.reproducibility import Reproducibility, reproduce
from qc.robustness.forecast import ReplicationForecast, forecast
from qc.sections import schema
from qc.sections.analysis import Analysis
from qc.sections.section import MadeFile, Part, Section
from qc.sections.systems.ranking import Looks, system_looks
from qc.table import ONE, OVERALL, THREE, Column, Table, decimal, matrix, whole


def coefficients(found: Correlations | None, overall: str) -> Table | None:
    """Return the authors' table: a row per coefficient, a column per criterion.

    `overall` is the heading of the overall score in the file.
    """
    if found is None:
        return None
    rows = {"pearson": found.pearson, "spearman": found.spearman, "kendall": found.kendall}
    values = pd.DataFrame(list(rows.values()))
    file = values.rename(columns={OVERALL: overall})
    file.insert(0, "", list(rows), allow_duplicates=True)
    names = map(str.capitalize, rows)
    return matrix(file, "", names, values.columns, values.to_numpy(np.float64), THREE)


def conclusions(found: Replication) -> Table:
    """Return the number of pairs of systems with the same conclusion in both runs."""
    same = found.same_conclusions
    record = {
        "run": found.name,
        "systems": len(found.systems),
        "same_conclusions": same.n,
        "pairs": same.of,
        "alpha": same.alpha,
        "shared_workers": found.shared_workers,
    }
    return Table(pd.DataFrame([record]))


def points_of_both(found: Replication) -> Table:
    """Return the overall z of each system in both runs."""
    return Table(found.points)


def by_score(found: Reproducibility) -> Table:
    """Return the two raw scores of each system on each criterion, with CV*."""
    return Table(found.scores)


def by_level(found: Reproducibility) -> Table:
    """Return the degree of reproducibility of each criterion."""
    columns = (
        Column("criterion", "Criterion"),
        Column("cv", "CV*, mean", ONE),
        Column("worst", "CV*, largest", ONE),
        Column("pearson", "r", THREE),
        Column("spearman", "ρ", THREE),
        Column("kendall", "τ", THREE),
    )
    return Table(found.criteria, columns)


LEFT, HEAD, FOOT, RIGHT = 52.0, 34.0, 58.0, 12.0
# Width of the longest names, as a share of the figure's width, and in units.
NAME, LONGEST_NAME = 0.27, 150.0
# Share of the axis for labels left of the lowest points.
SIDE_ROOM = 0.1


def draw_replication(result: Replication, looks: Looks) -> Drawing | None:
    """Draw the overall z of every system in the second run against that in the first; None if there is none.

    Args:
        result: the scores of both runs.
        looks: colour, marker and filling of each system.
    """
    points = result.points.dropna(subset=["first", "second"])
    first, second = points["first"].to_numpy(np.float64), points["second"].to_numpy(np.float64)
    if len(points) == 0:
        return None
    low, high = limits(np.concatenate([first, second]))
    ends = np.array([low - (high - low) * SIDE_ROOM, high])
    r = result.z.pearson["overall"]

    def draw(width: float) -> Sheet:
        side = width - LEFT - RIGHT
        page = Sheet(width, HEAD + side * 0.8 + FOOT)
        scale = Scale(*ends.tolist())
        panel = Panel(page, LEFT, HEAD, side, side * 0.8, scale, scale)
        ticks = round_ticks(scale.first, scale.last, 5)
        panel.y_axis(ticks, tick_labels(ticks), f"overall z, {_name(result)}")
        panel.x_axis(ticks, tick_labels(ticks), "overall z, first run")
        panel.horizontal(0)
        panel.vertical(0)
        panel.line(ends, ends, MUTED, 1.5, "7 4")
        for name, x, y in zip(points["system"], first, second, strict=True):
            colour, marker, filled = looks[name]
            point(panel, x, y, colour, marker, filled=filled)
        label_points(panel, first, second, [shortened(name, width * NAME) for name in points["system"]])
        if np.isfinite(r):
            page.text((LEFT + 8, HEAD + 20), f"r = {decimal(r)}", size=TEXT, bold=True)
        return page

    title = f"Two runs: r = {decimal(r, 3)}" if np.isfinite(r) else "Two runs"
    return Drawing(title, _alt(result, len(points), r), draw)


def _name(result: Replication) -> str:
    return f"second run ({shortened(result.name, LONGEST_NAME)})"


def _alt(result: Replication, count: int, r: float) -> str:
    same = result.same_conclusions
    return (
        f"Scatter plot of overall z of {count} systems in two runs, r = {decimal(r)}; at "
        f"p < {same.alpha:g}, {same_conclusions(same)}."
    )


def same_conclusions(same: SameConclusions) -> str:
    """Return a clause on the number of pairs on which two runs agree."""
    if same.of == 0:
        return "no pair of systems can be compared in both"
    return f"for {whole(same.n)} of {whole(same.of)} pairs of systems both draw the same conclusion"


_REPLICATION_SCHEMA = schema.record(
    "Comparison with the second run.",
    name=schema.text("Its name."),
    systems=schema.array("Systems compared.", schema.text()),
    labels=schema.array("Criteria compared.", schema.text()),
    z=schema.shared("coefficients", "Correlations of standardised scores."),
    overall_interval=schema.shared("interval", "Interval of Pearson's r of the overall z, over the systems."),
    raw=schema.shared("coefficients", "Correlations of raw scores."),
    same_conclusions=schema.record(
        "Pairs of systems on which both runs draw the same conclusion.",
        n=schema.integer("How many."),
        of=schema.integer("Of how many."),
        alpha=schema.number("At p below this."),
    ),
    shared_workers=schema.integer("Workers in both runs."),
    without_shared=schema.or_null(
        schema.shared("coefficients"), "`z` without the workers of both; null if there are none."
    ),
    without_shared_raw=schema.or_null(
        schema.shared("coefficients"), "`raw` without the workers of both; null if there are none."
    ),
    points=schema.rows(
        "Overall z of each system.",
        system=schema.text("Name."),
        first=schema.number("In this run.", null=True),
        second=schema.number("In the second.", null=True),
    ),
    notes=schema.array("What a reader of the comparison must know.", schema.text()),
)


def _draw(analysis: Analysis) -> Drawing | None:
    found = analysis.replication
    return draw_replication(found, system_looks(analysis.run.systems)) if found else None


def _words(analysis: Analysis) -> Mapping[str, object]:
    found = analysis.replication
    if found is None:
        return {}
    return {"same": same_conclusions(found.same_conclusions), "reproduced": analysis.reproducibility}


REPLICATION = Part(
    kind=Replication,
    make=lambda a: replicate(a.sample, a.second) if a.second else None,
    key="replication",
    option="replication",
    notes=lambda found: found.notes,
    notes_place="page",
    schema=_REPLICATION_SCHEMA,
)

REPRODUCIBILITY = Part(
    kind=Reproducibility,
    make=lambda a: reproduce(a.sample, a.second, a.replication) if a.second and a.replication else None,
    key="reproducibility",
    option="replication",
    schema=schema.record(
        "How far the second run reproduces this one, by QRA++.",
        scores=schema.rows(
            "Each raw score.",
            system=schema.text("Name."),
            criterion=schema.text("`overall`, or the label of a criterion."),
            first=schema.number("In this run.", null=True),
            second=schema.number("In the second.", null=True),
            cv=schema.number(
                "CV*, the coefficient of variation for small samples, in per cent; 0 is a perfect "
                "repetition. Null if the mean is 0.",
                null=True,
            ),
        ),
        criteria=schema.rows(
            "Each criterion, `overall` first.",
            criterion=schema.text("Its label."),
            cv=schema.number("Mean CV* of the systems.", null=True),
            worst=schema.number("The largest.", null=True),
            pearson=schema.number("Pearson's r of the raw scores.", null=True),
            spearman=schema.number("Spearman's ρ.", null=True),
            kendall=schema.number("Kendall's τ-b.", null=True),
        ),
        cv=schema.number("Mean CV* over systems and criteria.", null=True),
        findings=schema.integer("Findings that both runs agree on."),
        of=schema.integer("Findings."),
        share=schema.number("P, their share; null without findings.", null=True),
    ),
)

REPLICATION_SECTION = Section(
    id="replication",
    title="The second run",
    parts=(REPLICATION, REPRODUCIBILITY),
    tables=(
        REPLICATION.file(
            "corr_zscore_r1r2.csv",
            "correlations of z with the second run, overall and by criterion",
            lambda found: coefficients(found.z, "z"),
        ),
        REPLICATION.file(
            "corr_rawscore_r1r2.csv", "the same of raw scores", lambda found: coefficients(found.raw, "raw")
        ),
        REPLICATION.file(
            "corr_zscore_r1r2_without_shared_workers.csv",
            "correlations of z without the workers of both runs, if there are such",
            lambda found: coefficients(found.without_shared, "z"),
        ),
        REPLICATION.file(
            "corr_rawscore_r1r2_without_shared_workers.csv",
            "the same of raw scores",
            lambda found: coefficients(found.without_shared_raw, "raw"),
        ),
        REPLICATION.file("replication.csv", "on how many pairs of systems both runs agree", conclusions),
        REPLICATION.file("replication_points.csv", "overall z of each system in both runs", points_of_both),
        REPRODUCIBILITY.file("reproducibility.csv", "how far each criterion is reproduced (QRA++)", by_level),
        REPRODUCIBILITY.file("reproducibility_scores.csv", "the same of each score", by_score),
    ),
    figures=(MadeFile("replication.svg", "overall z in both runs", _draw, option="replication"),),
    words=_words,
    page="""\
<p>Compared with the run “{{ found.name }}” over the systems that both have: \
{{ found.systems | length | whole }}. At {{ ("p < %g" | format(found.same_conclusions.alpha)) | tight \
}}, {{ same }}{% if found.same_conclusions.of \
%}: that the same one is better, or that neither is{% endif %}.</p>
{% call drawing("replication", "Overall z in the two runs.") %}
Each point is a system. The closer the points are to a rising line, the better the second run repeats the \
first.
{% endcall %}
{% call table("corr_zscore_r1r2.csv", "Correlation of the two runs, standardised scores (z).") %}
Over the systems, overall and for each criterion: 1 is perfect agreement, 0 none. Pearson compares the \
scores, Spearman and Kendall only the order.
{% endcall %}
{% call table("corr_rawscore_r1r2.csv", "Correlation of the two runs, raw scores.") %}
The same without standardising each worker.
{% endcall %}
{% if found.shared_workers %}
<p>{{ found.shared_workers | whole }} workers took part in both runs. A replication by the same people is \
no fresh evidence, so here it is without them:</p>
{% else %}
<p>No worker took part in both runs.</p>
{% endif %}
{% call table("corr_zscore_r1r2_without_shared_workers.csv", "Correlation of the two runs, z, workers of \
both left out.") %}
Read as above.
{% endcall %}
{% call table("corr_rawscore_r1r2_without_shared_workers.csv", "Correlation of the two runs, raw scores, \
workers of both left out.") %}
The same without standardising each worker.
{% endcall %}
{% if reproduced %}
<details>
<summary>Degree of reproducibility (QRA++)</summary>
<p>Comparable between studies (Belz, arXiv 2505.17043). Scores: CV* is {{ reproduced.cv | decimal(1) }} on \
average over systems and criteria. Findings: both runs agree on \
{{ reproduced.findings | whole }} of {{ reproduced.of | whole }}\
{% if reproduced.of %} (P = {{ reproduced.share | decimal(2) }}){% endif %}, which of two systems is better, \
or that neither is.</p>
{% call table("reproducibility.csv", "Degree of reproducibility by criterion.") %}
CV* is the coefficient of variation of a system’s two raw scores for small samples, in per cent: 0 is a \
perfect repetition. r, ρ and τ compare the scores of all systems. None of these has an \
interval. Single labels cannot be compared, because each run rates outputs of its own.
{% endcall %}
</details>
{% endif %}
""",
)


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

FORECAST_SECTION = Section(
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
