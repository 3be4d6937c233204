"""Read details of a run's conversations: texts, answers, calls, quizzes, turn ratings, writing data."""

import re
from typing import Any

import numpy as np
import pandas as pd

from qc.errors import Problem, quoted
from qc.loading.asked import QUIZ_COLUMNS, TURN_COLUMNS, WRITING_COLUMNS
from qc.loading.database.values import flags, located, numbers
from qc.loading.database.views import (
    ANSWER,
    BOT_CALL,
    MARK,
    QUESTION,
    QUIZ,
    RUN_STATE,
    SCENARIO,
    TURN,
    TURN_RATING,
    WRITING,
    Views,
)
from qc.loading.raw_run import REPAIR
from qc.loading.speech import Speech, Spoken
from qc.run import OF_AN_INPUT, SERVED_BY, SERVED_COLUMNS, WRITING_NUMBERS, Answers, RunState, Words


def writing(
    views: Views, run_id: object, rated: pd.DataFrame, problems: list[Problem]
) -> pd.DataFrame | None:
    """Return how the inputs of the conversations of `rated` were written; None if nothing was recorded.

    Databases of older servers have no such view.
    """
    if not views.has("v1_writing"):
        return None
    rows = views.rows("v1_writing", WRITING, run_id)
    if rows.empty:
        return None
    row = pd.Index(rated["conversation_id"]).get_indexer(rows["conversation_id"])
    where = located("conversation", rows["conversation_id"])
    typed = {
        name: numbers(rows[name], where, f"how a line was written, {name},", problems).fillna(0)
        for name in OF_AN_INPUT
    }
    of_inputs = rows.assign(**typed, conversation=row, inputs=1)[row >= 0]
    how = dict.fromkeys(WRITING_NUMBERS, "sum") | {"longest_pause_ms": "max"}
    found: pd.DataFrame = of_inputs.groupby("conversation", as_index=False).agg(how)
    return found[WRITING_COLUMNS]


def scenarios(views: Views, run_id: object, rated: pd.DataFrame) -> pd.Series | None:
    """Return the scenario of each conversation of `rated`; None if the run has none.

    Databases of older servers have no such view, and their studies have no scenarios.
    """
    if not views.has("v1_scenario"):
        return None
    rows = views.rows("v1_scenario", SCENARIO, run_id)
    if rows.empty:
        return None
    found = rated["conversation_id"].map(rows.set_index("conversation_id")["scenario"])
    return found.reset_index(drop=True).astype(object)


def turn_ratings(
    views: Views, run_id: object, rated: pd.DataFrame, problems: list[Problem]
) -> pd.DataFrame | None:
    """Return the ratings of replies in the conversations of `rated`; None if the run has none."""
    rows = views.of_conversations("v1_turn_rating", TURN_RATING, run_id, rated)
    if rows is None:
        return None
    where = located("conversation", rows["conversation_id"])
    found: pd.DataFrame = rows.assign(
        turn=numbers(rows["turn_index"], where, "the line of a rated reply", problems).fillna(0),
        value=numbers(rows["value"], where, "the rating of a reply", problems),
    )
    return found[TURN_COLUMNS]


_TARGET = "target_"


def run_state(views: Views, run_id: object) -> RunState | None:
    """Return the state of a run; None for databases of older servers, which have no such view."""
    if not views.has("v1_run_state"):
        return None
    limits = [name for name in RUN_STATE if name.startswith(_TARGET)]
    row = views.rows("v1_run_state", RUN_STATE, run_id, optional=limits).iloc[0]
    study = views.rows("v1_run", ("study_hash",), run_id).iloc[0]
    return RunState(
        study_hash=str(study["study_hash"]),
        status=row["status"],
        cause=row["cause"],
        reason=row["reason"],
        target={name.removeprefix(_TARGET): float(row[name]) for name in limits if pd.notna(row[name])},
    )


def quizzes(
    views: Views, run_id: object, rated: pd.DataFrame, problems: list[Problem]
) -> pd.DataFrame | None:
    """Return the quizzes about the conversations of `rated`; None if the run has none.

    Databases of older servers have no such view, and their studies have no quiz.
    """
    rows = views.of_conversations("v1_quiz", QUIZ, run_id, rated)
    if rows is None:
        return None
    where = located("conversation", rows["conversation_id"])
    answered = rows["is_right"].notna()
    right = flags(rows.loc[answered, "is_right"], where[answered], problems).astype(np.float64)
    found: pd.DataFrame = rows.assign(
        choices=numbers(rows["choices"], where, "the number of lines of a quiz", problems).fillna(0),
        is_right=right.reindex(rows.index),
    )
    return found[QUIZ_COLUMNS]


