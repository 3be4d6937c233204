"""Everything about one assignment: who said what, which topics, which ratings, what went wrong."""

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from sqlalchemy import ColumnElement, Connection, select

from server.db.message_reports import reports_of
from server.db.models import (
    PERSONA_SEPARATOR,
    Answer,
    Assignment,
    Choice,
    Conversation,
    Criterion,
    Item,
    ItemEdit,
    ModeratedLine,
    Note,
    Quiz,
    QuizLine,
    Rating,
    Run,
    ShownItem,
    System,
    TopicMark,
    Turn,
    TurnRating,
    Worker,
    Writing,
    columns,
)
from server.db.models import Study as StoredStudy
from server.desk.transcript_responses import (
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
)
from server.desk.writing import writing
from server.errors import AssignmentNotFound
from server.session.comparison import number_on_page
from server.session.item import ItemContent
from server.session.questionnaire import AskedQuestion, Part, rating_to_point
from server.study import Study, parse_study

ANSWER = columns(Answer)
ASSIGNMENT = columns(Assignment)
CHOICE = columns(Choice)
CONVERSATION = columns(Conversation)
CRITERION = columns(Criterion)
ITEM = columns(Item)
ITEM_EDIT = columns(ItemEdit)
MODERATED = columns(ModeratedLine)
NOTE = columns(Note)
QUIZ = columns(Quiz)
QUIZ_LINE = columns(QuizLine)
RATING = columns(Rating)
RUN = columns(Run)
SHOWN_ITEM = columns(ShownItem)
STUDY = columns(StoredStudy)
SYSTEM = columns(System)
TOPIC_MARK = columns(TopicMark)
TURN = columns(Turn)
TURN_RATING = columns(TurnRating)
WORKER = columns(Worker)
WRITING = columns(Writing)


def transcript(connection: Connection, assignment_id: str) -> AssignmentDetail:
    """Return everything about one assignment. Raises AssignmentNotFound."""
    assignment = _assignment(connection, assignment_id)
    study = _study(connection, assignment.run_id)

    def answered(part: Part) -> list[AnswerRow]:
        given = ANSWER.assignment_id == assignment_id, ANSWER.part == part
        return _answers(connection, study.asked.of(part), *given)

    query = (
        select(Conversation, SYSTEM.name.label("system"), SYSTEM.family, SYSTEM.is_qc)
        .join(System, SYSTEM.id == CONVERSATION.system_id)
        .where(CONVERSATION.assignment_id == assignment_id)
        .order_by(CONVERSATION.position, CONVERSATION.attempt)
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
        select(Assignment, WORKER.pseudonym)
        .join(Worker, WORKER.id == ASSIGNMENT.worker_id)
        .where(ASSIGNMENT.id == assignment_id)
    )
    found = connection.execute(query).one_or_none()
    if found is None:
        raise AssignmentNotFound(f"there is no assignment `{assignment_id}`")
    return found


def _study(connection: Connection, run_id: int) -> Study:
    query = select(STUDY.yaml).join(Run, RUN.study_id == STUDY.id).where(RUN.id == run_id)
    return parse_study(connection.execute(query).scalar_one())


def _conversation(connection: Connection, row: Any, study: Study) -> ConversationDetail:
    def of_this(table: Any, of: Any, order: Any) -> list[Any]:
        query = select(table).where(of.conversation_id == row.id).order_by(order)
        return list(connection.execute(query))

    ratings = (
        select(RATING.criterion, CRITERION.statement, RATING.value)
        .join(Criterion, CRITERION.label == RATING.criterion)
        .join(System, SYSTEM.study_id == CRITERION.study_id)
        .where(RATING.conversation_id == row.id, SYSTEM.id == row.system_id)
        .order_by(CRITERION.position)
    )
    lines = select(TURN.turn_index, TURN.author, TURN.text, TURN.created_at, TURN.latency_ms)
    given = of_this(TurnRating, TURN_RATING, TURN_RATING.id)
    points = _points(given, study)
    pasted = {one.turn_index: one.pasted for one in of_this(Writing, WRITING, WRITING.turn_index)}
    moderated = {one.turn_index: one for one in of_this(ModeratedLine, MODERATED, MODERATED.turn_index)}
    noted = of_this(Note, NOTE, NOTE.id)
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
        item=_item(connection, row.id),
        topic_marks=[
            TopicRow.model_validate(mark, from_attributes=True)
            for mark in of_this(TopicMark, TOPIC_MARK, TOPIC_MARK.ordinal)
        ],
        turns=[
            TurnRow(
                **turn._mapping,
                rating=points.get(turn.turn_index),
                pasted=pasted.get(turn.turn_index),
                flags=_flags(turn, moderated, noted),
            )
            for turn in connection.execute(
                lines.where(TURN.conversation_id == row.id).order_by(TURN.turn_index)
            )
        ],
        ratings=[RatingRow(**row) for row in connection.execute(ratings).mappings()],
        answers=[
            *_answers(connection, study.asked.of("conversation"), ANSWER.conversation_id == row.id),
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
            for choice in of_this(Choice, CHOICE, CHOICE.turn_index)
        ],
    )


