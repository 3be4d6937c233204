"""Read a run from the server's database, only through its versioned views.

The views `v1_…` are the contract with the server: text ids, flags as 0/1 or booleans, times as naive UTC.
All queries see one snapshot, so the report of a run in progress is consistent.
"""

from dataclasses import replace
from typing import assert_never

import numpy as np
import pandas as pd

from qc.errors import COMPARED, Problem, SourceError, about_run
from qc.loading.database.details import (
    answers,
    answers_about_items,
    facts,
    incidents,
    item_ratings,
    item_systems,
    items,
    presented,
    quizzes,
    ratings_of_items,
    run_state,
    scenarios,
    served,
    turn_ratings,
    waits,
    words,
    writing,
)
from qc.loading.database.engine import choose, is_rehearsal
from qc.loading.database.participation import (
    counting,
    exclusions,
    failures,
    left_to_a_bot,
    left_unrated,
    of_people,
    removal_notes,
    taken_over_conversations,
    taking_part,
)
from qc.loading.database.views import (
    ASSIGNMENT,
    CONVERSATION,
    CRITERION,
    RATING,
    SYSTEM,
    Views,
    flags,
    located,
    numbers,
    task_of,
    times,
)
from qc.loading.raw_run import (
    ASSIGNMENT_COLUMNS,
    CONVERSATION_COLUMNS,
    CRITERION_COLUMNS,
    SYSTEM_COLUMNS,
    RawRun,
    build_run,
    report_order,
    row_problems,
)
from qc.options import LoadOptions
from qc.run import REHEARSAL_NOTE, SIMULATED_NOTE, Run, Unrated, ceiling_notes

SCALE_MAXIMUM = 100.0


def read(views: Views, options: LoadOptions) -> Run:
    """Return one run of a database; the bots' replies are always read with the texts.

    Raises:
        SourceError: a view or a column is missing, or the database cannot be read.
        RunChoiceError: there are several runs and none is named, or the named run does not exist.
        DataError: a value is invalid.
        EmptyRunError: the run holds no rated conversation to analyse.
    """
    run_id, name = choose(views, options.run, options.option)
    with about_run(name):
        task = task_of(views, run_id)
        match task:
            case "chat":
                read_task = _of_conversations
            case "transcripts":
                read_task = _of_transcripts
            case "side_by_side":
                if views.rows("v1_criterion", ("label",), run_id).empty:
                    raise SourceError(f"{views.source}: {COMPARED}")
                read_task = _of_conversations
            case _:
                assert_never(task)
        problems: list[Problem] = []
        raw = read_task(views, run_id, name, options, problems)
        if is_rehearsal(views, run_id):
            raw = replace(raw, notes=(REHEARSAL_NOTE, *raw.notes))
        return build_run(raw, problems, options.criteria)


def _of_conversations(
    views: Views, run_id: object, name: str, options: LoadOptions, problems: list[Problem]
) -> RawRun:
    assignments = _assignments(views, run_id, problems)
    conversations = views.rows("v1_conversation", CONVERSATION, run_id)
    conversations = conversations.assign(where=located("conversation", conversations["conversation_id"]))
    rated = conversations[conversations["status"] == "rated"]
    taken_over = rated["conversation_id"].isin(taken_over_conversations(views, run_id))
    rated = rated[~taken_over]
    kept, left_out, notes = taking_part(
        assignments, rated, options.include_partial, only_simulated=options.simulated
    )
    notes += removal_notes(views, run_id)
    rated = _positioned(rated[rated["assignment_id"].isin(kept["assignment_id"])], problems)
    rated = rated.assign(persona=rated["persona"].replace("", None))
    unrated = _unrated(views, run_id, conversations, kept, options, problems)
    criteria = _criteria(views.rows("v1_criterion", CRITERION, run_id), problems)
    people = of_people(views, run_id)
    systems = _systems(views.rows("v1_system", SYSTEM, run_id), conversations, problems)
    return RawRun(
        name=name,
        source=views.source,
        criteria=criteria,
        systems=systems,
        assignments=_renamed(kept, ASSIGNMENT_COLUMNS),
        conversations=_renamed(rated, CONVERSATION_COLUMNS),
        ratings=_ratings(views.rows("v1_rating", RATING, run_id), rated, criteria["label"], problems),
        words=words(views, run_id, rated, problems) if options.words else None,
        unrated=unrated,
        ended=kept.set_index("assignment_id")["ended"],
        state=run_state(views, run_id),
        incidents=incidents(
            views,
            run_id,
            counting(conversations, left_out),
            systems["system"].drop_duplicates(),
            simulated=SIMULATED_NOTE in notes,
            problems=problems,
        ),
        served=served(views, run_id, counting(conversations, left_out), systems["system"].drop_duplicates()),
        answers=answers(views, run_id, kept["assignment_id"]),
        scenarios=scenarios(views, run_id, rated),
        facts=facts(views, run_id, rated, chats=True),
        turn_ratings=turn_ratings(views, run_id, rated, problems),
        quizzes=quizzes(views, run_id, rated, problems),
        writing=writing(views, run_id, rated, problems),
        waits=waits(views, run_id, rated, problems) if options.words else None,
        people=people,
        left_out=left_out,
        notes=(
            *notes,
            *failures(conversations, left_out),
            *left_unrated(0 if unrated is None else len(unrated.conversations)),
            *left_to_a_bot(int(taken_over.sum())),
            *ceiling_notes(people),
        ),
        partial=options.include_partial,
    )


