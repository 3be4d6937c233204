"""The data of one run as typed frames: the input of every analysis, the same for every source."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.errors import joined


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An assignment of the source that is not analysed, with the reason."""

    assignment: str
    worker: str
    reason: str


SIMULATED_NOTE = (
    "SIMULATED WORKERS: all that is analysed here was done by a program. No person rated anything."
)
REHEARSAL_NOTE = (
    "REHEARSAL: this run tried the study out. What its programs rated is no evidence about systems."
)
DRAWN_NOTE = (
    "Items were drawn by probabilities to be rated, so scores are of the items drawn. Only `candor estimate` "
    "weighs them, so that its means are of all items."
)
# The fact that says with which probability an item was drawn.
RATING_PROBABILITY = "rating_probability"
Opinion = Literal["like", "ambivalent", "dislike"]
Change = Literal["bot change", "user change last", "user change next", "user wants bot change", "no change"]
OPINIONS: tuple[Opinion, ...] = get_args(Opinion)
CHANGES: tuple[Change, ...] = get_args(Change)
OPINION = pd.CategoricalDtype(list(OPINIONS))
# Kinds of items that a worker rates in a run of transcripts.
ItemKind = Literal["ordinary", "bad", "repeat", "reference"]
ITEM_KINDS: tuple[ItemKind, ...] = get_args(ItemKind)
ITEM_KIND = pd.CategoricalDtype(list(ITEM_KINDS))
CHANGE = pd.CategoricalDtype(list(CHANGES))

# Replaces a text that was removed, at a worker's request or after the retention period.
REMOVED = "[removed]"
# The server's names of the kinds of failed tries, and the columns that count them.
FAILURES = {
    "timeout": "timed_out",
    "busy": "busy",
    "gone": "gone",
    "refused": "refused",
    "declined": "declined",
    "budget": "budget_spent",
    "broken": "broken_off",
    "empty": "empty",
    "thoughts": "thoughts_only",
    "too_long": "too_long",
    "error": "other_errors",
}
INCIDENT_COLUMNS = [
    "system",
    "conversations",
    "failed",
    "replies",
    "errors",
    "overran",
    "gave_away",
    "offensive",
    "inputs",
    "offensive_inputs",
    "judged",
    "flagged",
    "judged_inputs",
    "flagged_inputs",
    "reported",
    *FAILURES.values(),
]
# The incident columns that should be 0.
WRONG = (
    "failed",
    "errors",
    "overran",
    "gave_away",
    "offensive",
    "offensive_inputs",
    "flagged",
    "flagged_inputs",
    "reported",
)
# Calls of bots are grouped by these columns; the rest of SERVED_COLUMNS describes each group.
SERVED_BY = ("system", "model", "revision", "prompt_hash", "sampling")
# How a message was written, as counted by the worker's page (docs/explanation/privacy.md).
# WRITING_NUMBERS: the same of a whole conversation.
OF_AN_INPUT = (
    "typed",
    "composed",
    "pasted",
    "pastes",
    "writing_ms",
    "longest_pause_ms",
    "away",
    "away_ms",
)
WRITING_NUMBERS = ("inputs", *OF_AN_INPUT)
SERVED_COLUMNS = [
    *SERVED_BY,
    "calls",
    "failed",
    "replicas",
    "tokens_in",
    "tokens_out",
    "cost",
    "queued_ms",
    "computed_ms",
    "first",
    "last",
]
# Columns of the frames of `Words` besides `conversation` and `round`, and their types.
WORD_COLUMNS: dict[str, dict[str, Any]] = {
    "exchanges": {"input": str, "reply": str},
    "topics": {"topic": str, "opinion": OPINION},
    "changes": {"how": CHANGE, "bot_opinion": OPINION},
}

# Column names that result tables use besides, or instead of, the labels of criteria.
RESERVED_LABELS = ("overall", "system", "n", "model", "N", "z", "raw")


