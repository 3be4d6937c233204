"""OpenAI's `messages`: a JSON object for each conversation, with roles and contents.

Beside `messages` a line may have `id`, `model`, `worker` and `ratings`; readers of the format ignore them.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from qc.convert.exchange.content import Content, SharedTranscript
from qc.convert.exchange.rows import Json, Reading, SourceRow, about, openai_messages, write_lines

HOLDS = frozenset({"workers", "ratings"})
_NAMES = ("id", "conversation_id")


def holds(first: Json) -> bool:
    """Return whether a file that begins with this row is of the format."""
    return "messages" in first


def read(rows: Sequence[SourceRow], reading: Reading) -> Content:
    """Return the conversations in `rows`."""
    found = []
    for row in rows:
        reading.name_columns(row, ("messages", "model", *_NAMES))
        found.append(
            SharedTranscript(
                name=reading.name(row, _NAMES),
                system=reading.system(row.where, row.values.get("model")),
                messages=reading.messages(f"{row.where}.messages", row.values.get("messages")),
            )
        )
    return Content(reading.title, transcripts=tuple(found))


def write(content: Content, path: Path) -> None:
    """Write the conversations of `content`."""
    write_lines(path, lines(content))


def lines(content: Content) -> Iterator[Json]:
    """Yield a row for each conversation of `content`."""
    for one in content.conversations():
        yield {"messages": openai_messages(one.messages), **about(one, content)}