def _flags(turn: Any, moderated: Mapping[int, Any], noted: Iterable[Any]) -> list[FlagRow]:
    """Return by what a line is flagged. Words are noted in the moment in which their line is stored."""
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
    """Return how replies were rated, by the line. Of several ratings of a line the last one counts."""
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
    connection: Connection, asked: Iterable[AskedQuestion], *given: ColumnElement[bool]
) -> list[AnswerRow]:
    """Return what was answered to the questions `asked`, in their order, without those left unanswered."""
    query = select(ANSWER.label, ANSWER.text, ANSWER.number).where(*given).order_by(ANSWER.label, ANSWER.id)
    answers = {label: list(rows) for label, rows in groupby(connection.execute(query), lambda row: row.label)}
    return [
        AnswerRow(
            label=question.label,
            question=question.question,
            answers=[_in_words(row, question) for row in answers[question.label]],
        )
        for question in asked
        if question.label in answers
    ]


def _quiz(connection: Connection, conversation_id: str) -> list[AnswerRow]:
    """Return what became of the quiz about a conversation, as an answer; nothing where there was none."""
    asked = connection.execute(select(Quiz).where(QUIZ.conversation_id == conversation_id)).one_or_none()
    if asked is None:
        return []
    shown = select(QuizLine).where(QUIZ_LINE.conversation_id == conversation_id)
    lines = {line.choice: line for line in connection.execute(shown)}
    right = [line.text for line in lines.values() if line.said_in_id == conversation_id]
    answers = [f"It said: {text}" for text in right]
    if asked.why_not is not None:
        answers = [_NOT_ASKED[asked.why_not]]
    elif asked.choice is not None:
        chosen = lines[asked.choice].text
        answers = [f"Right: {chosen}"] if asked.is_right else [f"Wrong: {chosen}", *answers]
    question = "Quiz: which of these did your chat partner say?"
    return [AnswerRow(label="quiz", question=question, answers=answers)]


_NOT_ASKED = {
    "few_lines": "Not asked: other workers have been told too little.",
    "few_replies": "Not asked: no reply to ask about.",
}


def _in_words(answer: Any, question: AskedQuestion) -> str:
    if answer.number is None:
        return str(answer.text)
    most = question.points if question.kind == "likert" else 100 if question.kind == "slider" else None
    return f"{answer.number:g}" if most is None else f"{answer.number:g} of {most}"


def _item(connection: Connection, conversation_id: str) -> ShownItemRow | None:
    """Return what was read at a position of an assignment; None where it was a chat."""
    query = (
        select(SHOWN_ITEM.kind, SHOWN_ITEM.twin_of, ITEM.content, ITEM_EDIT.text)
        .join(Item, ITEM.id == SHOWN_ITEM.item_id)
        .outerjoin(ItemEdit, ITEM_EDIT.conversation_id == SHOWN_ITEM.conversation_id)
        .where(SHOWN_ITEM.conversation_id == conversation_id)
    )
    found = connection.execute(query).one_or_none()
    if found is None:
        return None
    content = ItemContent.model_validate_json(found.content)
    return ShownItemRow(kind=found.kind, twin_of=found.twin_of, content=content, edited_text=found.text)
