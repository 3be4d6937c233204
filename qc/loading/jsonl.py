"""Read our export as JSON Lines (`qc.formats.export`): a header, then one assignment per line."""

from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
from pydantic import Field

from qc.errors import Problem
from qc.formats.export import FORMAT, GivenAnswer, Header, Quiz, TurnRating, Writing
from qc.formats.published import Round, StrictModel
from qc.formats.views import beginning
from qc.loading import header
from qc.loading.header import EXPORT_AGAIN, AskedOf, add_asked
from qc.loading.load_options import LoadOptions
from qc.loading.raw_run import ASSIGNMENT_COLUMNS, CONVERSATION_COLUMNS, RawRun, build_run
from qc.loading.speech import as_words
from qc.loading.validation import parsed_lines
from qc.run import Change, Opinion, Run, Words

HEADER = "line 1"
_BEGINNING = beginning(FORMAT)

Position = Annotated[int, Field(ge=-(2**31), lt=2**31)]  # `build_run` checks that it is at least 1


class _Exchange(StrictModel):
    round: Round
    input: str
    reply: str | None


class _Topic(StrictModel):
    round: Round
    topic: str
    opinion: Opinion | None


class _Change(StrictModel):
    round: Round
    how: Change
    bot_opinion: Opinion | None


class _Conversation(StrictModel):
    conversation: str
    position: Position
    system: str
    persona: list[str] | None
    ratings: dict[str, float]
    scenario: str | None = None
    turn_ratings: list[TurnRating] = Field(default_factory=list)
    quiz: Quiz | None = None
    writing: Writing | None = None
    answers: list[GivenAnswer] = Field(default_factory=list)


class _Spoken(_Conversation):
    exchanges: list[_Exchange]
    topics: list[_Topic]
    changes: list[_Change]


class _Assignment(StrictModel):
    assignment: str
    hit: str
    worker: str
    seconds: float | None
    reward: float | None
    feedback: str | None
    answers: list[GivenAnswer] = Field(default_factory=list)
    conversations: list[_Conversation]


class _SpokenAssignment(_Assignment):
    conversations: list[_Spoken]  # type: ignore[assignment]  # each is a _Conversation


def is_export(content: bytes) -> bool:
    """Return whether `content` begins like an export."""
    return _BEGINNING.match(content) is not None


def read(path: Path, content: bytes, options: LoadOptions) -> Run:
    """Return the run in `content`, the bytes of the file at `path`.

    Raises:
        SourceError: it is not an export of Candor, or its version is newer than this program reads.
        DataError: a line is not JSON, a field is missing or of the wrong type, a value is unknown or out of
            range, an assignment is given twice, lines are missing.
        EmptyRunError: it holds no conversation.
    """
    source = str(path)
    first, *lines = content.split(b"\n")
    declared = header.parse(source, HEADER, first)
    words = options.words and declared.words
    problems: list[Problem] = []
    model: type[_Assignment] = _SpokenAssignment if words else _Assignment
    held = list(parsed_lines(lines, model, EXPORT_AGAIN, problems))
    conversations = sum(len(one.conversations) for _, one in held)
    if not problems:
        problems += header.count_problems(declared, HEADER, len(held), conversations)
    return build_run(_raw_run(source, declared, held, words), problems, options.criteria)


def _raw_run(source: str, declared: Header, given: list[tuple[str, _Assignment]], words: bool) -> RawRun:
    held = [
        (f"{where}, conversations[{index}]", one.assignment, conversation)
        for where, one in given
        for index, conversation in enumerate(one.conversations)
    ]
    assignments = [
        (where, one.assignment, one.hit, one.worker, one.seconds, one.reward, one.feedback)
        for where, one in given
    ]
    conversations = [
        (where, one.conversation, name, one.position, one.system, _persona(one)) for where, name, one in held
    ]
    raw = header.raw_run(
        source,
        declared,
        pd.DataFrame(assignments, columns=ASSIGNMENT_COLUMNS),
        pd.DataFrame(conversations, columns=CONVERSATION_COLUMNS),
        pd.DataFrame([one.ratings for *_, one in held], dtype=np.float64),
        _words([one for *_, one in held if isinstance(one, _Spoken)]) if words else None,
    )
    asked = [AskedOf(one.assignment, None, None, one.answers) for _, one in given]
    asked += [
        AskedOf(name, one.conversation, row, one.answers, one.turn_ratings, one.quiz, one.writing)
        for row, (_, name, one) in enumerate(held)
    ]
    return add_asked(raw, declared, asked, pd.Series([one.scenario for *_, one in held], dtype=object))


def _persona(given: _Conversation) -> str | None:
    return None if given.persona is None else "\n".join(given.persona)


def _words(held: list[_Spoken]) -> Words:
    return as_words(
        [(row, it.round, it.input, it.reply) for row, one in enumerate(held) for it in one.exchanges],
        [(row, it.round, it.topic, it.opinion) for row, one in enumerate(held) for it in one.topics],
        [(row, it.round, it.how, it.bot_opinion) for row, one in enumerate(held) for it in one.changes],
    )