@dataclass(frozen=True, slots=True)
class RunState:
    """State of a run when it was read, and its target.

    Attributes:
        study_hash: hash of the text of its study.
        status: `open`, `paused` or `closed`.
        cause: `target` or `budget` if the run stopped by itself, `researcher` if a person stopped it.
        reason: a sentence; may be empty.
        target: target of the run, keyed by the fields of `RegisteredTarget`; empty if it has none.
    """

    study_hash: str
    status: str
    cause: str
    reason: str
    target: Mapping[str, float]


@dataclass(frozen=True)
class Words:
    """Texts and topics of the conversations of a run.

    `conversation` (int32) is a row number of the run's `conversations`. Rows are ordered by it, then by
    `round` (int32), then as in the source. A round is one message of the worker, counted from 1; round 0 is
    the time before the first message.

    Attributes:
        exchanges: `conversation`, `round`, `input` (str: the worker's message), `reply` (str: the bot's
            reply, NaN if there is none).
        topics: `conversation`, `round` (of the last message before the topic was named), `topic` (str),
            `opinion` (category OPINION, the worker's). The topic of round 0 is the opening topic.
        changes: `conversation`, `round`, `how` (category CHANGE), `bot_opinion` (category OPINION, NaN if
            not given).
    """

    exchanges: pd.DataFrame
    topics: pd.DataFrame
    changes: pd.DataFrame


@dataclass(frozen=True)
class Answers:
    """The study's own questions and the workers' answers.

    Attributes:
        questions: `part` (`before`, `conversation`, `after`), `label`, `kind` (`choice`, `choices`, `likert`,
            `slider`, `number`, `text`, `span`), `question` (str), `choices` (tuples of str), `points`
            (int: points of a Likert scale, else 0); in the order in which they were asked.
        given: `assignment`, `conversation` and `system` (None if an answer is about no conversation),
            `part`, `label`, `text` (None for a number; a mark is JSON), `number` (float, NaN for a text).
            Several choices, and several marks, are several rows. Of analysed assignments only; by
            assignment, part, conversation, then as they were given.
    """

    questions: pd.DataFrame
    given: pd.DataFrame


AskedPart = Literal["before", "conversation", "after"]
ASKED_PARTS: tuple[AskedPart, ...] = get_args(AskedPart)


@dataclass(frozen=True)
class Unrated:
    """Complete conversations that were not rated, because they were drawn at random to be left unrated.

    Attributes:
        conversations: `conversation` (str), `assignment`, `worker` and `system` (categories as in the run's
            own conversations), of analysed assignments; by assignment, then position.
        words: their texts; `conversation` is a row number of this `conversations`. None as in `Run`.
    """

    conversations: pd.DataFrame
    words: Words | None


