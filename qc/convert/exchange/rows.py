"""Rows of exchange files (JSON Lines, a JSON list, Parquet, a log of Inspect), and checks of their values."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from candor.common.files import read_file
from qc.convert.exchange import inspect_logs
from qc.convert.exchange.content import ChatMessage, Content, Naming, SharedTranscript
from qc.convert.hits import Loss
from qc.errors import DataError, Problem, SourceError, quoted
from qc.formats.archive import PARQUET, ZIP, require_bounded_parquet
from qc.names import clean

Json = dict[str, Any]
UTTERANCES = "utterances.jsonl"
SIMULATED = "simulated"  # marks rows that programs made in place of people
_ROWS_AT_ONCE = 1_000
_LONGEST_LINE = 16 * 1024**2  # a longer first line is of no exchange format
_REPAIR = "Correct the line or take it out."
_ROLES = {"user": "worker", "assistant": "bot"}
_UNSEEN = {
    "system": "system prompts",
    "developer": "system prompts",
    "tool": "messages of tools",
    "function": "messages of tools",
}


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A row of a file, with its place in messages to the user."""

    where: str
    values: Json


def first_row(path: Path) -> Json | None:
    """Return the first row of a file or folder; None if it has no rows of an exchange format.

    Raises:
        SourceError: a folder has no file with rows.
    """
    file = next(iter(_files(path)), None)
    if file is None:
        return None
    with file.open("rb") as opened:
        if opened.peek(4).startswith(PARQUET):
            return next((row.values for row in _parquet(file)), None)
        if opened.peek(4).startswith(ZIP):
            return (
                next((values for _, values in inspect_logs.samples(file)), None)
                if inspect_logs.is_log(file)
                else None
            )
        line = opened.readline(_LONGEST_LINE)
        if line.lstrip().startswith(b"["):
            return next((row.values for row in _list(file)), None)
    try:
        given = from_json(line)
    except ValueError:
        return None
    return given if isinstance(given, dict) else None


def rows(path: Path) -> list[SourceRow]:
    """Return all rows of a file or folder that has a `first_row`.

    Raises:
        SourceError: the file is damaged, or too large.
        DataError: a line is not a JSON object.
    """
    files = _files(path)
    if len(files) == 1:
        return _rows(files[0])
    return [SourceRow(f"{file.name}, {row.where}", row.values) for file in files for row in _rows(file)]


def _rows(file: Path) -> list[SourceRow]:
    try:
        content = read_file(file)
    except OSError as error:
        raise SourceError(f"{file}: the file cannot be read ({error}). Check the path.") from None
    if content.startswith(PARQUET):
        return list(_parquet(file))
    if content.startswith(ZIP):
        return [SourceRow(name, values) for name, values in inspect_logs.samples(file)]
    if content.lstrip().startswith(b"["):
        return list(_list(file))
    found: list[SourceRow] = []
    problems: list[Problem] = []
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        where = f"line {number}"
        try:
            given = from_json(line)
        except ValueError as error:
            problems.append(Problem(where, f"is not JSON ({error}).", _REPAIR))
            continue
        if isinstance(given, dict):
            found.append(SourceRow(where, given))
        else:
            problems.append(Problem(where, "is not a JSON object.", _REPAIR))
    if problems:
        raise DataError(str(file), problems)
    return found


def _files(path: Path) -> list[Path]:
    """Return the files with the rows: `path`, or those in the folder of a corpus or data set.

    Raises:
        SourceError: the folder has none.
    """
    if not path.is_dir():
        return [path] if path.is_file() else []
    if (path / UTTERANCES).is_file():
        return [path / UTTERANCES]
    found = sorted(path.rglob("*.parquet"))
    if not found:
        raise SourceError(f"{path}: the folder has neither {UTTERANCES} nor Parquet files. Check the path.")
    return found


def _parquet(file: Path) -> Iterator[SourceRow]:
    import pyarrow as pa  # noqa: PLC0415  # importing it takes longer than reading most files
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        with file.open("rb") as opened:
            require_bounded_parquet(str(file), file.stat().st_size, opened)
            opened.seek(0)
            number = 0
            for batch in pq.ParquetFile(opened).iter_batches(_ROWS_AT_ONCE):
                for values in batch.to_pylist():
                    number += 1
                    known = {name: value for name, value in values.items() if value is not None}
                    yield SourceRow(f"row {number}", known)
    except (pa.ArrowException, OSError) as error:
        raise SourceError(f"{file}: this Parquet file is damaged ({error}). Get it again.") from None


def _list(file: Path) -> Iterator[SourceRow]:
    try:
        given = from_json(read_file(file))
    except ValueError as error:
        raise SourceError(f"{file}: this JSON is damaged ({error}). Get the file again.") from None
    except OSError as error:
        raise SourceError(f"{file}: the file cannot be read ({error}). Check the path.") from None
    for number, values in enumerate(given, start=1):
        if not isinstance(values, dict):
            raise DataError(str(file), [Problem(f"entry {number}", "is not a JSON object.", _REPAIR)])
        yield SourceRow(f"entry {number}", values)


