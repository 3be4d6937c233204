"""ParlAI's `conversations.jsonl`: episodes with a `dialog` of pairs of acts, each with `id` and `text`.

A file of ParlAI may have a `.metadata` file beside it. ParlAI reads a file without one, so none is written.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from qc.convert.exchange.content import ChatMessage, Content
from qc.convert.exchange.rows import Json, Reading, SourceRow, about, write_lines
from qc.convert.exchange.speakers import Said, transcript

HOLDS = frozenset({"workers", "ratings"})
_NAMES = ("id", "conversation_id")
_PERSON = "worker"  # the speaker if the worker is unknown


def holds(first: Json) -> bool:
    """Return whether a file that begins with this row is of the format."""
    return "dialog" in first


def read(rows: Sequence[SourceRow], reading: Reading) -> Content:
    """Return the conversations in `rows`."""
    found = []
    for row in rows:
        reading.name_columns(row, ("dialog", "model", "metadata_path", *_NAMES))
        said = list(_said(row, reading))
        found.append(transcript(row.where, reading.name(row, _NAMES), row.values.get("model"), said, reading))
    return Content(reading.title, transcripts=tuple(found))


def _said(row: SourceRow, reading: Reading) -> Iterator[Said]:
    """Yield speaker and text of each act. Acts stand in pairs, or, of `model_chat`, one after the other."""
    given = row.values.get("dialog")
    if not isinstance(given, list):
        reading.refuse(f"{row.where}.dialog", "is not a list of acts.")
        return
    for number, entry in enumerate(given):
        for act in entry if isinstance(entry, list) else [entry]:
            where = f"{row.where}.dialog[{number}]"
            if not isinstance(act, dict) or not act.get("id"):
                reading.refuse(where, "has an act without an id.")
            elif text := reading.text(where, act.get("text")):
                yield str(act["id"]), text


def write(content: Content, path: Path) -> None:
    """Write the conversations of `content`; the worker's pseudonym and the system are the speakers."""
    write_lines(
        path,
        (
            {
                "dialog": [
                    [
                        {
                            "id": one.system if said.author == "bot" else one.worker or _PERSON,
                            "text": said.text,
                        }
                        for said in pair
                    ]
                    for pair in _pairs(one.messages)
                ],
                "context": [],
                **about(one, content),
            }
            for one in content.conversations()
        ),
    )


def _pairs(messages: Sequence[ChatMessage]) -> list[list[ChatMessage]]:
    """Return the lines in exchanges, each of which a worker begins."""
    pairs: list[list[ChatMessage]] = []
    for message in messages:
        if message.author == "worker" or not pairs:
            pairs.append([])
        pairs[-1].append(message)
    return pairs
