"""Read the header of our export, and the study's questions with their answers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from qc.errors import DataError, Problem, SourceError
from qc.formats.export import FORMAT, VERSION, GivenAnswer, Header, Quiz, TurnRating, Writing
from qc.formats.published import StrictModel
from qc.loading.asked import GIVEN_COLUMNS, QUESTION_COLUMNS, QUIZ_COLUMNS, TURN_COLUMNS, WRITING_COLUMNS
from qc.loading.raw_run import CRITERION_COLUMNS, SYSTEM_COLUMNS, RawRun
from qc.loading.validation import parsed_header, require_readable, validated
from qc.run import INCIDENT_COLUMNS, SERVED_COLUMNS, SIMULATED_NOTE, Answers, LeftOut, Words


@dataclass(frozen=True)
class AskedOf:
    """Data of one conversation, or one assignment, of an export besides its ratings.

    `row` is the row of the conversation; None for an assignment.
    """

    assignment: str
    conversation: str | None
    row: int | None
    answers: Sequence[GivenAnswer]
    turn_ratings: Sequence[TurnRating] = ()
    quiz: Quiz | None = None
    writing: Writing | None = None


def add_asked(raw: RawRun, declared: Header, held: Sequence[AskedOf], scenarios: pd.Series | None) -> RawRun:
    """Return `raw` with the answers, ratings of replies, quizzes, writing data and scenarios of an export.

    Only the parts that the header declares are added.
    """
    given = [
        (one.assignment, one.conversation, answer.part, answer.label, answer.text, answer.number)
        for one in held
        for answer in one.answers
    ]
    rated = [(one.row, rating.turn, rating.value) for one in held for rating in one.turn_ratings]
    quizzes = [
        (
            one.row,
            one.quiz.choices,
            one.quiz.why_not,
            np.nan if one.quiz.is_right is None else one.quiz.is_right,
        )
        for one in held
        if one.quiz is not None
    ]
    writing = [
        {"conversation": one.row, **one.writing.model_dump()} for one in held if one.writing is not None
    ]
    answers = None
    if declared.questions is not None:
        questions = [{**one.model_dump(), "choices": tuple(one.choices)} for one in declared.questions]
        answers = Answers(
            pd.DataFrame(questions, columns=QUESTION_COLUMNS),
            pd.DataFrame(given, columns=[name for name in GIVEN_COLUMNS if name != "system"]),
        )
    return replace(
        raw,
        answers=answers,
        scenarios=scenarios if declared.scenarios else None,
        turn_ratings=pd.DataFrame(rated, columns=TURN_COLUMNS) if declared.turn_ratings else None,
        quizzes=pd.DataFrame(quizzes, columns=QUIZ_COLUMNS) if declared.quizzes else None,
        writing=pd.DataFrame(writing, columns=WRITING_COLUMNS) if declared.writing else None,
    )


EXPORT_AGAIN = "Export the run again, or repair the file."


def parse(source: str, where: str, content: bytes) -> Header:
    """Return the header in `content`; `where` is its location in `source`.

    Raises:
        SourceError: its version is newer than this program reads, or it is not a header of Candor.
        DataError: a field is missing or of the wrong type.
    """
    given = parsed_header(source, where, content, EXPORT_AGAIN)
    if not isinstance(given, dict) or given.get("format") != FORMAT:
        raise SourceError(
            f'{source}: {where} does not say "format": "{FORMAT}", so this is no export of Candor. '
            "Check the path."
        )
    require_readable(source, given, VERSION)
    problems: list[Problem] = []
    header = validated(Header, given, where, EXPORT_AGAIN, problems)
    if header is None or header.version < 1:
        raise DataError(
            source,
            problems or [Problem(f"{where}.version", f"{given.get('version')} is below 1.", EXPORT_AGAIN)],
        )
    return header


def count_problems(header: Header, where: str, assignments: int, conversations: int) -> list[Problem]:
    """Return a problem for each count in the header that differs from the content."""
    return [
        Problem(
            f"{where}.{name}",
            f"announces {announced}, but the file holds {found}.",
            "It was cut short or added to. " + EXPORT_AGAIN,
        )
        for name, announced, found in (
            ("assignments", header.assignments, assignments),
            ("conversations", header.conversations, conversations),
        )
        if announced != found
    ]


def raw_run(
    source: str,
    header: Header,
    assignments: pd.DataFrame,
    conversations: pd.DataFrame,
    ratings: pd.DataFrame,
    words: Words | None,
) -> RawRun:
    """Combine the header with the frames of the rest of the file."""
    unsaid = header.simulated and SIMULATED_NOTE not in header.notes
    return RawRun(
        name=header.name,
        source=source,
        criteria=_frame(header.criteria, CRITERION_COLUMNS),
        systems=_frame(header.systems, SYSTEM_COLUMNS),
        assignments=assignments,
        conversations=conversations,
        ratings=ratings,
        words=words,
        incidents=None if header.incidents is None else _frame(header.incidents, INCIDENT_COLUMNS),
        served=None if header.served is None else _typed_served(header.served),
        people=frozenset(header.people),
        left_out=tuple(LeftOut(**out.model_dump()) for out in header.left_out),
        notes=(SIMULATED_NOTE, *header.notes) if unsaid else tuple(header.notes),
        partial=header.partial,
    )


def _typed_served(rows: Sequence[StrictModel]) -> pd.DataFrame:
    amounts = ("tokens_in", "tokens_out", "cost", "queued_ms", "computed_ms")
    typed: pd.DataFrame = _frame(rows, SERVED_COLUMNS).astype(dict.fromkeys(amounts, np.float64))
    return typed


def _frame(rows: Sequence[StrictModel], columns: list[str]) -> pd.DataFrame:
    return pd.DataFrame([row.model_dump() for row in rows], columns=columns)
