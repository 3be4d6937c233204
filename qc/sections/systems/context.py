"""Effects of position, time and topic, and scores adjusted for them."""

from dataclasses import replace

import numpy as np
import pandas as pd

from qc.drawing.charts import interval, point, rows
from qc.drawing.sheet import Drawing, Sheet
from qc.drawing.style import BLUE, VERMILION
from qc.robustness.context import Adjusted, ContextEffects, Effect, adjust, context_effects
from qc.sections import schema
from qc.sections.section import Json, Part, Section, fields_of
from qc.table import COUNT, INTERVAL, SYSTEM_COLUMN, THREE, Column, P, Table, decimal, relation, whole

_SCORES = ("plain", "adjusted", "low", "high")


def effects(found: ContextEffects) -> Table:
    """Return the effects of order and context."""
    rows = [
        (
            effect.name,
            level.name,
            level.n,
            level.workers,
            level.effect,
            level.low,
            level.high,
            effect.statistic_name,
            effect.statistic,
            effect.p,
        )
        for effect in found.effects
        for level in effect.levels
    ]
    keys = ["effect", "level", "n", "workers", "mean", "low", "high", "statistic_name", "statistic", "p"]
    columns = (
        Column("effect", "Effect"),
        Column("level", "Level"),
        Column("n", "Conversations", COUNT),
        Column("workers", "Workers", COUNT),
        Column("mean", "Mean", THREE),
        INTERVAL,
        Column("p", form=P),
    )
    return Table(pd.DataFrame(rows, columns=keys), columns)


def adjusted(found: Adjusted) -> Table:
    """Return the scores adjusted for order and context."""
    columns = (
        SYSTEM_COLUMN,
        Column("plain", "z, plain", THREE),
        Column("adjusted", "z, adjusted", THREE),
        replace(INTERVAL, head=f"{INTERVAL.head}, adjusted"),
    )
    return Table(_scores(found), columns)


def _scores(found: Adjusted) -> pd.DataFrame:
    return pd.DataFrame({"system": list(found.systems), **{key: getattr(found, key) for key in _SCORES}})


def coefficients(found: Adjusted) -> Table:
    """Return the model behind the adjusted scores."""
    columns = (
        Column("term", "Term"),
        Column("estimate", "Estimate", THREE),
        Column("se", "Standard error", THREE),
        Column("p", "p", P),
    )
    return Table(found.coefficients, columns)


# Distance of the plain and the adjusted score above and below the middle of their row, in rows.
APART = 0.17
KEY = (("◇", VERMILION, "plain"), ("●", BLUE, "adjusted"))


def draw_adjusted(result: Adjusted) -> Drawing | None:
    """Draw plain and adjusted overall z of every system, with the interval of the adjusted score.

    None if there is no adjusted score.
    """
    plain, adjusted = result.plain, result.adjusted
    if not np.isfinite(adjusted - plain).any():
        return None
    extent = np.concatenate([plain, adjusted, result.low, result.high])
    names = list(result.systems)

    def draw(width: float) -> Sheet:
        panel = rows(width, names, "overall score (z)", extent, legend=KEY)
        for i in range(len(names)):
            interval(panel, result.low[i], result.high[i], i + APART, BLUE)
            point(panel, adjusted[i], i + APART, BLUE, size=8)
            point(panel, plain[i], i - APART, VERMILION, "D", filled=False, size=6.5)
        return panel.page

    most = int(np.nanargmax(np.abs(adjusted - plain)))
    alt = (
        "Plain and adjusted overall z of every system; the largest change is that of "
        f"{names[most]}, from {decimal(plain[most])} to {decimal(adjusted[most])}."
    )
    return Drawing("Scores adjusted for order and context", alt, draw)


def draw_effects(result: ContextEffects) -> Drawing | None:
    """Draw, for every effect, the mean z at each of its levels relative to the means of the same systems.

    None if there is no effect to draw.
    """
    if not any(np.isfinite(level.effect) for effect in result.effects for level in effect.levels):
        return None
    labels: list[str] = []
    right: list[str] = []
    strong: set[int] = set()
    for effect in result.effects:
        strong.add(len(labels))
        labels += [effect.name, *(level.name for level in effect.levels), ""]
        right += [f"p {relation(effect.p)}", *(f"n {whole(level.n)}" for level in effect.levels), ""]
    labels, right = labels[:-1], right[:-1]
    levels = [level for effect in result.effects for level in effect.levels]
    extent = np.array([(level.effect, level.low, level.high) for level in levels]).reshape(-1)

    def draw(width: float) -> Sheet:
        axis = "z relative to the same systems’ mean"
        panel = rows(width, labels, axis, extent, right, strong=strong, striped=False)
        row = 0
        for effect in result.effects:
            for i, level in enumerate(effect.levels, start=row + 1):
                interval(panel, level.low, level.high, i, BLUE)
                point(panel, level.effect, i, BLUE)
            row += len(effect.levels) + 2
        return panel.page

    return Drawing("Effects of order and context", _alt(result), draw)


def _alt(result: ContextEffects) -> str:
    parts = [
        _extremes(effect) for effect in result.effects if any(np.isfinite(v.effect) for v in effect.levels)
    ]
    return f"Mean z by context with intervals: {'; '.join(parts) or 'nothing to compare'}."


