"""Convert quizzes after conversations to rows and back, and find the lines of chatbots that they show."""

import random
from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import Connection, select

from server.db.bulk import Bulk, Kind, RowFor
from server.db.sessions.answers import by_conversation, of_assignment
from server.db.tables import (
    AssignmentTable,
    ConversationTable,
    NoteTable,
    QuizLineTable,
    QuizTable,
    SystemTable,
    TurnTable,
)
from server.session.records import QuizAnswered, QuizAsked, QuizLine, QuizNotAsked


class ShownLine(NamedTuple):
    """A line of a bot, with its conversation and turn."""

    conversation: str
    turn: int
    text: str


def shown_lines(
    connection: Connection, conversations: Collection[str], most: int | None = None
) -> list[ShownLine]:
    """Return bots' lines in conversations, by conversation and turn, without lines that revealed a bot.

    `most`: the most lines to read.
    """
    said = (
        select(TurnTable.c.conversation_id, TurnTable.c.turn_index, TurnTable.c.text)
        .where(TurnTable.c.conversation_id.in_(conversations), TurnTable.c.author == "bot")
        .order_by(TurnTable.c.conversation_id, TurnTable.c.turn_index)
        .limit(most)
    )
    telling = select(NoteTable.c.conversation_id, NoteTable.c.text).where(
        NoteTable.c.conversation_id.in_(conversations), NoteTable.c.kind == "gave_itself_away"
    )
    gave_away = [tuple(row) for row in connection.execute(telling)]
    return [
        ShownLine(conversation, turn, text)
        for conversation, turn, text in connection.execute(said)
        if not any(conversation == where and words in text for where, words in gave_away)
    ]


ASKED = Bulk(
    "INSERT INTO quiz ({columns}) SELECT {columns} FROM {rows} AS given",
    conversation_id=Kind.TEXT,
    about=Kind.TEXT,
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
_MOST_CONVERSATIONS = 200  # the latest, of which `_DRAWN` are drawn
_DRAWN = 25


def quiz_rows(record: QuizAsked | QuizNotAsked | QuizAnswered) -> list[RowFor]:
    """Return the rows of a record, each with its statement."""
    name = record.conversation
    match record:
        case QuizAsked():
            lines = [
                LINES.row(
                    conversation_id=name,
                    choice=choice,
                    text=line.text,
                    said_in_id=line.said_in,
                    turn_index=line.turn,
                )
                for choice, line in enumerate(record.lines, start=1)
            ]
            return [_asked(record, None), *lines]
        case QuizNotAsked():
            return [_asked(record, record.why)]
        case QuizAnswered():
            answer = ANSWERED.row(
                conversation_id=name,
                choice=record.choice,
                is_right=int(record.is_right),
                at=record.at,
                client_id=record.client_id,
            )
            return [answer]


def _asked(record: QuizAsked | QuizNotAsked, why_not: str | None) -> RowFor:
    return ASKED.row(
        conversation_id=record.conversation, about=record.about, why_not=why_not, asked_at=record.at
    )


def quizzes(connection: Connection, assignment_id: str) -> dict[str, list[QuizAsked | QuizAnswered]]:
    """Return the quizzes of an assignment and their answers, by conversation."""
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
        found[name] = [QuizAsked(name, lines[name], row.asked_at, row.about)]
        if row.choice is not None:
            answered = QuizAnswered(name, row.choice, row.is_right, row.answered_at, row.client_id)
            found[name].append(answered)
    return found


_SHOWN = of_assignment(QuizLineTable, QuizLineTable.c.choice)
_QUIZZES = of_assignment(QuizTable, QuizTable.c.asked_at)


def lines_of_others(connection: Connection, conversation: str, seed: int) -> tuple[QuizLine, ...]:
    """Return chatbots' lines to other workers of a run, to be shown beside one of `conversation` in a quiz.

    For a conversation with the QC bot these are its own lines, for others those of the systems; simulated
    workers get lines from simulated workers' conversations. Lines that revealed a bot are left out.
    They come from 25 of the latest 200 conversations, drawn by `seed`.
    """
    about = connection.execute(
        select(
            AssignmentTable.c.run_id,
            AssignmentTable.c.worker_id,
            AssignmentTable.c.simulated,
            SystemTable.c.is_qc,
        )
        .join(ConversationTable, ConversationTable.c.assignment_id == AssignmentTable.c.id)
        .join(SystemTable, SystemTable.c.id == ConversationTable.c.system_id)
        .where(ConversationTable.c.id == conversation)
    ).one()
    latest = (
        select(ConversationTable.c.id)
        .join(AssignmentTable, AssignmentTable.c.id == ConversationTable.c.assignment_id)
        .join(SystemTable, SystemTable.c.id == ConversationTable.c.system_id)
        .where(
            AssignmentTable.c.run_id == about.run_id,
            AssignmentTable.c.worker_id != about.worker_id,
            AssignmentTable.c.simulated.is_(about.simulated),
            SystemTable.c.is_qc.is_(about.is_qc),
            ConversationTable.c.started_at.is_not(None),
        )
        .order_by(ConversationTable.c.started_at.desc(), ConversationTable.c.id)
        .limit(_MOST_CONVERSATIONS)
    )
    names = list(connection.execute(latest).scalars())
    drawn = random.Random(seed).sample(names, min(_DRAWN, len(names)))
    return tuple(QuizLine(line.text, line.conversation, line.turn) for line in shown_lines(connection, drawn))
