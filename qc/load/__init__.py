"""Find out what a source is, and read the run in it."""

import codecs
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from qc.errors import OptionError, SourceError
from qc.load import hits, jsonl, mturk
from qc.load.beginning import PARQUET_MAGIC, SQLITE_MAGIC, beginning
from qc.load.load_options import LoadOptions
from qc.run import Run

__all__ = ["holds_run", "is_database", "load"]


def load(
    source: str,
    run: str | None = None,
    include_partial: bool = False,
    words: bool = True,
    replies: bool = True,
    criteria: Path | None = None,
    option: str = "--run",
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
        option: of the command line, that gave `run`; for messages.

    Raises:
        QcError: of the kinds that the loaders name; SourceError if there is no such file, or it is of no
            kind that we read; OptionError if `run` is given for a file, which holds one run.
    """
    declared = _declared(criteria) if criteria else None
    options = LoadOptions(run, include_partial, words, replies, declared, option)
    if "://" in source:
        return _from_database(source, options)
    path = Path(source)
    first = beginning(path)
    if first.startswith(SQLITE_MAGIC):
        return _from_database(path, options)
    if run is not None:
        raise OptionError(
            f"{option} chooses a run of a database, but {path} is a file with one run. Leave it out."
        )
    if first.startswith(PARQUET_MAGIC):
        return _from_parquet(path, options)
    with _uncollected():
        return _from_text(path, options)


def _declared(criteria: Path) -> pd.DataFrame:
    from qc.load import criteria_file  # noqa: PLC0415  # rarely needed, and it brings a YAML parser

    return criteria_file.read(criteria)


def is_database(source: str) -> bool:
    """Return whether `source` is a database, which may hold several runs.

    Raises:
        SourceError: there is no such file.
    """
    return "://" in source or beginning(Path(source)).startswith(SQLITE_MAGIC)


def holds_run(source: str, run: str) -> bool:
    """Return whether `source` is a database with a run of the slug or id `run`.

    Raises:
        SourceError: there is no such file or database, or it cannot be read.
    """
    if not is_database(source):
        return False
    from qc.load import database  # noqa: PLC0415  # as in `_from_database`

    return database.holds(_named(source), run)


def _named(source: str) -> str | Path:
    """Return a URL as it is, and anything else as a path."""
    return source if "://" in source else Path(source)


def _from_database(source: str | Path, options: LoadOptions) -> Run:
    from qc.load import database  # noqa: PLC0415  # SQLAlchemy takes longer to start than most files to read

    return database.read(source, options)


def _from_parquet(path: Path, options: LoadOptions) -> Run:
    from qc.load import parquet  # noqa: PLC0415  # likewise

    return parquet.read(path, words=options.words, replies=options.replies, criteria=options.criteria)


def _from_text(path: Path, options: LoadOptions) -> Run:
    content = _content(path)
    if jsonl.holds(content):
        return jsonl.read(path, content, options.words, options.criteria)
    read = hits.read if _looks_like_json(path, content) else mturk.read
    return read(path, content, options.words, options.criteria)


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
