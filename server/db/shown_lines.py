"""Read lines of systems that may be shown to others, without any that gives a system away."""

from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import Connection, select

from server.db.models import Note, Turn, columns

NOTE = columns(Note)
TURN = columns(Turn)


class ShownLine(NamedTuple):
    """A line of a bot: what it said as turn `turn` of which conversation."""

    conversation: str
    turn: int
    text: str


def shown_lines(
    connection: Connection, conversations: Collection[str], most: int | None = None
) -> list[ShownLine]:
    """Return what bots said in conversations, by conversation and turn; not what gave one of them away.

    `most`: so many lines are looked at.
    """
    said = (
        select(TURN.conversation_id, TURN.turn_index, TURN.text)
        .where(TURN.conversation_id.in_(conversations), TURN.author == "bot")
        .order_by(TURN.conversation_id, TURN.turn_index)
        .limit(most)
    )
    telling = select(NOTE.conversation_id, NOTE.text).where(
        NOTE.conversation_id.in_(conversations), NOTE.kind == "gave_itself_away"
    )
    gave_away = [tuple(row) for row in connection.execute(telling)]
    return [
        ShownLine(conversation, turn, text)
        for conversation, turn, text in connection.execute(said)
        if not any(conversation == where and words in text for where, words in gave_away)
    ]
