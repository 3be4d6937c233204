"""ConvoKit's corpus: a folder with the utterances, and JSON for speakers, conversations and the corpus."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from qc.convert.exchange.content import Author, Content, SharedTranscript
from qc.convert.exchange.rows import (
    SIMULATED,
    UTTERANCES,
    Json,
    Reading,
    SourceRow,
    about,
    simulation,
    write_lines,
)
from qc.convert.exchange.speakers import Said, transcript

HOLDS = frozenset({"workers", "ratings"})
_ID, _CONVERSATION, _SPEAKER, _REPLY_TO = "id", "conversation_id", "speaker", "reply-to"
_OLDER = {_CONVERSATION: "root", _SPEAKER: "user"}  # names of columns before ConvoKit 2.3
_KNOWN = (_ID, _CONVERSATION, _SPEAKER, _REPLY_TO, "reply_to", *_OLDER.values(), "text", "timestamp", "meta")
_IS_SYSTEM = "is_system"  # metadata of utterances and speakers
_PERSON = "worker"  # the speaker if the worker is unknown


def holds(first: Json) -> bool:
    """Return whether a folder whose utterances begin with this row is of the format."""
    return any(name in first for name in (_CONVERSATION, "root")) and "text" in first


def read(rows: Sequence[SourceRow], reading: Reading) -> Content:
    """Return the conversations in the utterances `rows`, in the order of their first lines."""
    said: dict[str, list[Said]] = {}
    first: dict[str, str] = {}
    systems: dict[str, str] = {}
    for row in rows:
        reading.name_columns(row, (*_KNOWN, "vectors"))
        names = {name: row.values.get(name, row.values.get(older)) for name, older in _OLDER.items()}
        missing = [name for name, value in names.items() if value is None]
        if missing:
            reading.refuse(row.where, f"has no {' and no '.join(missing)}.")
            continue
        conversation, speaker = (str(value) for value in names.values())
        first.setdefault(conversation, row.where)
        meta = row.values.get("meta") or {}
        if not isinstance(meta, dict):
            reading.refuse(f"{row.where}.meta", "is not an object.")
            continue
        if meta.get(_IS_SYSTEM):
            systems[conversation] = speaker
        if meta.keys() - {_IS_SYSTEM, SIMULATED}:
            reading.unread["utterances with metadata, which is not read"] += 1
        if text := reading.text(f"{row.where}.text", row.values.get("text")):
            said.setdefault(conversation, []).append((speaker, text))
    found = [transcript(first[name], name, systems.get(name), lines, reading) for name, lines in said.items()]
    return Content(reading.title, transcripts=tuple(found))


def write(content: Content, folder: Path) -> None:
    """Write the conversations of `content` into an existing folder. Utterances have no times."""
    times = Counter(one.name for one in content.conversations())
    held = {
        one.name if times[one.name] == 1 else f"{one.name} {one.system}": one
        for one in content.conversations()
    }
    marked = simulation(content)
    write_lines(
        folder / UTTERANCES, (line for name, one in held.items() for line in _utterances(name, one, marked))
    )
    speakers = {
        _speaker(one, said.author): {_IS_SYSTEM: said.author == "bot"}
        for one in held.values()
        for said in one.messages
    }
    conversations = {name: about(one, content) for name, one in held.items()}
    corpus = {"name": content.name, **marked}
    files: dict[str, Json] = {
        "speakers.json": _components(speakers),
        "conversations.json": _components(conversations),
        "corpus.json": corpus,
        "index.json": {
            "utterances-index": _index([{_IS_SYSTEM: True, **marked}]),
            "speakers-index": _index(speakers.values()),
            "conversations-index": _index(conversations.values()),
            "overall-index": _index([corpus]),
            "version": 1,
            "vectors": [],
        },
    }
    for name, values in files.items():
        (folder / name).write_text(json.dumps(values, ensure_ascii=False), encoding="utf-8")


def _utterances(name: str, transcript: SharedTranscript, marked: Json) -> Iterator[Json]:
    """Yield the utterances of a conversation, which is called like its first one."""
    before = None
    for number, said in enumerate(transcript.messages):
        utterance = name if number == 0 else f"{name}/{number}"
        yield {
            _ID: utterance,
            _CONVERSATION: name,
            "text": said.text,
            _SPEAKER: _speaker(transcript, said.author),
            "meta": {_IS_SYSTEM: said.author == "bot", **marked},
            _REPLY_TO: before,
            "timestamp": None,
            "vectors": [],
        }
        before = utterance


def _speaker(transcript: SharedTranscript, author: Author) -> str:
    return transcript.system if author == "bot" else transcript.worker or _PERSON


def _components(metadata: Mapping[str, Json]) -> Json:
    return {name: {"meta": meta, "vectors": []} for name, meta in metadata.items()}


def _index(metadata: Iterable[Json]) -> dict[str, list[str]]:
    """Return the types of all fields of metadata, as ConvoKit names them."""
    types: dict[str, dict[str, None]] = {}
    for meta in metadata:
        for name, value in meta.items():
            types.setdefault(name, {})[str(type(value))] = None
    return {name: list(found) for name, found in types.items()}
