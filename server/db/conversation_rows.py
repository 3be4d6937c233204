"""Read the stored conversations of one assignment."""

from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import Column, Connection, Select, bindparam, select
from sqlmodel import SQLModel

from server.db.models import Conversation, columns

CONVERSATION = columns(Conversation)


def of_assignment(table: type[SQLModel], order: Column[Any]) -> Select[Any]:
    """Return what reads the rows of `table` for `by_conversation`; those of a conversation come in `order`.

    It is to be built once: to build a statement anew takes longer than to run it.
    """
    conversation_id = columns(table).conversation_id
    return (
        select(table)
        .join(Conversation, CONVERSATION.id == conversation_id)
        .where(CONVERSATION.assignment_id == bindparam("assignment"))
        .order_by(conversation_id, order)
    )


def by_conversation(
    connection: Connection, statement: Select[Any], assignment_id: str
) -> dict[str, list[Any]]:
    """Return the rows that `statement` reads of an assignment, by the id of their conversation."""
    rows = connection.execute(statement, {"assignment": assignment_id})
    return {name: list(group) for name, group in groupby(rows, key=attrgetter("conversation_id"))}