def _of_transcripts(
    views: Views, run_id: object, name: str, options: LoadOptions, problems: list[Problem]
) -> RawRun:
    assignments = _assignments(views, run_id, problems)
    given = item_ratings(views, run_id, problems)
    kept, left_out, notes = taking_part(
        assignments, given, options.include_partial, only_simulated=options.simulated
    )
    notes += removal_notes(views, run_id)
    given = given[given["assignment_id"].isin(kept["assignment_id"])]
    rated = presented(given)
    criteria = _criteria(views.rows("v1_criterion", CRITERION, run_id), problems)
    return RawRun(
        name=name,
        source=views.source,
        criteria=criteria,
        systems=item_systems(rated),
        assignments=_renamed(kept, ASSIGNMENT_COLUMNS),
        conversations=_renamed(rated, CONVERSATION_COLUMNS),
        ratings=ratings_of_items(given, rated, criteria["label"], problems),
        items=items(views, run_id, rated, problems),
        facts=facts(views, run_id, rated, chats=False),
        answers=answers_about_items(views, run_id, kept["assignment_id"]),
        ended=kept.set_index("assignment_id")["ended"],
        state=run_state(views, run_id),
        left_out=left_out,
        notes=tuple(notes),
        partial=options.include_partial,
    )


def _unrated(
    views: Views,
    run_id: object,
    conversations: pd.DataFrame,
    kept: pd.DataFrame,
    options: LoadOptions,
    problems: list[Problem],
) -> Unrated | None:
    """Return the conversations of `kept` assignments that were left unrated; None if there are none."""
    left = conversations["status"] == "unrated"
    left &= conversations["assignment_id"].isin(kept["assignment_id"])
    if not left.any():
        return None
    rows = _positioned(conversations[left], problems)
    rows = rows.sort_values(["assignment_id", "position"], kind="stable", ignore_index=True)
    rows = rows.rename(columns={"assignment_id": "assignment"})
    return Unrated(
        rows.rename(columns={"conversation_id": "conversation"})[["conversation", "assignment", "system"]],
        words(views, run_id, rows, problems) if options.words else None,
    )


def _positioned(conversations: pd.DataFrame, problems: list[Problem]) -> pd.DataFrame:
    rows = conversations.reset_index(drop=True)
    return rows.assign(position=numbers(rows["position"], rows["where"], "the position", problems).fillna(1))


def _renamed(frame: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    return frame.rename(columns={"assignment_id": "assignment", "conversation_id": "conversation"})[columns]


def _assignments(views: Views, run_id: object, problems: list[Problem]) -> pd.DataFrame:
    rows = views.rows("v1_assignment", ASSIGNMENT, run_id)
    where = located("assignment", rows["assignment_id"])
    ended = times(rows["ended_at"], where, problems)
    worked = ended - times(rows["agreed_at"], where, problems)
    return rows.assign(
        where=where,
        simulated=flags(rows["simulated"], where, problems),
        ended=ended,
        # Times are stored in microseconds; further digits from pandas would change the hash of the data.
        seconds=worked.dt.total_seconds().round(6),
        hit=rows["assignment_id"],
        excluded=exclusions(views, run_id, rows["assignment_id"]),
        reward=np.nan,
        feedback=rows["feedback"].replace("", None),
    )


def _criteria(rows: pd.DataFrame, problems: list[Problem]) -> pd.DataFrame:
    where = located("criterion", rows["label"])
    rows = rows.assign(where=where, position=numbers(rows["position"], where, "the position", problems))
    rows = rows.sort_values("position", kind="stable", ignore_index=True)
    criteria = rows.assign(
        negative=flags(rows["negative"], rows["where"], problems),
        counts_for_qc=flags(rows["counts_for_qc"], rows["where"], problems),
        maximum=SCALE_MAXIMUM,
    )
    return report_order(criteria[CRITERION_COLUMNS])


def _systems(rows: pd.DataFrame, conversations: pd.DataFrame, problems: list[Problem]) -> pd.DataFrame:
    rows = rows.sort_values("system", ignore_index=True)
    is_qc = flags(rows["is_qc"], located("system", rows["system"]), problems)
    spoke = flags(conversations["has_persona"], conversations["where"], problems)
    # Every conversation has a persona to choose an ice-breaker from; has_persona: whether the bot knew it.
    with_persona = rows["system"].isin(conversations.loc[spoke, "system"]) & ~is_qc
    return rows.assign(is_qc=is_qc, has_persona=with_persona)[SYSTEM_COLUMNS]


def _ratings(
    rows: pd.DataFrame, rated: pd.DataFrame, labels: pd.Series, problems: list[Problem]
) -> pd.DataFrame:
    """Return the ratings: one row per conversation of `rated`, one column per rated criterion."""
    rows = rows[rows["conversation_id"].isin(rated["conversation_id"])].reset_index(drop=True)
    where = located("conversation", rows["conversation_id"])
    what = [f"the rating of {label!r}" for label in rows["criterion"]]
    values = numbers(rows["value"], where, what, problems)
    again = rows.duplicated(["conversation_id", "criterion"])
    problems += row_problems(again, where, lambda row: f"{rows['criterion'].iloc[row]!r} is rated twice.")
    columns = labels.to_list() + sorted(set(rows["criterion"]) - set(labels))
    given = rows.assign(value=values)[~again].pivot(
        index="conversation_id", columns="criterion", values="value"
    )
    table = given.reindex(rated["conversation_id"], columns=columns)
    return table.reset_index(drop=True).rename_axis(columns=None)
