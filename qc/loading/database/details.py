"""Read details of a run's conversations and items: texts, answers, calls, incidents, quizzes, ratings."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from qc.errors import REPAIR, Problem, quoted
from qc.loading.database.engine import choose
from qc.loading.database.views import (
    ANSWER,
    BOT_CALL,
    CONVERSATION,
    ITEM,
    ITEM_EDIT,
    ITEM_RATING,
    MARK,
    NOT_READ,
    OF_ITEMS,
    QUESTION,
    QUIZ,
    RUN_STATE,
    SCENARIO,
    SHOWN,
    TURN,
    TURN_RATING,
    WRITING,
    Views,
    flags,
    located,
    numbers,
    times,
)
from qc.loading.frames import ITEM_COLUMNS, QUIZ_COLUMNS, TURN_COLUMNS, WRITING_COLUMNS, Speech, Spoken
from qc.loading.raw_run import row_problems
from qc.run import (
    FAILURES,
    OF_AN_INPUT,
    SERVED_BY,
    SERVED_COLUMNS,
    WRITING_NUMBERS,
    Answers,
    Run,
    RunState,
    Words,
)


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


def facts(views: Views, run_id: object, rated: pd.DataFrame, *, chats: bool) -> pd.DataFrame | None:
    """Return the facts of each conversation of `rated`: the columns of the view that this program has not."""
    of_others = OF_ITEMS if chats else ()
    names = sorted(views.columns("v1_conversation") - {*CONVERSATION, *NOT_READ, *of_others})
    if not names:
        return None
    found = views.rows("v1_conversation", (*KEY, "status", *names), run_id, optional=names)
    found = found[found["status"] == "rated"].drop_duplicates(KEY).set_index(KEY)
    return found[names].reindex(pd.MultiIndex.from_frame(rated[KEY])).reset_index(drop=True)


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

    Databases of older servers have no such view, or no quiz about anything but lines.
    """
    if not views.has("v1_quiz"):
        return None
    names_about = "about" in views.columns("v1_quiz")
    columns = (*QUIZ, "about") if names_about else QUIZ
    rows = views.of_conversations("v1_quiz", columns, run_id, rated)
    if rows is None:
        return None
    where = located("conversation", rows["conversation_id"])
    answered = rows["is_right"].notna()
    right = flags(rows.loc[answered, "is_right"], where[answered], problems).astype(np.float64)
    found: pd.DataFrame = rows.assign(
        choices=numbers(rows["choices"], where, "the number of lines of a quiz", problems).fillna(0),
        is_right=right.reindex(rows.index),
        about=rows["about"] if names_about else "lines",
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


def waits(views: Views, run_id: object, rated: pd.DataFrame, problems: list[Problem]) -> pd.Series | None:
    """Return the mean wait for a reply in each conversation of `rated`, in seconds.

    None for databases without turns, or whose turns do not say when they were shown.
    """
    if not set(SHOWN) <= views.columns("v1_turn"):
        return None
    turns = views.rows("v1_turn", SHOWN, run_id, optional=("created_at", "show_at"))
    row = pd.Index(rated["conversation_id"]).get_indexer(turns["conversation_id"])
    turns = turns.assign(conversation=row)[row >= 0].reset_index(drop=True)
    if turns.empty:
        return None
    where = located("conversation", turns["conversation_id"])
    timed = turns.assign(
        place=numbers(turns["turn_index"], where, "turn_index", problems),
        sent=times(turns["created_at"], where, problems),
        shown=times(turns["show_at"], where, problems),
    ).sort_values(["conversation", "place"], ignore_index=True)
    before = timed.shift()
    answers = (
        timed["author"].eq(BOT)
        & before["author"].eq(WORKER)
        & timed["conversation"].eq(before["conversation"])
    )
    seconds = (timed["shown"] - before["sent"]).dt.total_seconds()[answers]
    means = seconds.groupby(timed.loc[answers, "conversation"]).mean()
    found: pd.Series = means.reindex(range(len(rated))).astype(np.float64)
    return found.clip(lower=0)


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


KEY = ["assignment_id", "position"]


def item_ratings(views: Views, run_id: object, problems: list[Problem]) -> pd.DataFrame:
    """Return the ratings of items, one row per item and criterion, with their location `where`."""
    rows = views.rows("v1_item_rating", ITEM_RATING, run_id)
    where = located("assignment", rows["assignment_id"]) + ", position " + rows["position"].map(str)
    return rows.assign(
        where=where,
        position=numbers(rows["position"], where, "the position", problems).fillna(1),
        twin_of=_known_numbers(rows["twin_of"], where, "twin_of", problems),
    )


def answers_about_items(views: Views, run_id: object, assignments: pd.Series) -> Answers | None:
    """Return `answers`, with the conversations named as in `presented`."""
    found = answers(views, run_id, assignments)
    if found is None:
        return None
    held = views.rows("v1_conversation", (*KEY, "conversation_id"), run_id)
    names = dict(zip(held["conversation_id"], _place(held), strict=True))
    return replace(found, given=found.given.assign(conversation=found.given["conversation"].map(names)))


def _place(rows: pd.DataFrame) -> pd.Series:
    return rows["assignment_id"] + "/" + rows["position"].map("{:g}".format)


def presented(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each item shown to a worker, with the columns of a conversation."""
    first = rows.drop_duplicates(KEY).reset_index(drop=True)
    return first.assign(conversation=_place(first), persona=None)


def items(views: Views, run_id: object, rated: pd.DataFrame, problems: list[Problem]) -> pd.DataFrame:
    """Return the items of the rows of `rated`, with the columns of `qc.loading.frames`."""
    outputs = rated["source_conversation_id"].where(rated["source_conversation_id"].notna(), rated["item_id"])
    found = rated.assign(
        item=rated["item_id"], output=outputs, edit_share=_edit_shares(views, run_id, rated, problems)
    )
    return found[ITEM_COLUMNS]


def item_texts(views: Views, run: Run) -> pd.DataFrame | None:
    """Return the items of `run` with their texts; `run` was read from these views.

    Returns:
        `item_id`, `form`, `system` and `content`, as the view `v1_item` has them; None if a database or an
        export is older than the view.
    """
    if not views.has("v1_item"):
        return None
    run_id, _ = choose(views, run.name, "--run")
    return views.rows("v1_item", ITEM, run_id)


def item_systems(rated: pd.DataFrame) -> pd.DataFrame:
    """Return the systems of the rated items; the view does not say which had a persona."""
    systems = rated[["system", "family"]].drop_duplicates("system").sort_values("system", ignore_index=True)
    return systems.assign(has_persona=False, is_qc=False)


def ratings_of_items(
    rows: pd.DataFrame, rated: pd.DataFrame, labels: pd.Series, problems: list[Problem]
) -> pd.DataFrame:
    """Return the ratings: one row for each of `rated`, one column per rated criterion."""
    rows = rows.reset_index(drop=True)
    what = [f"the rating of {label!r}" for label in rows["criterion"]]
    values = numbers(rows["value"], rows["where"], what, problems)
    again = rows.duplicated([*KEY, "criterion"])
    problems += row_problems(
        again, rows["where"], lambda row: f"{rows['criterion'].iloc[row]!r} is rated twice."
    )
    columns = labels.to_list() + sorted(set(rows["criterion"]) - set(labels))
    given = rows.assign(value=values)[~again].pivot(index=KEY, columns="criterion", values="value")
    table = given.reindex(pd.MultiIndex.from_frame(rated[KEY]), columns=columns)
    return table.reset_index(drop=True).rename_axis(columns=None)


def _edit_shares(views: Views, run_id: object, rated: pd.DataFrame, problems: list[Problem]) -> pd.Series:
    """Return the edited words over the length of each item of `rated`; NaN if it was not edited."""
    edits = views.rows("v1_item_edit", ITEM_EDIT, run_id)
    where = located("assignment", edits["assignment_id"]) + ", position " + edits["position"].map(str)
    edits = edits.assign(
        position=numbers(edits["position"], where, "the position", problems),
        edit_share=_known_numbers(edits["edit_share"], where, "edit_share", problems),
    )
    shares = edits.drop_duplicates(KEY).set_index(KEY)["edit_share"]
    return shares.reindex(pd.MultiIndex.from_frame(rated[KEY])).reset_index(drop=True)


def _known_numbers(values: pd.Series, where: pd.Series, what: str, problems: list[Problem]) -> pd.Series:
    """Return `values` as floats; NaN if missing."""
    known = values.notna()
    found = numbers(values[known], where[known], what, problems)
    return found.reindex(values.index)


BEGUN = ("active", "ended", "rated", "unrated", "failed")
_COLUMN_OF_KIND = {
    "bot_error": "errors",
    "gave_itself_away": "gave_away",
    "offensive_reply": "offensive",
    "offensive_input": "offensive_inputs",
    "flagged_reply": "flagged",
    "flagged_input": "flagged_inputs",
}


def incidents(
    views: Views,
    run_id: object,
    conversations: pd.DataFrame,
    systems: pd.Series,
    *,
    simulated: bool,
    problems: list[Problem],
) -> pd.DataFrame:
    """Return the incidents of each of `systems` (`Run.incidents`).

    Args:
        views: the views of the database.
        run_id: id of the run.
        conversations: the conversations to count: `conversation_id`, `system`, `status`.
        systems: the names of all systems.
        simulated: whether all workers were simulated. They wait less than people, so `overran` is then
            unknown.
        problems: receives the invalid values.
    """
    begun = conversations[conversations["status"].isin(BEGUN)]
    system = begun.set_index("conversation_id")["system"]
    turns = views.counts("v1_turn", ("conversation_id", "author", "overran"), run_id)
    inputs = turns[turns["author"] == "worker"]
    turns = turns[turns["author"] == "bot"].reset_index(drop=True)
    late = flags(turns["overran"], located("conversation", turns["conversation_id"]), problems)
    notes = views.counts("v1_note", ("conversation_id", "kind"), run_id)
    judged = _judged(views, run_id)
    failures = _failures(views, run_id)
    table = pd.DataFrame(
        {
            "conversations": begun["system"].value_counts(),
            "failed": begun.loc[begun["status"] == "failed", "system"].value_counts(),
            "replies": _per_system(turns, system),
            "overran": _per_system(turns[late], system),
            "inputs": _per_system(inputs, system),
            "reported": _per_system(_reported(views, run_id), system),
            "judged": _per_system(judged[judged["author"] == "bot"], system),
            "judged_inputs": _per_system(judged[judged["author"] == "worker"], system),
            **{
                column: _per_system(notes[notes["kind"] == kind], system)
                for kind, column in _COLUMN_OF_KIND.items()
            },
            **{
                column: _per_system(failures[failures["failure"] == kind], system)
                for kind, column in FAILURES.items()
            },
        }
    )
    table = table.reindex(pd.Index(systems, name="system")).fillna(0).reset_index()
    return table.assign(overran=np.nan) if simulated else table


def _failures(views: Views, run_id: object) -> pd.DataFrame:
    """Count failed tries by conversation and kind; empty for a database made before 0.2."""
    if not views.has("v2_note"):
        return pd.DataFrame(columns=["conversation_id", "failure", "n"])
    return views.counts("v2_note", ("conversation_id", "failure"), run_id)


def _judged(views: Views, run_id: object) -> pd.DataFrame:
    """Count the lines that the moderation service has judged, by conversation and author."""
    if not views.has("v1_moderated_line"):
        return pd.DataFrame(columns=["conversation_id", "author", "n"])
    found = views.counts("v1_moderated_line", ("conversation_id", "author", "flagged"), run_id)
    return found[found["flagged"].notna()]


def _reported(views: Views, run_id: object) -> pd.DataFrame:
    """Count the messages that workers have reported and not withdrawn, by conversation."""
    if not views.has("v1_message_report"):
        return pd.DataFrame(columns=["conversation_id", "n"])
    columns = ("conversation_id", "taken_back_at")
    found = views.rows("v1_message_report", columns, run_id, optional=("taken_back_at",))
    return found[found["taken_back_at"].isna()].assign(n=1)


def _per_system(counts: pd.DataFrame, system: pd.Series) -> pd.Series:
    """Sum the counts by system; conversations without a system are left out."""
    known = counts["conversation_id"].map(system)
    return counts["n"].astype(np.int64).groupby(known).sum()
