"""The quiz after conversations, compared with the worker filter."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.method.quiz import QuizResults, describe_quiz
from qc.sections import schema
from qc.sections.section import Json, Part, Section
from qc.table import COUNT, ONE, P_EXACT, SHARE, Column, Table

OF_A_GROUP = (Column("group", "Workers who"), Column("workers", "Workers", COUNT))
OF_A_WORKER = (Column("worker", "Worker"), Column("outcome", "Filter"))


def outcome(workers: pd.DataFrame) -> NDArray[np.str_]:
    """Return the outcome of each worker, from `passed`."""
    return np.where(workers["passed"], "passed", "failed")


def share_columns(head: str) -> tuple[Column, Column, Column]:
    """Return the columns of `share`, with the heading `head`, and of its interval from `low` to `high`."""
    return (
        Column("share", head, SHARE),
        Column("low", "95 % interval", SHARE, upper="high"),
        Column("high", None, SHARE),
    )


_COUNTED = (
    Column("asked", "Asked", COUNT),
    Column("answered", "Answered", COUNT),
    Column("right", "Right", COUNT),
    Column("expected", "By chance", ONE),
    *share_columns("Share right"),
)


def groups(found: QuizResults) -> Table:
    """Return the results for workers who passed, who failed, and all."""
    columns = (*OF_A_GROUP, *_COUNTED)
    return Table(found.groups, columns)


def systems(found: QuizResults) -> Table:
    """Return the results for each system."""
    columns = (Column("system", "System"), Column("workers", "Workers", COUNT), *_COUNTED)
    return Table(found.systems, columns)


def workers(found: QuizResults) -> Table:
    """Return the results of each worker; a reader sees those not above chance first."""
    ordered = found.workers.sort_values(["p", "worker"], ascending=[False, True], na_position="first")
    shown = ordered.assign(
        outcome=outcome(ordered),
        above=np.where(ordered["above_chance"], "yes", "no"),
    )
    columns = (
        *OF_A_WORKER,
        *_COUNTED,
        Column("p", "p of guessing", P_EXACT),
        Column("above", "Above chance"),
    )
    return Table(found.workers, columns, shown)


def agreement(found: QuizResults) -> Table:
    """Count the workers by result of the filter and by whether they were above chance."""
    columns = (
        Column("filter", "Workers who"),
        Column("above", "Above chance", COUNT),
        Column("not_above", "Not above", COUNT),
    )
    return Table(found.agreement, columns)


def not_asked(found: QuizResults) -> Table:
    """Count the conversations without a quiz, by reason."""
    columns = (Column("why", "Why"), Column("conversations", "Conversations", COUNT))
    reasons = {
        "few_lines": "too few lines said to others",
        "few_replies": "no reply from the middle to ask about",
        "few_personas": "too few other personas",
        "no_persona": "a partner without a persona",
    }
    return Table(found.not_asked, columns, found.not_asked.assign(why=found.not_asked["why"].map(reasons)))


def _quiz(found: QuizResults) -> Json:
    return {
        "about": found.about,
        "groups": found.groups,
        "workers": found.workers,
        "systems": found.systems,
        "agreement": found.agreement,
        "not_asked": found.not_asked,
    }


_RIGHT = {
    "right": schema.integer("How many answers were right."),
    "expected": schema.number("How many chance alone gives right."),
    "share": schema.number("Share of the answers that were right; null without any.", null=True),
}
_QUIZ_SCHEMA = schema.record(
    (
        "What workers answered to the quiz after conversations, those with the qc bot among "
        "them; absent if the study has none, or the source does not hold it."
    ),
    about=schema.text("`lines` or `personas`: of what the partner's one was to be recognised."),
    groups=schema.rows(
        "The workers who passed, those who failed, all.",
        group=schema.text("`passed`, `failed` or `all`."),
        workers=schema.integer("Workers with an answer."),
        asked=schema.integer("Quizzes that they were asked."),
        answered=schema.integer("How many of them they answered."),
        **_RIGHT,
        low=schema.number("Lower end of its interval, for other workers.", null=True),
        high=schema.number("Upper end.", null=True),
    ),
    workers=schema.rows(
        "Every worker who was asked.",
        worker=schema.text("Id."),
        passed=schema.boolean("Whether they passed the filter."),
        asked=schema.integer("Quizzes that they were asked."),
        answered=schema.integer("How many of them they answered."),
        **_RIGHT,
        low=schema.number("Lower end of its exact interval.", null=True),
        high=schema.number("Upper end.", null=True),
        p=schema.number("Chance of as many right answers by guessing; null without an answer.", null=True),
        above_chance=schema.boolean("Whether that is below `alpha`."),
    ),
    systems=schema.rows(
        "Every system about which workers were asked, the qc bot among them.",
        system=schema.text("Name."),
        workers=schema.integer("Workers with an answer, whether they passed or not."),
        asked=schema.integer("Quizzes about it."),
        answered=schema.integer("How many of them were answered."),
        **_RIGHT,
        low=schema.number("Lower end of its exact interval.", null=True),
        high=schema.number("Upper end.", null=True),
    ),
    agreement=schema.rows(
        "Workers with an answer, by the filter.",
        filter=schema.text("`passed` or `failed`."),
        above=schema.integer("Above chance."),
        not_above=schema.integer("Not above."),
    ),
    not_asked=schema.rows(
        "Conversations without a quiz, by the reason.",
        why=schema.text(
            "`few_lines`: others were told too little; `few_replies`: no reply to ask about. Of personas "
            "`few_personas`: the study has too few others; `no_persona`: the partner has none."
        ),
        conversations=schema.integer("How many."),
    ),
)

QUIZ = Part(
    kind=QuizResults,
    make=lambda a: describe_quiz(a.sample, a.options.bootstrap, a.options.seed),
    key="quiz",
    content=_quiz,
    of_chats=True,
    schema=_QUIZ_SCHEMA,
)

SECTION = Section(
    id="quiz",
    title="The quiz after conversations",
    parts=(QUIZ,),
    tables=(
        QUIZ.file("quiz.csv", "the quiz after conversations: asked, right, and right by chance", groups),
        QUIZ.file("quiz_systems.csv", "the same for each system", systems),
        QUIZ.file("quiz_workers.csv", "the same for each worker, with p of guessing", workers),
        QUIZ.file("quiz_filter.csv", "how the quiz agrees with the worker filter", agreement),
        QUIZ.file("quiz_not_asked.csv", "conversations without a quiz, and why", not_asked),
    ),
    page="""\
{% set asked = "Which of these did your chat partner say?" if found.about == "lines" else \
"Which of these describes your chat partner?" %}
{% call table("quiz.csv", "“" ~ asked ~ "” by the worker filter.") %}
{% if found.about == "lines" %}Conversations with the quality-control bot count. {% endif %}\
<em>By chance</em>: right answers expected of who \
guesses. Intervals are for other workers. The filter does not use the quiz.
{% endcall %}
{% call table("quiz_systems.csv", "“" ~ asked ~ "” by system.") %}
All workers count; intervals are exact.{% if found.about == "personas" %} If a share is no higher than \
chance, workers did not notice the persona.{% endif %}
{% endcall %}
{% call table("quiz_filter.csv", "The quiz and the worker filter.") %}
Above chance: guessing gives as many right answers with p &lt; {{ found.alpha }}. With few answers even \
an attentive worker cannot be above it; a worker who reads well may still rate carelessly, and the other \
way round.
{% endcall %}
{% call table("quiz_not_asked.csv", "Conversations without a quiz.") %}
{% if found.about == "lines" %}The first workers of a run have few others whose lines could be shown; a \
chatbot that says the same to everybody leaves nothing to choose from.{% else %}Chatbots without a persona \
have none to recognise, the quality-control bot among them.{% endif %}
{% endcall %}
<details class="screen">
<summary>The quiz, worker by worker</summary>
{% call table("quiz_workers.csv", "The quiz, worker by worker, the least sure of being above chance \
first.") %}
p is the chance of as many right answers by guessing; intervals are exact.
{% endcall %}
</details>
<p class="paper">The quiz of each worker is in <code>quiz_workers.csv</code>.</p>
""",
)
