"""Scores with the style of replies, their delay and the place of the conversation held constant."""

import numpy as np

from qc.drawing.charts import interval, point, rows
from qc.drawing.sheet import Drawing, Sheet
from qc.drawing.style import BLUE, MUTED
from qc.robustness.style import FEATURES, StyleControl, control_style
from qc.sections import schema
from qc.sections.section import Json, Part, Section
from qc.table import (
    INTERVAL,
    ONE,
    SHARE,
    SYSTEM_COLUMN,
    THREE,
    TWO,
    WRITTEN,
    Column,
    Form,
    Table,
    decimal,
    listed,
    whole,
)

HEADS = {
    "words": "Words",
    "list_items": "List items",
    "markdown": "Other Markdown",
    "emoji": "Emoji",
    "wait": "Wait, s",
}
_RANK = Form(whole, "0")


def scores(found: StyleControl) -> Table | None:
    """Return the plain and the controlled scores; None if there are none."""
    if found.systems.empty:
        return None
    columns = (
        SYSTEM_COLUMN,
        Column("plain", "z", THREE),
        Column("controlled", "Controlled", THREE),
        INTERVAL,
        Column("high", None, THREE),
        Column("change", "Change", THREE),
        Column("change_low", INTERVAL.head, THREE, upper="change_high"),
        Column("change_high", None, THREE),
        Column("rank", "Rank", _RANK),
        Column("controlled_rank", "Con\u00adtrolled", _RANK),
        *(Column(name, None, TWO) for name in FEATURES),
    )
    return Table(found.systems, columns)


def features(found: StyleControl) -> Table | None:
    """Return the features and their coefficients; None if none was looked at."""
    if found.features.empty:
        return None
    columns = (
        Column("feature", "In a reply"),
        Column("mean", "Mean", TWO),
        Column("sd", "sd", TWO),
        Column("within", "Within systems", SHARE),
        Column("estimate", "z per sd", THREE),
        INTERVAL,
        Column("high", None, THREE),
        Column("left_out", "Left out because", WRITTEN),
    )
    return Table(found.features, columns, found.features.assign(feature=found.features["feature"].map(HEADS)))


def of_places(found: StyleControl) -> Table | None:
    """Return the coefficients of the places; None if there are none."""
    if found.places.empty:
        return None
    columns = (
        Column("term", "Place"),
        Column("estimate", "z", THREE),
        INTERVAL,
        Column("high", None, THREE),
    )
    return Table(found.places, columns)


def of_systems(found: StyleControl) -> Table | None:
    """Return the mean features of each system; None if there are no scores."""
    if found.systems.empty:
        return None
    known = [name for name in FEATURES if (found.systems[name] > 0).any()]
    columns = (SYSTEM_COLUMN, *(Column(name, HEADS[name], ONE if name == "words" else TWO) for name in known))
    return Table(found.systems[["system", *FEATURES]], columns)


def draw_style(found: StyleControl) -> Drawing | None:
    """Draw the plain and the controlled score of each system; None if there are none."""
    if found.systems.empty:
        return None
    table = found.systems[np.isfinite(found.systems["controlled"])]
    ends = table[["plain", "controlled", "low", "high"]].to_numpy(np.float64).ravel()
    right = [decimal(value, 2) for value in table["controlled"]]
    legend = (("●", BLUE, "controlled, 95 % interval"), ("○", MUTED, "plain"))

    def draw(width: float) -> Sheet:
        panel = rows(width, list(table["system"]), "overall z", ends, right, "controlled", legend=legend)
        for row, each in enumerate(table.itertuples()):
            interval(panel, each.low, each.high, row, BLUE)
            point(panel, each.controlled, row, BLUE)
            point(panel, each.plain, row, MUTED, filled=False)
        return panel.page

    values = [
        f"{each.system} {decimal(each.controlled, 2)} instead of {decimal(each.plain, 2)}"
        for each in table.itertuples()
    ]
    return Drawing(
        "Scores with style held constant", f"Overall z with style held constant: {listed(values, 8)}.", draw
    )


def _document(found: StyleControl) -> Json:
    return {
        "why_not": found.why_not or None,
        "n": found.n,
        "workers": found.workers,
        "features": found.features.to_dict("records"),
        "places": found.places.to_dict("records"),
        "systems": found.systems.to_dict("records"),
        "sentence": found.sentence,
    }