@dataclass(frozen=True, kw_only=True)
class RunParts:
    """The parts of a run, as documented in `Run`, whether checked or not yet."""

    name: str
    source: str
    criteria: pd.DataFrame
    systems: pd.DataFrame
    assignments: pd.DataFrame
    conversations: pd.DataFrame
    ratings: pd.DataFrame
    partial: bool = False
    items: pd.DataFrame | None = None
    words: Words | None = None
    unrated: Unrated | None = None
    ended: pd.Series | None = None
    state: RunState | None = None
    incidents: pd.DataFrame | None = None
    served: pd.DataFrame | None = None
    answers: Answers | None = None
    scenarios: pd.Series | None = None
    facts: pd.DataFrame | None = None
    turn_ratings: pd.DataFrame | None = None
    quizzes: pd.DataFrame | None = None
    writing: pd.DataFrame | None = None
    waits: pd.Series | None = None
    people: frozenset[str] = frozenset()
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Run(RunParts):
    """One run of an experiment, complete and checked.

    In a run of transcripts workers do not chat. Each worker rates a list of items (finished conversations or
    other texts), one after the other. There a row of `conversations` is one item rated by one worker.

    Every row of `conversations` is a complete conversation, rated on every criterion. `left_out` and `notes`
    say what was left out. Rows are in a fixed order (assignment, then position), so two sources that hold the
    same data give equal frames.

    Attributes:
        name: name of the run: the slug in a database, the file's name otherwise.
        source: where it was read from, without any password.
        partial: whether assignments that were not completed are included.
        criteria: `label` (str, none of RESERVED_LABELS), `negative` (bool), `counts_for_qc` (bool),
            `maximum` (float, the upper end of the scale, whose lower end is 0); in the order in which
            reports show them.
        systems: `system` (str), `family` (str), `has_persona` (bool), `is_qc` (bool); by name, the QC bot
            last. In a run of transcripts `is_qc` means that none of the system's items is ordinary.
        assignments: `assignment` (str), `hit` (str: the task it was an instance of), `worker` (category),
            `seconds` (float: working time, NaN if unknown), `reward` (float: dollars, NaN if unknown),
            `feedback` (str, NaN if none was given).
        conversations: `conversation` (str), `assignment` (category), `worker` (category), `position`
            (int, from 1), `system` (category, in the order of `systems`), `is_qc` (bool: with the QC bot; in
            a run of transcripts: a bad twin), `persona` (str: its sentences, one per line; NaN if it had none
            or the source does not say).
        ratings: float, one row per conversation in the same order, one column per criterion in the order
            of `criteria`; as the worker gave them, negative criteria not reversed.
        incidents: incidents of each system, in all conversations that began, analysed or not: `system`
            (str, in the order of `systems`), `conversations` (int: begun), `failed` (int: conversations
            that the system could not continue), `replies` (int), `errors` (int: failed tries for a reply),
            `overran` (float: replies later than the delay drawn for them; NaN if unknown), `gave_away` (int:
            replies that reveal that it is a machine, or its name), `offensive` (int: replies with words of
            the server's list of offensive words), `inputs` (int: messages of workers to it),
            `offensive_inputs` (int: those with such words), `judged` and `judged_inputs` (int: replies and
            inputs that the server's moderation service has judged), `flagged` and `flagged_inputs` (int:
            those that it flags), `reported` (int: messages that workers have reported and not withdrawn);
            then the columns of FAILURES (int: failed tries by kind, including the last try of a conversation
            that failed; 0 if the server did not store kinds yet). None if the source does not say.
        served: the models that answered for each system, as reported by the bots, in all conversations that
            began: SERVED_BY (str, "" if unknown), `calls` (int: answered calls), `failed` (int: calls whose
            answer was no reply), `replicas` (int), `tokens_in` and `tokens_out` (float: means), `cost`
            (float: total, in the currency of the bots' prices), `queued_ms` and `computed_ms` (float:
            medians), NaN if unknown, `first` and `last` (str, UTC); by system, then by `first`. None if no
            bot reported it, or the source does not hold it.
        items: of a run of transcripts, a row for each row of `conversations`, in the same order: `item`
            (category: the same for an item, its bad twin and its repeat, in every assignment), `kind`
            (category ITEM_KIND), `twin_of` (int: position in the same assignment of the ordinary item that a
            bad twin, a repeat or a reference belongs to; 0 if it has none), `output` (str: id of the
            conversation if the item is one, else `item`), `edit_share` (float: edited words over length, NaN
            if the worker changed nothing). None in a run of conversations.
        words: texts and topics; None if the source does not hold them, or they were not requested.
        unrated: conversations that the server left unrated on purpose; None if there are none.
        ended: (assignments,), when each was submitted, UTC, NaT if it was not; None if the source does not
            say.
        state: state of the run; None if the source does not say.
        answers: answers to the study's own questions; None if it asked none, or the source does not hold
            them.
        background: data about workers from a file: `worker` (str), then a column for each field (str, NaN if
            unknown); None if there is none.
        reference_words: of a run of transcripts, (conversations,), float: words of the reference of each
            item, from a file; NaN if it has none. None if there is no file.
        scenarios: (conversations,), category: the label of the situation or task of each conversation, NaN
            if it had none; categories in alphabetical order. None if the study has none, or the source
            does not hold them.
        facts: (conversations, facts), the facts that servers newer than the columns above have added: one
            column each, by name, of float (NaN if unknown; flags are 0 and 1) if all known values are
            numbers, else of str (NaN if unknown). None if the source holds none.
        turn_ratings: ratings of single replies: `conversation` (int32, a row number of `conversations`),
            `turn` (int32: the line, from 0), `value` (float, 0 to 100); by conversation, then turn, each
            once. None if the study asked for none, or the source does not hold them.
        quizzes: results of the quiz after a conversation, for conversations that have one: `conversation`
            (int32, a row number of `conversations`), `choices` (int32: lines to choose from, 0 if nothing
            was asked), `why_not` (then `few_lines` or `few_replies`, of personas `few_personas` or
            `no_persona`, else None), `is_right` (float: 1, or 0; NaN without an answer), `about` (`lines` or
            `personas`, of all the same); by conversation. None if the study has none, or the source does not
            hold it.
        writing: how the inputs of each conversation were written, for conversations where that was recorded:
            `conversation` (int32, a row number of `conversations`), then WRITING_NUMBERS (int64): `inputs`,
            their number; the longest of their pauses, and the sums of all others; by conversation. None if
            the study does not record it, or the source does not hold it.
        waits: (conversations,), float: mean seconds from a message of the worker until the reply was shown,
            NaN if there was none. None if the source does not hold it.
        people: systems that are people (another worker, or a researcher at the desk). They are the ceiling,
            and take part in no score and no comparison of systems.
        left_out: assignments that are not analysed.
        notes: sentences that a reader of the results must see.
    """

    background: pd.DataFrame | None = None
    reference_words: pd.Series | None = None

    @property
    def competing(self) -> NDArray[np.bool_]:
        """Whether each of `systems` competes: it is neither the QC bot nor a person."""
        return ~self.systems["is_qc"].to_numpy(bool) & ~self.systems["system"].isin(self.people).to_numpy(
            bool
        )

    def __repr__(self) -> str:
        """Return the run's name and counts, because its frames would fill pages."""
        workers = self.assignments["worker"].nunique()
        return (
            f"<Run {self.name}: {len(self.conversations)} conversations in {len(self.assignments)} "
            f"assignments by {workers} workers, {int(self.competing.sum())} systems>"
        )


