"""Read the words of a run's conversations from the views of turns and of marks."""

import re
from typing import Any

import numpy as np
import pandas as pd

from qc.errors import Problem, quoted
from qc.loading.database.values import located, numbers
from qc.loading.database.views import MARK, TURN, Views
from qc.loading.raw_run import REPAIR
from qc.loading.speech import Speech, Spoken
from qc.run import Words

WORKER, BOT = "worker", "bot"
_ROUND = re.compile("[0-9]{1,9}")


def words(views: Views, run_id: object, rated: pd.DataFrame, problems: list[Problem]) -> Words | None:
    """Return what was said in the conversations `rated`; None if nothing was said in any."""
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
    """Return the worker's inputs, each with the bot's answer to it."""
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
    """Return the topics and the changes of topic; the first mark of a conversation is no change."""
    topics: list[Spoken] = []
    changes: list[Spoken] = []
    for mark in marks:
        if not _ROUND.fullmatch(str(mark.round)):
            why = f"the round of a topic is {quoted(mark.round)}, which is no whole number from 0."
            problems.append(Problem(where, why, REPAIR))
            continue
        if mark.topic is not None:
            topics.append((int(mark.round), str(mark.topic), mark.opinion))
        if mark.how is not None:
            changes.append((int(mark.round), str(mark.how), mark.bot_opinion))
    return topics, changes