def served(
    views: Views, run_id: object, conversations: pd.DataFrame, systems: pd.Series
) -> pd.DataFrame | None:
    """Return the models that answered for each of `systems` (`Run.served`); None if no bot reported them.

    Args:
        views: the views of the database; older servers have no such view.
        run_id: id of the run.
        conversations: the conversations to count: `conversation_id`.
        systems: the names of all systems.
    """
    if not views.has("v1_bot_call"):
        return None
    rows = views.rows("v1_bot_call", BOT_CALL, run_id, optional=BOT_CALL)
    rows = rows[rows["conversation_id"].isin(conversations["conversation_id"])]
    rows = rows[rows["system"].isin(systems)]
    if rows.empty:
        return None
    numbers = rows[["tokens_in", "tokens_out", "cost", "queued_ms", "computed_ms"]].astype(np.float64)
    known = rows[list(SERVED_BY)].astype(object).where(rows[list(SERVED_BY)].notna(), "")
    calls = pd.concat([known, numbers], axis=1).assign(
        failed=rows["failure"].notna(),
        replica=rows["replica"],
        at=pd.to_datetime(rows["created_at"], utc=True, format="ISO8601"),
    )
    groups = calls.groupby(list(SERVED_BY), sort=False)
    table = groups.agg(
        calls=("failed", "size"),
        failed=("failed", "sum"),
        replicas=("replica", "nunique"),
        tokens_in=("tokens_in", "mean"),
        tokens_out=("tokens_out", "mean"),
        cost=("cost", _total),
        queued_ms=("queued_ms", "median"),
        computed_ms=("computed_ms", "median"),
        first=("at", "min"),
        last=("at", "max"),
    ).reset_index()
    order = table["system"].map({name: at for at, name in enumerate(systems)})
    table = table.assign(order=order).sort_values(["order", "first"], kind="stable", ignore_index=True)
    times = {name: table[name].dt.strftime("%Y-%m-%d %H:%M:%S") for name in ("first", "last")}
    found: pd.DataFrame = table.assign(**times)[SERVED_COLUMNS]
    return found


def _total(costs: pd.Series) -> float:
    return float(costs.sum(min_count=1))


_OPTIONAL = ("conversation_id", "system", "text", "number", "points")


def answers(views: Views, run_id: object, assignments: pd.Series) -> Answers | None:
    """Return the questions of a run and the answers of `assignments`; None if there are no questions.

    Databases of older servers have no such views, and their studies have no questions.
    """
    if not views.has("v1_question"):
        return None
    questions = views.rows("v1_question", QUESTION, run_id, _OPTIONAL)
    if questions.empty:
        return None
    given = views.rows("v1_answer", ANSWER, run_id, _OPTIONAL)
    given = given[given["assignment_id"].isin(assignments)].sort_values("ordinal", ignore_index=True)
    questions = questions.assign(
        choices=questions["choices"].map(lambda text: tuple(text.split("\n")) if text else ()),
        points=questions["points"].fillna(0).astype("int64"),
        part=pd.Categorical(questions["part"], ["before", "conversation", "after"]),
    )
    return Answers(
        questions=questions.sort_values(["part", "position"], ignore_index=True)
        .drop(columns="position")
        .astype({"part": str}),
        given=given.rename(columns={"assignment_id": "assignment", "conversation_id": "conversation"})
        .drop(columns="ordinal")
        .astype({"number": "float64"}),
    )


WORKER, BOT = "worker", "bot"
_ROUND = re.compile("[0-9]{1,9}")


def words(views: Views, run_id: object, rated: pd.DataFrame, problems: list[Problem]) -> Words | None:
    """Return the texts of the conversations `rated`; None if there are none."""
    speech = Speech(problems)
    turns = _by_conversation(views.rows("v1_turn", TURN, run_id), "turn_index", problems)
    marks = _by_conversation(views.rows("v1_topic_mark", MARK, run_id), "ordinal", problems)
    for row, (name, where) in enumerate(zip(rated["conversation_id"], rated["where"], strict=True)):
        said = _exchanges(turns.get(name, []), where, problems)
        topics, changes = _marks(marks.get(name, []), where, problems)
        speech.add(row, where, said, topics, changes)
    return speech.words()


def _by_conversation(rows: pd.DataFrame, order: str, problems: list[Problem]) -> dict[str, list[Any]]:
    """Return the rows of each conversation, in order."""
    where = located("conversation", rows["conversation_id"])
    position = numbers(rows[order], where, order, problems)
    grouped: dict[str, list[Any]] = {}
    for row in rows.iloc[np.argsort(position, kind="stable")].itertuples():
        grouped.setdefault(str(row.conversation_id), []).append(row)
    return grouped


def _exchanges(turns: list[Any], where: str, problems: list[Problem]) -> list[Spoken]:
    """Return the worker's inputs, each with the bot's reply."""
    found: list[Spoken] = []
    for turn in turns:
        if turn.author == WORKER:
            found.append((len(found) + 1, turn.text, None))
        elif turn.author == BOT and found and found[-1][2] is None:
            found[-1] = (*found[-1][:2], turn.text)
        else:
            why = f"turn {turn.turn_index} of {quoted(turn.author)} does not answer an input."
            problems.append(Problem(where, why, REPAIR))
    return found


def _marks(marks: list[Any], where: str, problems: list[Problem]) -> tuple[list[Spoken], list[Spoken]]:
    """Return the topics and the changes of topic; the first mark of a conversation is not a change."""
    topics: list[Spoken] = []
    changes: list[Spoken] = []
    for mark in marks:
        if not _ROUND.fullmatch(str(mark.round)):
            why = f"the round of a topic is {quoted(mark.round)}, which is not a whole number from 0."
            problems.append(Problem(where, why, REPAIR))
            continue
        if mark.topic is not None:
            topics.append((int(mark.round), str(mark.topic), mark.opinion))
        if mark.how is not None:
            changes.append((int(mark.round), str(mark.how), mark.bot_opinion))
    return topics, changes
