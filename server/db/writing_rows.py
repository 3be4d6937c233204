"""Convert records of how messages were written to database rows."""

from server.db.bulk import Bulk, Kind, Row
from server.session.records import WritingKept
from server.session.writing import Writing

_NUMBERS = tuple(Writing.model_fields)
WRITING = Bulk(
    "INSERT INTO writing ({columns}) SELECT {columns} FROM {rows} AS given",
    conversation_id=Kind.TEXT,
    turn_index=Kind.NUMBER,
    **dict.fromkeys(_NUMBERS, Kind.NUMBER),
)


def writing_row(record: WritingKept) -> Row:
    """Return the row of `WRITING`."""
    return (record.conversation, record.index, *(getattr(record.writing, name) for name in _NUMBERS))