_SCHEMA = schema.record(
    "Scores with the style of replies, their delay and the place of the conversation held constant; absent "
    "if the source holds no replies. It describes this run and is no effect of style.",
    why_not=schema.text("Why there are none; null if there are.", null=True),
    n=schema.integer("Conversations in the regression."),
    workers=schema.integer("Workers who had them."),
    features=schema.rows(
        "The features, means over the replies of a conversation.",
        feature=schema.one_of("Its name.", *FEATURES),
        mean=schema.number("Mean over conversations.", null=True),
        sd=schema.number("Standard deviation over conversations.", null=True),
        within=schema.number(
            "Share of the variance of its logarithm between conversations with the same system.", null=True
        ),
        estimate=schema.number(
            "Change of z per standard deviation of the logarithm; null if left out.", null=True
        ),
        low=schema.number(
            "Lower end of its interval; null if left out, or with fewer than 4 degrees of freedom.", null=True
        ),
        high=schema.number("Upper end.", null=True),
        left_out=schema.text("Why it is not in the regression; empty if it is."),
    ),
    places=schema.rows(
        "The places in the assignment.",
        term=schema.text("A place, against the first one."),
        estimate=schema.number("Difference of z.", null=True),
        low=schema.number(
            "Lower end of its interval; null if fewer than 10 workers had one of the two.", null=True
        ),
        high=schema.number("Upper end.", null=True),
    ),
    systems=schema.rows(
        "Each system, best first by its plain score.",
        system=schema.text("Name."),
        plain=schema.number("Overall z as in `systems`.", null=True),
        controlled=schema.number("The same with style, delay and place held constant.", null=True),
        low=schema.number("Lower end of the interval of `controlled`.", null=True),
        high=schema.number("Upper end.", null=True),
        change=schema.number("`controlled` less the mean z of the same conversations.", null=True),
        change_low=schema.number("Lower end of the interval of `change`.", null=True),
        change_high=schema.number("Upper end.", null=True),
        rank=schema.number("Rank by `plain`.", null=True),
        controlled_rank=schema.number("Rank by `controlled`.", null=True),
        **{name: schema.number(f"Mean {words}.", null=True) for name, words in FEATURES.items()},
    ),
    sentence=schema.text("The result in words; empty if there is none."),
)

STYLE = Part(
    kind=StyleControl,
    make=lambda a: control_style(a.sample, a.scores),
    key="style",
    content=_document,
    option="context",
    of_chats=True,
    schema=_SCHEMA,
)

SECTION = Section(
    id="style",
    title="Style and length",
    parts=(STYLE,),
    tables=(
        STYLE.file("style.csv", "scores with style, delay and place held constant", scores),
        STYLE.file("style_features.csv", "how style goes with the score", features),
        STYLE.file("style_places.csv", "places in the regression of style", of_places),
        STYLE.file("style_systems.csv", "the style of each system's replies", of_systems),
    ),
    figures=(STYLE.file("style.svg", "plain scores, and with style held constant", draw_style),),
    page="""\
{% if found.why_not %}
<p>Scores with the style of replies held constant are not given. {{ found.why_not }}</p>
{% if not found.features.empty %}
<details>
<summary>The features that were looked at</summary>
{% call table("style_features.csv", "Features of replies.") %}
Means over the replies of a conversation. A feature that hardly differs within systems cannot be told from \
them.
{% endcall %}
</details>
{% endif %}
{% else %}
<p>{{ found.sentence }} This describes the run; it does not say what style causes. Workers may bring \
about the style that they rate.</p>
{% call drawing("style", "Scores with style held constant.") %}
Where the two marks lie apart, the replies of the system differ in style from those of all systems.
{% endcall %}
<details>
<summary>Scores before and after, and how each feature goes with the score</summary>
{% call table("style.csv", "Plain scores, and with style held constant.") %}
From a regression over {{ found.n | whole }} conversations of {{ found.workers | whole }} workers on system, \
features of the replies and place in the assignment. A controlled score is that of average features and \
places. The change is against the mean of the same conversations. Intervals are by worker, each looked at \
alone. The published score is the plain one.
{% endcall %}
{% call table("style_features.csv", "Features of replies, and how they go with the score.") %}
Means over the replies of a conversation; the wait runs from the worker’s message until the reply was \
shown. z per sd: how much higher z is where the logarithm of a feature is one standard deviation higher, for \
the same system, place and other features.
{% endcall %}
{% call table("style_places.csv", "Places in the assignment.") %}
How much higher z is at a place than at the first one, all else equal.
{% endcall %}
{% call table("style_systems.csv", "The style of each system’s replies.") %}
Means over its conversations with workers who passed, in a reply.
{% endcall %}
</details>
{% endif %}
""",
)
