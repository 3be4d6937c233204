"""Details of one assignment: turns, topics, ratings, incidents, and statistics of its worker's writing."""

from collections.abc import Iterable, Mapping
from itertools import groupby
from statistics import quantiles
from typing import Any, get_args

from fastapi import APIRouter, Depends
from sqlalchemy import ColumnElement, Connection, select, text

from server.access.actor import Allowed
from server.access.parts import Database
from server.db.review import reports_of
from server.db.tables import (
    PERSONA_SEPARATOR,
    AnswerTable,
    AssignmentTable,
    ChoiceTable,
    ConversationTable,
    CriterionTable,
    ItemEditTable,
    ItemTable,
    ModeratedLineTable,
    NoteTable,
    QuizLineTable,
    QuizTable,
    RatingTable,
    RunTable,
    ShownItemTable,
    StudyTable,
    SystemTable,
    TopicMarkTable,
    TurnRatingTable,
    TurnTable,
    WorkerTable,
    WritingTable,
)
from server.desk.assignments.transcript_responses import (
    AnswerRow,
    AssignmentDetail,
    ChoiceRow,
    ConversationDetail,
    FlagRow,
    MessageReportRow,
    NotedRow,
    PointRow,
    RatingRow,
    ScenarioRow,
    ShownItemRow,
    TopicRow,
    TurnRow,
    WritingMeasure,
    WritingRow,
)
from server.errors import AssignmentNotFound
from server.session.answer_kinds import NOTHING_SHOWN, ShownTexts, rating_to_point, stored_mark
from server.session.instrument import AskedQuestion, Part, number_on_page
from server.session.item import ItemContent
from server.study import Study, parse_study


def writing(connection: Connection, assignment_id: str, run_id: int, *, simulated: bool) -> list[WritingRow]:
    """Return statistics of a worker's writing, with quartiles over the workers of the run.

    People are compared with people, simulated workers with simulated ones. Return nothing if writing was not
    recorded.
    """
    rows = connection.execute(_SUMS, {"run": run_id, "simulated": simulated}).all()
    by_assignment = {row.assignment_id: _measures(row) for row in rows}
    own = by_assignment.get(assignment_id)
    if own is None:
        return []
    return [
        WritingRow(
            measure=measure,
            value=own[measure],
            **_quartiles(one[measure] for one in by_assignment.values()),
            workers=len(by_assignment),
        )
        for measure in get_args(WritingMeasure)
    ]


def _quartiles(values: Iterable[float | None]) -> dict[str, float | None]:
    """Return the quartiles of the known values, by linear interpolation; None for fewer than two values."""
    known = [value for value in values if value is not None]
    if len(known) < _FEWEST:
        return dict.fromkeys(_QUARTILES)
    return dict(zip(_QUARTILES, quantiles(known, n=4, method="inclusive"), strict=True))


def _measures(row: Any) -> dict[WritingMeasure, float | None]:
    every = row.typed + row.composed + row.pasted
    minutes = row.writing_ms / 60_000
    return {
        "pasted": _of(row.pasted, every),
        "typed": _of(row.typed, every),
        "pace": _of(row.typed + row.composed, minutes),
        "pause": row.longest_pause_ms / 1_000,
        "away": float(row.away),
        "away_seconds": row.away_ms / 1_000,
    }


def _of(part: float, whole: float) -> float | None:
    return part / whole if whole else None


_FEWEST = 2
_QUARTILES = ("low", "median", "high")
_SUMS = text("""
    SELECT conversation.assignment_id AS assignment_id, SUM(writing.typed) AS typed,
           SUM(writing.composed) AS composed, SUM(writing.pasted) AS pasted,
           SUM(writing.writing_ms) AS writing_ms, MAX(writing.longest_pause_ms) AS longest_pause_ms,
           SUM(writing.away) AS away, SUM(writing.away_ms) AS away_ms
    FROM writing
    JOIN conversation ON conversation.id = writing.conversation_id
    JOIN assignment ON assignment.id = conversation.assignment_id
    WHERE assignment.run_id = :run AND assignment.simulated = :simulated
      AND (conversation.side IS NULL OR conversation.side = 'left')
    GROUP BY conversation.assignment_id""")


router = APIRouter()


@router.get(
    "/api/desk/assignments/{assignment}", tags=["runs"], dependencies=[Depends(Allowed("read_transcripts"))]
)
async def show_assignment(assignment: str, store: Database) -> AssignmentDetail:
    """Return one assignment, with transcripts and ratings."""
    return await store.read(lambda connection: transcript(connection, assignment))


