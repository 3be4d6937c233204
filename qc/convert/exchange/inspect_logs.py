"""Logs of Inspect (`.eval`): an archive with a header and a file for each sample, often packed by Zstandard.

Each sample becomes a row of the format `openai`. Python's `zipfile` unpacks Zstandard from 3.14 on only, so
such members are unpacked by Arrow.
"""

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from pydantic_core import from_json

from qc.errors import SourceError
from qc.formats.archive import DAMAGED, require_bounded_zip

_HEADER, _SAMPLES = "header.json", "samples/"
_ZSTANDARD = 93  # number of the method in ZIP
_LOCAL_HEADER = (
    30  # bytes before the name of a member; the lengths of name and extra field are in the last four
)
_ATTACHED = "attachment://"  # begins the name of a text that is kept beside the messages


def is_log(path: Path) -> bool:
    """Return whether the archive at `path` is a log of Inspect."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _HEADER in archive.namelist() and bool(_samples(archive))
    except (*DAMAGED, OSError, ValueError):
        return False


def samples(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of each sample's file, and the row that it becomes.

    Raises:
        SourceError: the log is damaged.
    """
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            require_bounded_zip(str(path), path.stat().st_size, archive.infolist())
            model = from_json(_member(archive, file, archive.getinfo(_HEADER)))["eval"]["model"]
            for info in _samples(archive):
                yield info.filename, _row(from_json(_member(archive, file, info)), model)
    except (*DAMAGED, OSError, ValueError, KeyError, TypeError) as error:
        raise SourceError(f"{path}: this log of Inspect is damaged ({error}). Get it again.") from None


def _samples(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    members = archive.infolist()
    return [
        info for info in members if info.filename.startswith(_SAMPLES) and info.filename.endswith(".json")
    ]


def _member(archive: zipfile.ZipFile, file: BinaryIO, info: zipfile.ZipInfo) -> bytes:
    """Return the content of a member."""
    if info.compress_type != _ZSTANDARD:
        return archive.read(info)
    import pyarrow as pa  # noqa: PLC0415  # importing it takes longer than reading most logs

    file.seek(info.header_offset)
    header = file.read(_LOCAL_HEADER)
    name, extra = (int.from_bytes(header[start : start + 2], "little") for start in (26, 28))
    file.seek(name + extra, 1)
    packed = pa.BufferReader(file.read(info.compress_size))
    with pa.CompressedInputStream(packed, "zstd") as content:
        return bytes(content.read(info.file_size))


def _row(sample: dict[str, Any], model: str) -> dict[str, Any]:
    """Return a sample as a row of `openai`; one that failed has its error, too."""
    attached = sample.get("attachments") or {}
    messages = [
        message
        | {
            "content": attached.get(
                str(message.get("content")).removeprefix(_ATTACHED), message.get("content")
            )
        }
        for message in sample["messages"]
    ]
    epoch = sample.get("epoch", 1)
    name = str(sample["id"]) if epoch == 1 else f"{sample['id']}, epoch {epoch}"
    row = {"id": name, "model": model, "messages": messages}
    return row | {"error": sample["error"]} if sample.get("error") else row
