"""Scores by criterion, by scenario, of single replies, and beside people; correlations between criteria."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from qc.drawing.charts import HEAT_EDGE, Cells, heat_map
from qc.drawing.sheet import Drawing, Sheet
from qc.drawing.style import MUTED, ON_LIGHT, QUIET, diverging, fitting, text_width
from qc.method.scores import (
    Ceiling,
    CriteriaCorrelation,
    CriteriaCorrelations,
    ScenarioScores,
    Scores,
    TurnRatings,
    correlate_criteria,
    describe_turn_ratings,
    find_ceiling,
    score_scenarios,
)
from qc.sections import schema
from qc.sections.analysis import Analysis
from qc.sections.section import Json, MadeFile, Part, Section, TitledTable, always
from qc.sections.systems.ranking import CEILING, z_scores
from qc.table import (
    COUNT,
    INTERVAL,
    ONE,
    SHARE,
    SYSTEM_COLUMN,
    THREE,
    TWO,
    Column,
    Table,
    decimal,
    listed,
    matrix,
    shade,
    square,
)


def correlations(found: CriteriaCorrelation, overall: str) -> Table:
    """Return the authors' table: Pearson above the diagonal, Spearman below it, nothing on it.

    Args:
        found: the correlations.
        overall: heading of the overall score in the file.
    """
    values = np.triu(found.pearson, 1) + np.tril(found.spearman, -1)
    np.fill_diagonal(values, np.nan)
    file = square((overall, *found.names[1:]), values)
    return matrix(file, "", found.names, found.names, values, TWO, shade)


FOOT = 30.0
LISTED = 12
SCALES = {"z": "z scores", "raw": "raw scores"}


def draw_profile(scores: Scores) -> Drawing | None:
    """Draw the z of every system, best first, overall and on each criterion; None if there is none."""
    columns = [column for column in scores.z.columns if column not in ("system", "n")]
    names = scores.z["system"].to_list()
    z = scores.z[columns].to_numpy(np.float64)
    if not np.isfinite(z).any():
        return None
    cells = _diverging(z, _bound(z))

    def draw(width: float) -> Sheet:
        panel = heat_map(width, names, columns, cells, FOOT)
        panel.vertical(0.5, ON_LIGHT, 1.6)
        legend = "z: blue above the mean of the workers, orange below"
        panel.page.text((HEAT_EDGE, panel.bottom + 22), legend, MUTED, fitting(legend, width - 2 * HEAT_EDGE))
        return panel.page

    return Drawing("Scores by criterion", _profile_alt(names, columns, z), draw)


def draw_correlations(result: CriteriaCorrelation, scale: str) -> Drawing | None:
    """Draw correlations between criteria: Pearson above the diagonal, Spearman below; None if unknown.

    Args:
        result: the correlations.
        scale: `z` or `raw`.
    """
    names, count = list(result.names), len(result.names)
    upper = np.triu(np.ones((count, count), bool), 1)
    values = np.where(upper, result.pearson, result.spearman)
    np.fill_diagonal(values, np.nan)
    if not np.isfinite(result.pearson[upper]).any():
        return None
    cells = _diverging(values, 1.0)
    below, above = "◣ below the diagonal: Spearman", "◥ above: Pearson"

    def draw(width: float) -> Sheet:
        panel = heat_map(width, names, names, cells, 2 * FOOT)
        panel.page.text((HEAT_EDGE, panel.bottom + 22), below, MUTED)
        beside = width - HEAT_EDGE - text_width(above)
        if beside > HEAT_EDGE + text_width(below):
            panel.page.text((beside, panel.bottom + 22), above, MUTED)
        else:
            panel.page.text((HEAT_EDGE, panel.bottom + 44), above, MUTED)
        return panel.page

    title = f"Correlations between criteria, {SCALES[scale]}"
    return Drawing(title, _correlation_alt(result, scale), draw)


def _bound(values: NDArray[np.float64]) -> float:
    return float(np.nanmax(np.abs(values))) or 1.0


def _diverging(values: NDArray[np.float64], bound: float) -> Cells:
    colours = [
        [diverging(value / bound) if np.isfinite(value) else QUIET for value in line]
        for line in values.tolist()
    ]
    texts = [[decimal(value, 2) if np.isfinite(value) else "" for value in line] for line in values]
    return Cells(colours, texts)


def _profile_alt(names: list[str], columns: list[str], z: NDArray[np.float64]) -> str:
    best = [
        f"{column} {names[int(np.nanargmax(z[:, j]))]}"
        for j, column in enumerate(columns)
        if np.isfinite(z[:, j]).any()
    ]
    return f"Heat map of z by system and criterion; highest on {listed(best, LISTED)}."


def _correlation_alt(result: CriteriaCorrelation, scale: str) -> str:
    above = np.triu_indices(len(result.names), 1)
    pearson = result.pearson[above]
    i = int(np.nanargmin(pearson))
    first, second = result.names[above[0][i]], result.names[above[1][i]]
    return (
        f"Heat map of correlations between criteria over the systems, {SCALES[scale]}: Pearson from "
        f"{decimal(pearson[i], 2)} ({first} with {second}) to {decimal(np.nanmax(pearson), 2)}."
    )


def _document(analysis: Analysis) -> Json:
    return {"criteria": analysis.run.criteria[["label", "negative", "counts_for_qc", "maximum"]]}


def _summary(analysis: Analysis) -> Iterator[TitledTable]:
    by_criterion = z_scores(analysis).only("name", *range(1, len(analysis.run.criteria) + 1))
    yield TitledTable("z by criterion; higher is better for all of them", by_criterion)


CORRELATIONS = Part(
    kind=CriteriaCorrelations,
    make=lambda a: correlate_criteria(a.scores),
    key="criteria_correlation",
    option="criteria",
    schema=schema.record(
        "Correlations between criteria.",
        z=schema.shared("criteria_correlation", "From standardised scores."),
        raw=schema.shared("criteria_correlation", "From raw scores."),
    ),
)

CRITERIA_SECTION = Section(
    id="criteria",
    title="Criteria",
    parts=(CORRELATIONS,),
    tables=(
        CORRELATIONS.file(
            "corr_between_scores.csv",
            "correlations between criteria from z: Pearson above, Spearman below the diagonal",
            lambda found: correlations(found["z"], "z"),
        ),
        CORRELATIONS.file(
            "corr_between_raw_scores.csv",
            "the same from raw scores",
            lambda found: correlations(found["raw"], "raw"),
        ),
    ),
    figures=(
        MadeFile("criteria-profile.svg", "z by criterion", lambda a: draw_profile(a.scores), on_page=False),
        CORRELATIONS.file(
            "criteria-correlation-z.svg",
            "correlations between criteria from z",
            lambda found: draw_correlations(found["z"], "z"),
            on_page=False,
        ),
        CORRELATIONS.file(
            "criteria-correlation-raw.svg",
            "the same from raw scores",
            lambda found: draw_correlations(found["raw"], "raw"),
            on_page=False,
        ),
    ),
    document=_document,
    schema={
        "criteria": schema.rows(
            "Criteria, in the order of reports.",
            label=schema.text("Label."),
            negative=schema.boolean("Whether it was reversed: maximum − rating."),
            counts_for_qc=schema.boolean("Whether the filter uses it."),
            maximum=schema.number("Highest possible rating."),
        )
    },
    summary=_summary,
    is_shown=always,
    page="""\
{% call table("system_scores.csv", "Standardised scores (z) by criterion.", "matrix") %}
Negative criteria are reversed, so higher is better in every column. Blue cells are above what these \
workers gave on average to everything, orange ones below; the stronger the colour, the farther.
{% endcall %}
<details>
<summary>Raw scores, and how the criteria hang together</summary>
{% call table("system_raw_scores.csv", "Raw scores by criterion.") %}
Means on the scale of the ratings, negative criteria reversed.
{% endcall %}
{% if found %}
{% for file, what in [("corr_between_scores.csv", "standardised scores (z)"), \
("corr_between_raw_scores.csv", "raw scores")] %}
{% call table(file, "Correlations between criteria, from " ~ what ~ ".", "matrix") %}
Over the systems; Pearson’s r above the diagonal, Spearman’s ρ below it. Near 1 two criteria rank the \
systems alike, near 0 they measure different things, below 0 what is good on one is poor on the other.
{% endcall %}
{% endfor %}
{% endif %}
</details>
""",
)


def scenarios(found: ScenarioScores) -> Table:
    """Return the scores by scenario; the row for all systems comes first."""
    columns = (
        Column("scenario", "Scenario"),
        SYSTEM_COLUMN,
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

SCENARIOS_SECTION = Section(
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


def turn_ratings(found: TurnRatings) -> Table:
    """Return the ratings of the replies of each system."""
    columns = (
        SYSTEM_COLUMN,
        Column("mean", "Mean", ONE),
        Column("low", INTERVAL.head, ONE, upper="high"),
        Column("high", None, ONE),
        Column("rated", "Rated", COUNT),
        Column("rated_share", "Of the replies", SHARE),
        Column("workers", "Workers", COUNT),
    )
    marked = found.systems["system"].where(~found.systems["human"], found.systems["system"] + CEILING)
    return Table(found.systems, columns, found.systems.assign(system=marked))


_TURN_RATINGS_SCHEMA = schema.record(
    (
        "What the workers who passed thought of single replies; absent if the study did not "
        "ask, or the source does not hold it."
    ),
    systems=schema.rows(
        "By system: people, then systems, best first, then the qc bot.",
        system=schema.text("The system, or the qc bot."),
        human=schema.boolean("Whether it is a person in a chatbot's place."),
        replies=schema.number(
            "Replies that it gave to the workers who passed; null if what was said is not known.", null=True
        ),
        rated=schema.integer("How many of them were rated."),
        rated_share=schema.number("Their share of the replies.", null=True),
        workers=schema.integer("Workers who rated them."),
        mean=schema.number(
            "Mean of a rated reply, from 0 to 100; of thumbs, the percentage of those up.", null=True
        ),
        low=schema.number(
            (
                "Lower end of the interval of the mean; null with fewer than five workers, where few "
                "of many did most of it, or where all do the same."
            ),
            null=True,
        ),
        high=schema.number("Upper end of the interval of the mean.", null=True),
    ),
    conversations=schema.integer("Conversations that `r` is computed from."),
    r=schema.number(
        (
            "How a conversation's rated replies go with its overall z: Pearson's r of the "
            "deviations from each worker's own means."
        ),
        null=True,
    ),
    r_low=schema.number("Lower end of the interval of `r`.", null=True),
    r_high=schema.number("Upper end of the interval of `r`.", null=True),
)

RATINGS = Part(
    kind=TurnRatings,
    make=lambda a: describe_turn_ratings(a.sample, a.scores, a.options.bootstrap, a.options.seed),
    key="turn_ratings",
    schema=_TURN_RATINGS_SCHEMA,
)

REPLIES_SECTION = Section(
    id="replies",
    title="What workers thought of single replies",
    parts=(RATINGS,),
    tables=(
        RATINGS.file("turn_ratings.csv", "what workers thought of single replies, by system", turn_ratings),
    ),
    page="""\
{% call table("turn_ratings.csv", "Rated replies of each system.") %}
Of the workers who passed, on a scale from 0 to 100; where they gave thumbs, the mean is the percentage of \
thumbs up. Workers choose which replies they rate, so the mean is of those alone: a small share of rated \
replies says little about the others. Intervals are of whole workers, like those of the ranking; there is \
none of fewer than five of them, where few of many did most of it, or where all do the same.
{% endcall %}
<p>Over {{ found.conversations | whole }} conversations the mean of the rated replies goes with \
the overall z of the conversation at {% if found.r == found.r %}r = \
{{ found.r | decimal }}{% if found.r_low == found.r_low %} \
({{ found.r_low | decimal }} to {{ found.r_high | decimal }}){% endif %}{% else %}no r \
that exists{% endif %}, both taken as deviations from the worker’s own mean.</p>
""",
)


def pairs(found: Ceiling) -> Table:
    """Return comparisons of each system with people by criterion; a reader sees them ordered by system."""
    columns = (
        Column("person", "Human"),
        SYSTEM_COLUMN,
        Column("criterion", "Criterion"),
        Column("person_z", "Human, z", TWO),
        Column("system_z", "System, z", TWO),
        Column("difference", "Difference", TWO),
        Column("p", "p (human higher)", THREE),
    )
    return Table(found.pairs, columns)


BESIDE_PEOPLE = Part(kind=Ceiling, make=lambda a: find_ceiling(a.sample, a.scores))

CEILING_SECTION = Section(
    id="ceiling",
    title="The ceiling",
    parts=(BESIDE_PEOPLE,),
    tables=(
        BESIDE_PEOPLE.file(
            "ceiling.csv", "each system beside the people in a chatbot’s place, by criterion", pairs
        ),
    ),
    page="""\
{% call table("ceiling.csv", "Each system beside the people who chatted in a chatbot’s place, by \
criterion.") %}
Of the workers who passed. People are in no comparison among the systems: they show what is reached on \
each criterion where another worker answers. p is one-sided, by the published rank-sum test on \
conversations, without correction.
{% endcall %}
""",
)