def transcript(connection: Connection, assignment_id: str) -> AssignmentDetail:
    """Return everything about one assignment. Raises AssignmentNotFound."""
    assignment = _assignment(connection, assignment_id)
    study = _study(connection, assignment.run_id)

    def answered(part: Part) -> list[AnswerRow]:
        given = AnswerTable.c.assignment_id == assignment_id, AnswerTable.c.part == part
        return _answers(connection, study.asked.of(part), NOTHING_SHOWN, *given)

    query = (
        select(
            ConversationTable, SystemTable.c.name.label("system"), SystemTable.c.family, SystemTable.c.is_qc
        )
        .join(SystemTable, SystemTable.c.id == ConversationTable.c.system_id)
        .where(ConversationTable.c.assignment_id == assignment_id)
        .order_by(ConversationTable.c.position, ConversationTable.c.attempt)
    )
    return AssignmentDetail(
        assignment=assignment.id,
        worker=assignment.pseudonym,
        simulated=assignment.simulated,
        status=assignment.status,
        feedback=assignment.feedback,
        before=answered("before"),
        conversations=[_conversation(connection, row, study) for row in connection.execute(query).all()],
        after=answered("after"),
        writing=writing(connection, assignment_id, assignment.run_id, simulated=assignment.simulated),
    )


def _assignment(connection: Connection, assignment_id: str) -> Any:
    query = (
        select(AssignmentTable, WorkerTable.c.pseudonym)
        .join(WorkerTable, WorkerTable.c.id == AssignmentTable.c.worker_id)
        .where(AssignmentTable.c.id == assignment_id)
    )
    found = connection.execute(query).one_or_none()
    if found is None:
        raise AssignmentNotFound(f"There is no assignment “{assignment_id}”")
    return found


def _study(connection: Connection, run_id: int) -> Study:
    query = (
        select(StudyTable.c.yaml)
        .join(RunTable, RunTable.c.study_id == StudyTable.c.id)
        .where(RunTable.c.id == run_id)
    )
    return parse_study(connection.execute(query).scalar_one())


def _conversation(connection: Connection, row: Any, study: Study) -> ConversationDetail:
    def of_this(table: Any, of: Any, order: Any) -> list[Any]:
        query = select(table).where(of.conversation_id == row.id).order_by(order)
        return list(connection.execute(query))

    ratings = (
        select(RatingTable.c.criterion, CriterionTable.c.statement, RatingTable.c.value)
        .join(CriterionTable, CriterionTable.c.label == RatingTable.c.criterion)
        .join(SystemTable, SystemTable.c.study_id == CriterionTable.c.study_id)
        .where(RatingTable.c.conversation_id == row.id, SystemTable.c.id == row.system_id)
        .order_by(CriterionTable.c.position)
    )
    lines = select(
        TurnTable.c.turn_index,
        TurnTable.c.author,
        TurnTable.c.text,
        TurnTable.c.created_at,
        TurnTable.c.latency_ms,
    )
    given = of_this(TurnRatingTable, TurnRatingTable.c, TurnRatingTable.c.id)
    points = _points(given, study)
    pasted = {
        one.turn_index: one.pasted for one in of_this(WritingTable, WritingTable.c, WritingTable.c.turn_index)
    }
    moderated = {
        one.turn_index: one
        for one in of_this(ModeratedLineTable, ModeratedLineTable.c, ModeratedLineTable.c.turn_index)
    }
    noted = of_this(NoteTable, NoteTable.c, NoteTable.c.id)
    said = list(
        connection.execute(
            lines.where(TurnTable.c.conversation_id == row.id).order_by(TurnTable.c.turn_index)
        )
    )
    replies = {turn.turn_index: turn.text for turn in said if turn.author == "bot"}
    item = _item(connection, row.id)
    shown = ShownTexts(replies) if item is None else item.content.shown
    return ConversationDetail(
        position=row.position,
        number=number_on_page(row.position, row.side),
        attempt=row.attempt,
        system=row.system,
        family=row.family,
        is_qc=row.is_qc,
        status=row.status,
        scenario=_scenario(row, study),
        persona=row.persona.split(PERSONA_SEPARATOR) if row.persona else [],
        item=item,
        topic_marks=[
            TopicRow.model_validate(mark, from_attributes=True)
            for mark in of_this(TopicMarkTable, TopicMarkTable.c, TopicMarkTable.c.ordinal)
        ],
        turns=[
            TurnRow(
                **turn._mapping,
                rating=points.get(turn.turn_index),
                pasted=pasted.get(turn.turn_index),
                flags=_flags(turn, moderated, noted),
            )
            for turn in said
        ],
        ratings=[RatingRow(**row) for row in connection.execute(ratings).mappings()],
        answers=[
            *_answers(connection, study.asked.conversation, shown, AnswerTable.c.conversation_id == row.id),
            *_quiz(connection, row.id),
        ],
        incidents=[NotedRow(kind=note.kind, text=note.text) for note in noted],
        reports=[
            MessageReportRow.model_validate(report, from_attributes=True)
            for report in reports_of(connection, row.id)
        ],
        side=row.side,
        choices=[
            ChoiceRow.model_validate(choice, from_attributes=True)
            for choice in of_this(ChoiceTable, ChoiceTable.c, ChoiceTable.c.turn_index)
        ],
    )


