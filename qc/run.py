"""The data set that every analysis starts from: one run, as typed frames, whichever source it came from."""

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
    """An assignment of the source that takes no part in the analysis, and why."""

    assignment: str
    worker: str
    reason: str


SIMULATED_NOTE = (
    "SIMULATED WORKERS: all that is analysed here was done by a program. No person rated anything."
)
REHEARSAL_NOTE = (
    "REHEARSAL: this run tried the study out. What its programs rated is no evidence about systems."
)
Opinion = Literal["like", "ambivalent", "dislike"]
Change = Literal["bot change", "user change last", "user change next", "user wants bot change", "no change"]
OPINIONS: tuple[Opinion, ...] = get_args(Opinion)
CHANGES: tuple[Change, ...] = get_args(Change)
OPINION = pd.CategoricalDtype(list(OPINIONS))
# What stands on a worker's screen in a run of transcripts.
ItemKind = Literal["ordinary", "bad", "repeat", "reference"]
ITEM_KINDS: tuple[ItemKind, ...] = get_args(ItemKind)
ITEM_KIND = pd.CategoricalDtype(list(ITEM_KINDS))
CHANGE = pd.CategoricalDtype(list(CHANGES))

# What stands where words were, once a worker, or time, has had them removed.
REMOVED = "[removed]"
# How the server names the kinds of failed tries, and the columns in which we count them.
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
# Those of them that should be 0.
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
# By which calls of bots are told apart, and what is said of those that are alike.
SERVED_BY = ("system", "model", "revision", "prompt_hash", "sampling")
# How an input was written, as workers' pages have counted it (docs/privacy.md); and how those of a
# conversation were.
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
# What the frames of `Words` have beside `conversation` and `round`: their columns, and the types of these.
WORD_COLUMNS: dict[str, dict[str, Any]] = {
    "exchanges": {"input": str, "reply": str},
    "topics": {"topic": str, "opinion": OPINION},
    "changes": {"how": CHANGE, "bot_opinion": OPINION},
}

# Columns that the tables of results have beside those of the criteria, or have instead of them.
RESERVED_LABELS = ("overall", "system", "n", "model", "N", "z", "raw")


@dataclass(frozen=True, slots=True)
class RunState:
    """How a run stood when it was read, and what it was to be.

    Attributes:
        study_hash: of the text of its study.
        status: `open`, `paused` or `closed`.
        cause: `target` or `budget` where it has stopped by itself, `researcher` where somebody did that.
        reason: a sentence; may be empty.
        target: when it has enough, by the names of `RegisteredTarget`; empty if it has no such rule.
    """

    study_hash: str
    status: str
    cause: str
    reason: str
    target: Mapping[str, float]


@dataclass(frozen=True)
class Words:
    """What was said in the conversations of a run, and about what.

    `conversation` (int32) is a row number of the run's `conversations`; rows are ordered by it, then by
    `round` (int32), then as the source has them. Rounds are the worker's inputs, from 1; a round of 0 is the
    time before the first.

    Attributes:
        exchanges: `conversation`, `round`, `input` (str: what the worker wrote), `reply` (str: what the bot
            answered, NaN where it did not).
        topics: `conversation`, `round` (of the last input before the mark), `topic` (str), `opinion`
            (category OPINION, the worker's). The mark of round 0 is the opening topic.
        changes: `conversation`, `round`, `how` (category CHANGE), `bot_opinion` (category OPINION, NaN if
            not given).
    """

    exchanges: pd.DataFrame
    topics: pd.DataFrame
    changes: pd.DataFrame


@dataclass(frozen=True)
class Answers:
    """What workers were asked beyond ratings, and what they answered.

    Attributes:
        questions: `part` (`before`, `conversation`, `after`), `label`, `kind` (`choice`, `choices`, `likert`,
            `slider`, `number`, `text`), `question` (str), `choices` (tuples of str), `points` (int: of a
            Likert scale, else 0); in the order in which they were asked.
        given: `assignment`, `conversation` and `system` (None where an answer is about no conversation),
            `part`, `label`, `text` (None for a number), `number` (float, NaN for a text). Several choices are
            several rows. Of assignments that take part; by assignment, part, conversation, then as they were
            given.
    """

    questions: pd.DataFrame
    given: pd.DataFrame