def _extremes(effect: Effect) -> str:
    known = [level for level in effect.levels if np.isfinite(level.effect)]
    low = min(known, key=lambda level: level.effect)
    high = max(known, key=lambda level: level.effect)
    return (
        f"{effect.name} from {decimal(low.effect, 2)} ({low.name}) to {decimal(high.effect, 2)} ({high.name})"
    )


def _adjusted(found: Adjusted) -> Json:
    rest = {name: value for name, value in fields_of(found).items() if name not in {*_SCORES, "systems"}}
    return {"systems": _scores(found), **rest}


_CONTEXT_SCHEMA = schema.record(
    "Effects of order and context.",
    effects=schema.rows(
        "Each effect.",
        name=schema.text("`position`, `minutes`, `topic opinion` or `topic changes`."),
        levels=schema.rows(
            "Its levels.",
            name=schema.text("Name."),
            n=schema.integer("Conversations."),
            workers=schema.integer("Workers who had them; fewer than 10 give no interval."),
            effect=schema.number("Mean z relative to the mean of the same system.", null=True),
            low=schema.number("Lower end of its interval.", null=True),
            high=schema.number("Upper end.", null=True),
        ),
        statistic_name=schema.text("Name of the test statistic."),
        statistic=schema.number("Its value.", null=True),
        p=schema.number("p-value of no effect.", null=True),
        sentence=schema.text("The finding in a sentence."),
    ),
)

_ADJUSTED_SCHEMA = schema.record(
    "Scores adjusted for order and context by a linear mixed model.",
    systems=schema.rows(
        "Each system.",
        system=schema.text("Name."),
        plain=schema.number("Overall z as in `systems`.", null=True),
        adjusted=schema.number("Adjusted.", null=True),
        low=schema.number("Lower end of the interval of `adjusted`.", null=True),
        high=schema.number("Upper end.", null=True),
    ),
    worker_sd=schema.number("Standard deviation between workers.", null=True),
    residual_sd=schema.number("Standard deviation within.", null=True),
    coefficients=schema.rows(
        "Effects of position and opinion.",
        term=schema.text("A position or opinion, against the first of its kind that 10 workers carry."),
        estimate=schema.number("Estimate.", null=True),
        se=schema.number(
            "Standard error by worker; null if fewer than 10 workers carry one of the two.", null=True
        ),
        degrees=schema.number("Degrees of freedom of `se`.", null=True),
        p=schema.number("Two-sided p-value.", null=True),
    ),
    n=schema.integer("Conversations in the model."),
    notes=schema.array("What the model found or had to leave out.", schema.text()),
)

EFFECTS = Part(
    kind=ContextEffects,
    make=lambda a: context_effects(a.sample),
    key="context",
    option="context",
    of_chats=True,
    schema=_CONTEXT_SCHEMA,
)
ADJUSTED = Part(
    kind=Adjusted,
    make=lambda a: adjust(a.sample, a.scores),
    key="adjusted",
    content=_adjusted,
    option="context",
    of_chats=True,
    schema=_ADJUSTED_SCHEMA,
)

SECTION = Section(
    id="context",
    title="Order and context",
    parts=(EFFECTS, ADJUSTED),
    tables=(
        EFFECTS.file("context.csv", "effects of position, time and topic", effects),
        ADJUSTED.file("adjusted.csv", "scores adjusted for these effects", adjusted),
        ADJUSTED.file(
            "adjusted_coefficients.csv", "coefficients of the model behind the adjusted scores", coefficients
        ),
    ),
    figures=(
        EFFECTS.file("context.svg", "effects of position, time and topic", draw_effects),
        ADJUSTED.file("adjusted.svg", "plain and adjusted scores", draw_adjusted),
    ),
    page="""\
{% if found %}
<p>These {{ found.effects | length }} tests are not corrected for their number.</p>
<ul>
{% for effect in found.effects %}
<li>{{ effect.sentence | tight }}</li>
{% endfor %}
</ul>
{% call drawing("context", "Effects of order and context.") %}
How much better or worse conversations were rated than the mean of the same system; lines are 95 % \
intervals.
{% endcall %}
<details>
<summary>The same as a table</summary>
{% call table("context.csv", "Effects of order and context on z.") %}
The mean z of conversations relative to the mean of the same system, so 0 is no effect. Where the server \
drew the order of the systems, as ours does, an effect of position is one of position; the others are the \
workers’ own doing, and only go along with what they rate.
{% endcall %}
</details>
{% endif %}
{% if a.adjusted %}
<details>
<summary>Plain and adjusted scores, and the model behind them</summary>
{{ remarks(a.adjusted.notes) }}
{% call drawing("adjusted", "Plain and adjusted scores.") %}
Where the two marks of a system lie apart, its conversations had another mix of positions and opinions \
than those of all systems together.
{% endcall %}
{% call table("adjusted.csv", "Plain and adjusted scores.") %}
From a linear mixed model over {{ a.adjusted.n | whole }} conversations: the worker is random (standard \
deviation {{ a.adjusted.worker_sd | decimal }}, rest {{ a.adjusted.residual_sd | decimal }}), system, \
position and opinion of the topic are fixed. The intervals hold however the conversations of one worker \
depend on one another. The published score is the plain one.
{% endcall %}
{% call table("adjusted_coefficients.csv", "Coefficients of the model.") %}
How much higher z is at a position or an opinion than at the one it is compared with, all else equal. p is \
two-sided and not corrected for the number of terms.
{% endcall %}
</details>
{% endif %}
""",
)
