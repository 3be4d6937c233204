"""Find out what a source is, and read the run in it."""

import codecs
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from qc.errors import OptionError, SourceError
from qc.load import hits, jsonl, mturk
from qc.run import Run

__all__ = ["is_database", "load"]

SQLITE_MAGIC = b"SQLite format 3\x00"
PARQUET_MAGIC = b"PAR1"


@dataclass(frozen=True)
class _Wanted:
    """What is asked of a source; attributes as the arguments of `load`."""

    run: str | None
    include_partial: bool
    words: bool
    replies: bool
    criteria: pd.DataFrame | None


def load(
    source: str,
    run: str | None = None,
    include_partial: bool = False,
    words: bool = True,
    replies: bool = True,
    criteria: Path | None = None,
) -> Run:
    """Return the run that `source` holds.

    Args:
        source: path of a hits_data.json, of an MTurk batch CSV, of our own export (JSON Lines or Parquet)
            or of an SQLite database, or a database URL. What a file is, is told by its content.
        run: slug or id of a run; only a database can hold several.
        include_partial: whether assignments that were not completed take part; files hold only
            completed ones.
        words: whether what was said is wanted; `Run.words` is None without it.
        replies: whether what the bots said is wanted; a large Parquet file is read much faster without.
        criteria: file that says which criteria are analysed, and how; None for what the source declares.

    Raises:
        QcError: of the kinds that the loaders name; SourceError if there is no such file, or it is of no
            kind that we read; OptionError if `run` is given for a file, which holds one run.
    """
    declared = _declared(criteria) if criteria else None
    wanted = _Wanted(run, include_partial, words, replies, declared)
    if "://" in source:
        return _from_database(source, wanted)
    path = Path(source)
    beginning = _beginning(path)
    if beginning.startswith(SQLITE_MAGIC):
        return _from_database(path, wanted)
    if run is not None:
        raise OptionError(
            f"--run chooses a run of a database, but {path} is a file with one run. Leave it out."
        )
    if beginning.startswith(PARQUET_MAGIC):
        return _from_parquet(path, wanted)
    with _uncollected():
        return _from_text(path, wanted)


def _declared(criteria: Path) -> pd.DataFrame:
    from qc.load import criteria_file  # noqa: PLC0415  # rarely needed, and it brings a YAML parser

    return criteria_file.read(criteria)


def is_database(source: str) -> bool:
    """Return whether `source` is a database, which may hold several runs.

    Raises:
        SourceError: there is no such file.
    """
    return "://" in source or _beginning(Path(source)).startswith(SQLITE_MAGIC)


def _from_database(source: str | Path, wanted: _Wanted) -> Run:
    from qc.load import database  # noqa: PLC0415  # SQLAlchemy takes longer to start than most files to read

    asked = wanted.run, wanted.include_partial, wanted.words, wanted.criteria
    return database.read(source, *asked) if isinstance(source, str) else database.read_file(source, *asked)


def _from_parquet(path: Path, wanted: _Wanted) -> Run:
    from qc.load import parquet  # noqa: PLC0415  # likewise

    return parquet.read(path, words=wanted.words, replies=wanted.replies, criteria=wanted.criteria)


def _from_text(path: Path, wanted: _Wanted) -> Run:
    content = _content(path)
    if jsonl.holds(content):
        return jsonl.read(path, content, wanted.words, wanted.criteria)
    read = hits.read if _looks_like_json(path, content) else mturk.read
    return read(path, content, wanted.words, wanted.criteria)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the garbage collector from searching, again and again, the many objects that a text becomes."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _beginning(path: Path) -> bytes:
    if path.is_dir():
        raise SourceError(
            f"{path}: this is a directory. Name the file in it, for example {path / 'hits_data.json'}."
        )
    try:
        with path.open("rb") as file:
            return file.read(len(SQLITE_MAGIC))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SourceError(f"{path}: the file cannot be read ({reason}). Check the path.") from None


def _content(path: Path) -> bytes:
    content = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    if not content.strip():
        raise SourceError(f"{path}: the file is empty. Export or download it again.")
    if b"\x00" in content[:1024]:
        raise SourceError(
            f"{path}: this is neither a hits_data.json, nor an MTurk batch CSV, nor an export of Candor, nor "
            "an SQLite database. Check the path."
        )
    return content


def _looks_like_json(path: Path, content: bytes) -> bool:
    return path.suffix.lower() == ".json" or content.lstrip()[:1] in (b"{", b"[")
