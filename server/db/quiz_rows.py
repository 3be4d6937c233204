"""The quizzes after conversations as rows of the database, there and back, and what they are made of."""

import random

from sqlalchemy import Connection, select

from server.db.bulk import Bulk, Kind, Row
from server.db.conversation_rows import by_conversation, of_assignment
from server.db.models import Assignment, Conversation, Quiz, System, columns
from server.db.models import QuizLine as QuizLineRow
from server.db.shown_lines import shown_lines
from server.session.records import QuizAnswered, QuizAsked, QuizLine, QuizNotAsked

ASSIGNMENT = columns(Assignment)
CONVERSATION = columns(Conversation)
LINE = columns(QuizLineRow)
QUIZ = columns(Quiz)
SYSTEM = columns(System)

ASKED = Bulk(
    "INSERT INTO quiz ({columns}) SELECT {columns} FROM {rows} AS given",
    conversation_id=Kind.TEXT,
    why_not=Kind.TEXT,
    asked_at=Kind.TIME,
)
LINES = Bulk(
    "INSERT INTO quiz_line ({columns}) SELECT {columns} FROM {rows} AS given",
    conversation_id=Kind.TEXT,
    choice=Kind.NUMBER,
    text=Kind.TEXT,
    said_in_id=Kind.TEXT,
    turn_index=Kind.NUMBER,
)
ANSWERED = Bulk(
    """
    UPDATE quiz SET choice = given.choice, is_right = given.is_right = 1, answered_at = given.at,
                    client_id = given.client_id
    FROM {rows} AS given WHERE quiz.conversation_id = given.conversation_id""",
    conversation_id=Kind.TEXT,
    choice=Kind.NUMBER,
    is_right=Kind.NUMBER,
    at=Kind.TIME,
    client_id=Kind.TEXT,
)
_MOST_CONVERSATIONS = 200  # the latest; of these so many are drawn:
_DRAWN = 25


def quiz_rows(record: QuizAsked | QuizNotAsked | QuizAnswered) -> list[tuple[Bulk, Row]]:
    """Return the rows of a record, each with its statement."""
    name = record.conversation
    match record:
        case QuizAsked():
            lines = enumerate(record.lines, start=1)
            rows = [(LINES, (name, choice, *line)) for choice, line in lines]
            return [(ASKED, (name, None, record.at)), *rows]
        case QuizNotAsked():
            return [(ASKED, (name, record.why, record.at))]
        case QuizAnswered():
            answer = (name, record.choice, int(record.is_right), record.at, record.client_id)
            return [(ANSWERED, answer)]


def quizzes(connection: Connection, assignment_id: str) -> dict[str, list[QuizAsked | QuizAnswered]]:
    """Return what was asked about the conversations of an assignment and answered, by the conversation."""
    lines = {
        name: tuple(QuizLine(line.text, line.said_in_id, line.turn_index) for line in shown)
        for name, shown in by_conversation(connection, _SHOWN, assignment_id).items()
    }
    found: dict[str, list[QuizAsked | QuizAnswered]] = {}
    if not lines:
        return found
    for name, (row,) in by_conversation(connection, _QUIZZES, assignment_id).items():
        if name not in lines:
            continue
        found[name] = [QuizAsked(name, lines[name], row.asked_at)]
        if row.choice is not None:
            answered = QuizAnswered(name, row.choice, row.is_right, row.answered_at, row.client_id)
            found[name].append(answered)
    return found


_SHOWN = of_assignment(QuizLineRow, LINE.choice)
_QUIZZES = of_assignment(Quiz, QUIZ.asked_at)


def lines_of_others(connection: Connection, conversation: str, seed: int) -> tuple[QuizLine, ...]:
    """Return what chatbots said to other workers of a run, to stand beside what one said in `conversation`.

    For a conversation with the qc bot its own lines, for others those of the systems; simulated workers read
    what was said to simulated workers. A line by which a bot said what it is, is left out.
    They come from 25 of the latest 200 conversations, drawn by `seed`.
    """
    about = connection.execute(
        select(
            ASSIGNMENT.run_id,
            ASSIGNMENT.worker_id,
            ASSIGNMENT.simulated,
            SYSTEM.is_qc,
        )
        .join(Conversation, CONVERSATION.assignment_id == ASSIGNMENT.id)
        .join(System, SYSTEM.id == CONVERSATION.system_id)
        .where(CONVERSATION.id == conversation)
    ).one()
    latest = (
        select(CONVERSATION.id)
        .join(Assignment, ASSIGNMENT.id == CONVERSATION.assignment_id)
        .join(System, SYSTEM.id == CONVERSATION.system_id)
        .where(
            ASSIGNMENT.run_id == about.run_id,
            ASSIGNMENT.worker_id != about.worker_id,
            ASSIGNMENT.simulated.is_(about.simulated),
            SYSTEM.is_qc.is_(about.is_qc),
            CONVERSATION.started_at.is_not(None),
        )
        .order_by(CONVERSATION.started_at.desc(), CONVERSATION.id)
        .limit(_MOST_CONVERSATIONS)
    )
    names = list(connection.execute(latest).scalars())
    drawn = random.Random(seed).sample(names, min(_DRAWN, len(names)))
    return tuple(QuizLine(line.text, line.conversation, line.turn) for line in shown_lines(connection, drawn))