AskedPart = Literal["before", "conversation", "after"]
ASKED_PARTS: tuple[AskedPart, ...] = get_args(AskedPart)


@dataclass(frozen=True)
class Unrated:
    """Conversations that were held to their end and that nobody was asked to rate, drawn at random.

    Attributes:
        conversations: `conversation` (str), `assignment`, `worker` and `system` (categories as in the run's
            own conversations), of assignments that take part; by assignment, then position.
        words: what was said in them, `conversation` being a row number of this `conversations`; None as in
            `Run`.
    """

    conversations: pd.DataFrame
    words: Words | None


@dataclass(frozen=True, kw_only=True)
class RunParts:
    """What there is of a run, by the names and with the meaning that `Run` gives them; checked or not yet."""

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
    turn_ratings: pd.DataFrame | None = None
    quizzes: pd.DataFrame | None = None
    writing: pd.DataFrame | None = None
    people: frozenset[str] = frozenset()
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Run(RunParts):
    """One run of an experiment, complete and checked.

    In a run of transcripts workers do not chat: each rates a list of items, finished conversations or other
    texts, one after the other. There a row of `conversations` is one item on one worker's screen.

    Every row of `conversations` was held to its end and rated on every criterion; whatever does not
    meet that is in `left_out` or in `notes`. Rows are in a fixed order (assignment, then position), so
    two sources that hold the same data give equal frames.

    Attributes:
        name: what the run is called: the slug in a database, the file's name otherwise.
        source: where it was read from, without any password.
        partial: whether assignments that were not completed take part.
        criteria: `label` (str, none of RESERVED_LABELS), `negative` (bool), `counts_for_qc` (bool),
            `maximum` (float, the upper end of the scale, whose lower end is 0); in the order in which
            reports show them.
        systems: `system` (str), `family` (str), `has_persona` (bool), `is_qc` (bool); by name, the qc bot
            last. In a run of transcripts `is_qc` says that none of the system's items is an ordinary one.
        assignments: `assignment` (str), `hit` (str: the task it was an instance of), `worker` (category),
            `seconds` (float: working time, NaN if unknown), `reward` (float: dollars, NaN if unknown),
            `feedback` (str, NaN if none was given).
        conversations: `conversation` (str), `assignment` (category), `worker` (category), `position`
            (int, from 1), `system` (category, in the order of `systems`), `is_qc` (bool: with the qc bot; in
            a run of transcripts: a bad twin), `persona` (str: its sentences, one a line; NaN if it had none
            or the source does not say).
        ratings: float, one row per conversation in the same order, one column per criterion in the order
            of `criteria`; as the worker gave them, negative criteria not reversed.
        incidents: what went wrong with each system, in all conversations that were begun, also those
            that are not analysed: `system` (str, in the order of `systems`), `conversations` (int: begun),
            `failed` (int: those that it could not carry on), `replies` (int), `errors` (int: tries for a
            reply that came to nothing), `overran` (float: replies that came later than the time drawn for
            them; NaN if unknown), `gave_away` (int: replies by which it gave itself away as a machine or by
            name), `offensive` (int: replies with words of the server's list of offensive ones), `inputs`
            (int: of workers, to it), `offensive_inputs` (int: those with such words), `judged` and
            `judged_inputs` (int: replies and inputs that the server's moderation service has judged),
            `flagged` and `flagged_inputs` (int: those that it flags), `reported` (int: messages that workers
            have reported, and not taken back); then the columns of FAILURES (int: tries of each kind that
            came to nothing, the last one of a conversation that failed among them; 0 where servers did not
            store kinds yet). None if the source does not say.
        served: what answered for each system, as the bots told, in all conversations that were begun:
            SERVED_BY (str, "" where it is not known), `calls` (int: that were answered), `failed` (int: whose
            answer was no reply), `replicas` (int), `tokens_in` and `tokens_out` (float: means), `cost`
            (float: in all, in the money of the bots' prices), `queued_ms` and `computed_ms` (float: medians),
            NaN where they are not known, `first` and `last` (str, UTC); by system, then by `first`. None if
            nobody told, or the source does not hold it.
        items: of a run of transcripts, a row for each row of `conversations`, in the same order: `item`
            (category: the same for an item, its bad twin and its repeat, in every assignment), `kind`
            (category ITEM_KIND), `twin_of` (int: position in the same assignment of the ordinary item that a
            bad twin, a repeat or a reference belongs to; 0 if it has none), `output` (str: id of the
            conversation that the item is, or else `item`), `edit_share` (float: edited words over length, NaN
            where the worker changed nothing). None in a run of conversations.
        words: what was said; None if the source does not hold it, or it was not asked for.
        unrated: conversations that the server left unrated on purpose; None if there are none.
        ended: (assignments,), when each was handed in, UTC, NaT if it was not; None if the source does not
            say.
        state: how it stood, and why; None if the source does not say.
        answers: to the study's own questions; None if it asked none, or the source does not hold them.
        background: what a file says of workers: `worker` (str), then a column for each field (str, NaN where
            it is not known); None if there is none.
        scenarios: (conversations,), category: the label of the situation or task of each conversation, NaN
            where it had none; categories in alphabetical order. None if the study has none, or the source
            does not hold them.
        turn_ratings: what workers thought of single replies: `conversation` (int32, a row number of
            `conversations`), `turn` (int32: the line, from 0), `value` (float, 0 to 100); by conversation,
            then turn, each once. None if nobody was asked, or the source does not hold them.
        quizzes: what became of the quiz after each conversation, of those that have one: `conversation`
            (int32, a row number of `conversations`), `choices` (int32: lines to choose from, 0 where nothing
            was asked), `why_not` (then `few_lines` or `few_replies`, else None), `is_right` (float: 1, or 0;
            NaN without an answer); by conversation. None if the study has none, or the source does not hold
            it.
        writing: how the inputs of each conversation were written, of those in which that was recorded:
            `conversation` (int32, a row number of `conversations`), then WRITING_NUMBERS (int64): `inputs`,
            how many; the longest of their pauses, and the sums of all others; by conversation. None if the
            study does not record it, or the source does not hold it.
        people: systems that are people, another worker or a researcher at the desk: the ceiling, in no
            score and no comparison of systems.
        left_out: assignments that take no part.
        notes: sentences that a reader of the results must see.
    """

    background: pd.DataFrame | None = None

    @property
    def competing(self) -> NDArray[np.bool_]:
        """Whether each of `systems` competes: neither the qc bot nor a person does."""
        return ~self.systems["is_qc"].to_numpy(bool) & ~self.systems["system"].isin(self.people).to_numpy(
            bool
        )

    def __repr__(self) -> str:
        """Return what it is called and how much is in it; its frames would fill pages."""
        workers = self.assignments["worker"].nunique()
        return (
            f"<Run {self.name}: {len(self.conversations)} conversations in {len(self.assignments)} "
            f"assignments by {workers} workers, {int(self.competing.sum())} systems>"
        )


def source_name(source: str) -> str:
    """Return the name of the file or database that `source` leads to, without the way to it.

    Reports go to others, to whom it says nothing how the analyst's machine is laid out.
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
    """Return what a reader must know where the words of so many assignments were removed."""
    return (
        f"{_assignments(number)} had their words removed: the ratings count, and of texts and their lengths "
        "nothing is said."
    )


def removed_note(number: int) -> str:
    """Return what a reader must know where all was removed that was given in so many assignments."""
    return f"{_assignments(number)} had all that was given removed."


def _assignments(number: int) -> str:
    return "1 assignment" if number == 1 else f"{number} assignments"
