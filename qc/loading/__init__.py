"""Open a source, find out what it is, and read the run in it."""

import codecs
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.errors import COMPARED, OptionError, SourceError
from qc.loading import hits, item_ratings, jsonl, mturk
from qc.loading.choices import is_choices
from qc.loading.load_options import LoadOptions
from qc.loading.source import RunFile, Source, open_source
from qc.run import SIMULATED_NOTE, Run

__all__ = [
    "LoadOptions",
    "Source",
    "assignment_status",
    "holds_run",
    "is_database",
    "load",
    "open_source",
    "read_criteria",
    "read_run",
]


def load(
    source: str | Path,
    run: str | None = None,
    include_partial: bool = False,
    words: bool = True,
    replies: bool = True,
    criteria: Path | None = None,
) -> Run:
    """Return the run that `source` holds.

    Args:
        source: path of a hits_data.json, of an MTurk batch CSV, of our own export (JSON Lines or Parquet)
            or of an SQLite database, or a database URL. The content of a file decides what it is.
        run: slug or id of a run; only a database can hold several.
        include_partial: whether assignments that were not completed take part; files hold only
            completed ones.
        words: whether what was said is wanted; `Run.words` is None without it.
        replies: whether what the bots said is wanted; a large Parquet file is read much faster without.
        criteria: file that says which criteria are analysed, and how; None for what the source declares.

    Raises:
        QcError: as `open_source`, `read_criteria` and `read_run`.
    """
    declared = read_criteria(criteria) if criteria else None
    with open_source(str(source)) as opened:
        return read_run(opened, LoadOptions(run, include_partial, words, replies, declared))


def read_criteria(path: Path) -> pd.DataFrame:
    """Return the criteria in the file at `path`, with the columns of `Run.criteria`.

    Raises:
        SourceError: the file cannot be read.
        DataError: it is not what such a file is.
    """
    from qc.loading import criteria_file  # noqa: PLC0415  # rarely needed, and it brings a YAML parser

    return criteria_file.read(path)


def is_database(source: Source) -> bool:
    """Return whether `source` is a database, which may hold several runs."""
    return not isinstance(source, RunFile)


def holds_run(source: Source, run: str) -> bool:
    """Return whether `source` is a database with a run of the slug or id `run`.

    Raises:
        SourceError: the database cannot be read.
    """
    if isinstance(source, RunFile):
        return False
    from qc.loading.database.choice import is_run  # noqa: PLC0415  # as in `read_run`

    return is_run(source, run)


def assignment_status(source: Source, run: Run) -> NDArray[np.str_]:
    """Return the status of each assignment of `run`, (assignments,), as the database has it.

    Args:
        source: the database that `run` was read from; still open, so that both are of one moment.
        run: one of its runs.

    Raises:
        SourceError: the database cannot be read, or is none.
    """
    if isinstance(source, RunFile):
        raise SourceError(f"{source.path}: a file does not say the status of assignments. Give a database.")
    from qc.loading.database.participation import statuses  # noqa: PLC0415  # as in `read_run`

    return statuses(source, run)


def read_run(source: Source, options: LoadOptions) -> Run:
    """Return the run of `source` that `options` ask for; of a file it can be called once.

    Raises:
        OptionError: a run is named, but `source` is a file, which holds one run; or simulated workers are
            asked for, and it is a file without any.
        SourceError: `source` is of no kind that we read, or of a newer version than we read.
        RunChoiceError: the database holds several runs and none was named, or not the named one.
        DataError: a value cannot be used; all of them are listed.
        EmptyRunError: nothing is left to analyse.
    """
    if not isinstance(source, RunFile):
        from qc.loading import database  # noqa: PLC0415  # SQLAlchemy takes longer to start than most files to read

        return database.read(source, options)
    if options.run is not None:
        raise OptionError(
            f"{options.option} chooses a run of a database, but {source.path} is a file with one run. "
            "Leave it out."
        )
    read = _from_file(source, options)
    if options.simulated and SIMULATED_NOTE not in read.notes:
        raise OptionError(
            f"--simulated chooses simulated workers, but {source.path} is a file of people's ratings. "
            "Leave it out, or give the database."
        )
    return read


def _from_file(source: RunFile, options: LoadOptions) -> Run:
    if source.parquet:
        from qc.loading import parquet  # noqa: PLC0415  # as in `read_run`

        return parquet.read(source.path, source.file, options)
    with _uncollected():
        return _from_text(source, options)


def _from_text(source: RunFile, options: LoadOptions) -> Run:
    content = _content(source)
    if is_choices(content):
        raise SourceError(f"{source.path}: {COMPARED}")
    if jsonl.is_export(content):
        read = jsonl.read
    elif item_ratings.is_item_ratings(content):
        read = item_ratings.read
    elif _looks_like_json(source.path, content):
        read = hits.read
    else:
        read = mturk.read
    return read(source.path, content, options)


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


def _content(source: RunFile) -> bytes:
    content = source.file.read().removeprefix(codecs.BOM_UTF8)
    if not content.strip():
        raise SourceError(f"{source.path}: the file is empty. Export or download it again.")
    if b"\x00" in content[:1024]:
        raise SourceError(
            f"{source.path}: this is neither a hits_data.json, nor an MTurk batch CSV, nor an export of "
            "Candor, nor an SQLite database. Check the path."
        )
    return content


def _looks_like_json(path: Path, content: bytes) -> bool:
    return path.suffix.lower() == ".json" or content.lstrip()[:1] in (b"{", b"[")