def _flags(turn: Any, moderated: Mapping[int, Any], noted: Iterable[Any]) -> list[FlagRow]:
    """Return the flags of a turn. Notes of offensive words have the same time as their turn."""
    kind = "offensive_input" if turn.author == "worker" else "offensive_reply"
    at = turn.created_at
    found = [
        FlagRow(by="words", reason=note.text) for note in noted if note.kind == kind and note.created_at == at
    ]
    judged = moderated.get(turn.turn_index)
    if judged is not None and judged.flagged:
        seen = {"seen_at": judged.seen_at, "seen_by": judged.seen_by}
        found.append(FlagRow(by="classifier", reason=judged.categories, **seen))
    return found


def _points(given: Iterable[Any], study: Study) -> dict[int, PointRow]:
    """Return the ratings of single replies, by turn. If a turn has several ratings, the last one counts."""
    points = study.turn_points
    if points is None:
        return {}
    return {
        rating.turn_index: PointRow(point=rating_to_point(rating.value, points), points=points)
        for rating in given
    }


def _scenario(row: Any, study: Study) -> ScenarioRow | None:
    found = (ScenarioRow(label=one.label, text=one.text) for one in study.scenarios)
    return next((one for one in found if one.label == row.scenario), None)


def _answers(
    connection: Connection, asked: Iterable[AskedQuestion], shown: ShownTexts, *given: ColumnElement[bool]
) -> list[AnswerRow]:
    """Return the answers to the questions `asked`, in their order, without unanswered ones."""
    query = (
        select(AnswerTable.c.label, AnswerTable.c.text, AnswerTable.c.number)
        .where(*given)
        .order_by(AnswerTable.c.label, AnswerTable.c.id)
    )
    answers = {label: list(rows) for label, rows in groupby(connection.execute(query), lambda row: row.label)}
    return [
        _answer(question, answers[question.label], shown) for question in asked if question.label in answers
    ]


def _answer(question: AskedQuestion, given: Iterable[Any], shown: ShownTexts) -> AnswerRow:
    values = [str(row.text) if row.number is None else row.number for row in given]
    return AnswerRow(
        label=question.label,
        question=question.question,
        answers=[question.type.in_words(question, value, shown) for value in values],
        marks=[mark for value in values if (mark := stored_mark(value)) and question.kind == "span"],
        marked="output" if question.text == "output" else "context" if question.text == "context" else None,
    )


def _quiz(connection: Connection, conversation_id: str) -> list[AnswerRow]:
    """Return the quiz about a conversation with its result, as an answer; nothing if there was no quiz."""
    asked = connection.execute(
        select(QuizTable).where(QuizTable.c.conversation_id == conversation_id)
    ).one_or_none()
    if asked is None:
        return []
    shown = select(QuizLineTable).where(QuizLineTable.c.conversation_id == conversation_id)
    lines = {line.choice: line for line in connection.execute(shown)}
    right = [line.text for line in lines.values() if line.said_in_id == conversation_id]
    question, own = _QUIZZES[asked.about]
    answers = [f"{own}: {text}" for text in right]
    if asked.why_not is not None:
        answers = [_NOT_ASKED[asked.why_not]]
    elif asked.choice is not None:
        chosen = lines[asked.choice].text
        answers = [f"Right: {chosen}"] if asked.is_right else [f"Wrong: {chosen}", *answers]
    return [AnswerRow(label="quiz", question=question, answers=answers)]


# By what a quiz is about: its question, and what precedes the right answer after a wrong one.
_QUIZZES = {
    "lines": ("Quiz: which of these did your chat partner say?", "It said"),
    "personas": ("Quiz: which of these describes your chat partner?", "It was"),
}
_NOT_ASKED = {
    "few_lines": "Not asked: other workers have been told too little.",
    "few_replies": "Not asked: no reply to ask about.",
    "few_personas": "Not asked: the study has too few personas unlike this one.",
    "no_persona": "Not asked: the chat partner has no persona.",
}


def _item(connection: Connection, conversation_id: str) -> ShownItemRow | None:
    """Return the item that was shown for a conversation; None if it was a chat."""
    query = (
        select(ShownItemTable.c.kind, ShownItemTable.c.twin_of, ItemTable.c.content, ItemEditTable.c.text)
        .join(ItemTable, ItemTable.c.id == ShownItemTable.c.item_id)
        .outerjoin(ItemEditTable, ItemEditTable.c.conversation_id == ShownItemTable.c.conversation_id)
        .where(ShownItemTable.c.conversation_id == conversation_id)
    )
    found = connection.execute(query).one_or_none()
    if found is None:
        return None
    content = ItemContent.model_validate_json(found.content)
    return ShownItemRow(kind=found.kind, twin_of=found.twin_of, content=content, edited_text=found.text)