def source_name(source: str) -> str:
    """Return the name of the file or database in `source`, without its path.

    Reports are shared with others, who do not need the paths of the analyst's machine.
    """
    return re.split(r"[/\\]", source.split("?", maxsplit=1)[0].rstrip("/\\"))[-1]


def codes(column: pd.Series) -> NDArray[np.intp]:
    """Return a category column of a run as integers from 0, in the order of its categories."""
    return np.asarray(column.cat.codes, dtype=np.intp)


def ceiling_notes(people: frozenset[str]) -> tuple[str, ...]:
    """Return a note on the systems that are people, if there are any."""
    if not people:
        return ()
    return (
        f"Human, the ceiling: {joined(sorted(people))}. It stands beside the systems, criterion by "
        "criterion, and is in no comparison among them.",
    )


def words_removed_note(number: int) -> str:
    """Return the note for readers if the words of `number` assignments were removed."""
    return (
        f"{_assignments(number)} had their words removed: the ratings count, and of texts and their lengths "
        "nothing is said."
    )


def removed_note(number: int) -> str:
    """Return the note for readers if all data of `number` assignments were removed."""
    return f"{_assignments(number)} had all that was given removed."


def _assignments(number: int) -> str:
    return "1 assignment" if number == 1 else f"{number} assignments"
