"""ShareGPT: a list of `conversations` with `from` and `value`, as JSON Lines or one JSON list."""

from collections.abc import Sequence
from pathlib import Path

from qc.convert.exchange.content import Content, SharedTranscript
from qc.convert.exchange.rows import Json, Reading, SourceRow, about, write_lines

HOLDS = frozenset({"workers", "ratings"})
_NAMES = ("id", "conversation_id")
# Names of roles in files of this format, and OpenAI's.
_ROLES = {
    "human": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "function_call": "tool",
    "observation": "tool",
}


def holds(first: Json) -> bool:
    """Return whether a file that begins with this row is of the format."""
    return "conversations" in first


def read(rows: Sequence[SourceRow], reading: Reading) -> Content:
    """Return the conversations in `rows`."""
    found = []
    for row in rows:
        reading.name_columns(row, ("conversations", "model", *_NAMES))
        given = row.values.get("conversations")
        found.append(
            SharedTranscript(
                name=reading.name(row, _NAMES),
                system=reading.system(row.where, row.values.get("model")),
                messages=reading.messages(f"{row.where}.conversations", given, "from", "value", _ROLES),
            )
        )
    return Content(reading.title, transcripts=tuple(found))


def write(content: Content, path: Path) -> None:
    """Write the conversations of `content`, one a line."""
    names = {"worker": "human", "bot": "gpt"}
    write_lines(
        path,
        (
            {
                "conversations": [{"from": names[said.author], "value": said.text} for said in one.messages],
                **about(one, content),
            }
            for one in content.conversations()
        ),
    )