@dataclass
class Reading:
    """State of reading one source: the mistakes in it, and what no transcript holds.

    Attributes:
        source: the path, for messages.
        naming: names that the source may lack.
        problems: mistakes found so far.
        unread: number of each thing that is left out.
    """

    source: str
    naming: Naming
    problems: list[Problem] = field(default_factory=list)
    unread: Counter[str] = field(default_factory=Counter)

    @property
    def title(self) -> str:
        """Name of the source, without its folder."""
        return Path(self.source).stem

    def refuse(self, where: str, reason: str, remedy: str = _REPAIR) -> None:
        """Note a mistake."""
        self.problems.append(Problem(where, reason, remedy))

    def name_columns(self, row: SourceRow, known: Iterable[str]) -> None:
        """Note the columns of a row that are not `known`, as left out."""
        for name in row.values.keys() - {*known, SIMULATED}:
            if row.values[name] not in (None, "", [], {}):
                self.unread[f"column {quoted(name)}, which is not read"] += 1

    def name(self, row: SourceRow, columns: Iterable[str]) -> str:
        """Return the row's name from the first of `columns` that it has, else its place."""
        return next((clean(str(row.values[each])) for each in columns if row.values.get(each)), row.where)

    def system(self, where: str, given: object) -> str:
        """Return the name of a system, without spaces; note a mistake if there is none."""
        name = clean(str(given or self.naming.system or "")).replace(" ", "_")
        if not name:
            self.refuse(where, "does not say which system it is of.", "Name the system with --system NAME.")
        return name

    def messages(
        self,
        where: str,
        given: object,
        role: str = "role",
        text: str = "content",
        roles: Mapping[str, str] | None = None,
    ) -> tuple[ChatMessage, ...]:
        """Return the lines of a conversation, without system prompts, tools and empty ones.

        Args:
            where: its place.
            given: a list of objects, or the same as JSON.
            role, text: names of their fields.
            roles: other names of roles, and what they stand for among OpenAI's.
        """
        if isinstance(given, str):
            try:
                given = from_json(given)
            except ValueError:
                given = None
        if not isinstance(given, list):
            self.refuse(where, "is not a list of messages.")
            return ()
        found: list[ChatMessage] = []
        for number, one in enumerate(given):
            place = f"{where}[{number}]"
            if not isinstance(one, dict):
                self.refuse(place, "is not an object.")
                continue
            named = str(one.get(role))
            standard = (roles or {}).get(named, named)
            if standard in _UNSEEN:
                self.unread[f"{_UNSEEN[standard]}, which raters do not see"] += 1
            elif standard not in _ROLES:
                known = ", ".join(dict.fromkeys([*(roles or {}), *_ROLES, *_UNSEEN]))
                self.refuse(f"{place}.{role}", f"{quoted(named)} is none of {known}.")
            elif content := self.text(f"{place}.{text}", one.get(text)):
                found.append(ChatMessage("worker" if standard == "user" else "bot", content))
        return tuple(found)

    def text(self, where: str, given: object) -> str:
        """Return a text, or the texts of a list of parts; other parts are noted as left out."""
        if given is None or isinstance(given, str):
            text = given or ""
        elif isinstance(given, list) and all(isinstance(part, dict) for part in given):
            texts = [part["text"] for part in given if isinstance(part.get("text"), str)]
            if count := len(given) - len(texts):
                self.unread["parts of messages that are no text"] += count
            text = "\n".join(texts)
        else:
            self.refuse(where, f"{quoted(given)} is neither a text nor a list of parts.")
            return ""
        if not text.strip():
            self.unread["messages without a text"] += 1
        return text.strip()

    def checked(self, found: Content, simulated: bool) -> Content:
        """Return `found` with what was left out of it, and whether programs made it.

        Raises:
            DataError: there are mistakes, or a system has two conversations of one name.
        """
        seen: set[tuple[str, str]] = set()
        for one in found.conversations():
            if (one.name, one.system) in seen:
                reason = f"{quoted(one.system)} has two of this name."
                self.refuse(f"the conversation {quoted(one.name)}", reason, "Give each a name of its own.")
            seen.add((one.name, one.system))
        if not self.problems and not seen:
            self.refuse("the file", "has no conversation in it.", "Check the path and the format.")
        if self.problems:
            raise DataError(self.source, self.problems)
        lost = (*found.lost, *(Loss(what, count) for what, count in sorted(self.unread.items())))
        return replace(found, lost=lost, simulated=simulated)


def openai_messages(transcript: Iterable[ChatMessage]) -> list[Json]:
    """Return lines as OpenAI's messages."""
    roles = {author: role for role, author in _ROLES.items()}
    return [{"role": roles[one.author], "content": one.text} for one in transcript]


def about(transcript: SharedTranscript, content: Content) -> Json:
    """Return what formats of one object for each conversation say of it beside its lines."""
    known = {"id": transcript.name, "model": transcript.system, "worker": transcript.worker}
    told: Json = {name: value for name, value in known.items() if value is not None}
    if transcript.ratings:
        told["ratings"] = dict(transcript.ratings)
    return told | simulation(content)


def is_simulated(row: SourceRow) -> bool:
    """Return whether a row, or the metadata of an utterance, has the mark of `simulation`."""
    meta = row.values.get("meta")
    marked = row.values.get(SIMULATED), meta.get(SIMULATED) if isinstance(meta, dict) else None
    return True in marked


def simulation(content: Content) -> Json:
    """Return the mark of rows that programs made in place of people."""
    return {SIMULATED: True} if content.simulated else {}


def write_lines(path: Path, found: Iterable[Json]) -> None:
    """Write rows as JSON Lines."""
    with path.open("wb") as file:
        for row in found:
            file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
