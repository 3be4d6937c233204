"""Items to be rated, as the server reads them for a study with `task: transcripts`."""

from collections.abc import Sequence
from pathlib import Path

from qc.convert.exchange.content import Content, SharedTranscript
from qc.convert.exchange.rows import Json, Reading, SourceRow, write_lines
from qc.convert.hits import Loss

HOLDS = frozenset[str]()
_COLUMNS = ("item", "system", "turns")


def holds(first: Json) -> bool:
    """Return whether a file that begins with this row is of the format; items that are texts are not."""
    return "item" in first and "turns" in first


def read(rows: Sequence[SourceRow], reading: Reading) -> Content:
    """Return the conversations in `rows`."""
    roles = {"worker": "user", "bot": "assistant"}
    found = []
    for row in rows:
        reading.name_columns(row, _COLUMNS)
        found.append(
            SharedTranscript(
                name=reading.name(row, ["item"]),
                system=reading.system(row.where, row.values.get("system")),
                messages=reading.messages(
                    f"{row.where}.turns", row.values.get("turns"), "author", "text", roles
                ),
            )
        )
    return Content(reading.title, transcripts=tuple(found))


def write(content: Content, path: Path) -> None:
    """Write the conversations of `content` that have a reply."""
    write_lines(path, (_item(one) for one in content.conversations() if _is_item(one)))


def losses(content: Content) -> list[Loss]:
    """Return the conversations in which there is nothing to be rated, and the mark that items do not have."""
    return [
        Loss(
            "conversations without a reply (left out)",
            sum(not _is_item(one) for one in content.conversations()),
        ),
        Loss("the mark that programs chatted", int(content.simulated)),
    ]


def _is_item(transcript: SharedTranscript) -> bool:
    return any(message.author == "bot" for message in transcript.messages)


def _item(transcript: SharedTranscript) -> Json:
    turns = [{"author": one.author, "text": one.text} for one in transcript.messages]
    return {"item": transcript.name, "system": transcript.system, "turns": turns}
