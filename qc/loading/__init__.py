"""Open a source, detect its format, and read the run in it."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.errors import COMPARED, VOTED, OptionError, SourceError
from qc.loading import hits, item_ratings, mturk
from qc.loading.choices import is_choices
from qc.loading.source import RunFile, Source, open_source
from qc.loading.tables import as_utf8
from qc.loading.votes import holds_votes
from qc.options import LoadOptions
from qc.run import SIMULATED_NOTE, Run

__all__ = [
    "LoadOptions",
    "Source",
    "assignment_status",
    "holds_run",
    "is_database",
    "item_texts",
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
    criteria: Path | None = None,
) -> Run:
    """Return the run that `source` holds.

    Args:
        source: path of a hits_data.json, an MTurk batch CSV, a server's export or an SQLite database,
            or a database URL. The format of a file is detected from its content.
        run: slug or id of a run; only a database can hold several.
        include_partial: include assignments that were not completed; files hold only completed ones.
        words: read the texts of the conversations; without them `Run.words` is None.
        criteria: file with the criteria to analyse; None for those that the source declares.

    Raises:
        QcError: as `open_source`, `read_criteria` and `read_run`.
    """
    declared = read_criteria(criteria) if criteria else None
    with open_source(str(source)) as opened:
        return read_run(opened, LoadOptions(run, include_partial, words, declared))


def read_criteria(path: Path) -> pd.DataFrame:
    """Return the criteria in the file at `path`, with the columns of `Run.criteria`.

    Raises:
        SourceError: the file cannot be read.
        DataError: its content is not valid.
    """
    from qc.loading import analyst_files  # noqa: PLC0415  # rarely needed, and imports a YAML parser

    return analyst_files.read(path)


def is_database(source: Source) -> bool:
    """Return whether `source` is a database, which may hold several runs."""
    return not isinstance(source, RunFile)


def holds_run(source: Source, run: str) -> bool:
    """Return whether `source` is a database that holds a run with the slug or id `run`.

    Raises:
        SourceError: the database cannot be read.
    """
    if isinstance(source, RunFile):
        return False
    from qc.loading.database.engine import is_run  # noqa: PLC0415  # as in `read_run`

    return is_run(source, run)


def assignment_status(source: Source, run: Run) -> NDArray[np.str_]:
    """Return the status of each assignment of `run` in the database, (assignments,).

    Args:
        source: the database that `run` was read from. It must still be open, so that both are read from the
            same snapshot.
        run: one of its runs.

    Raises:
        SourceError: the database cannot be read, or `source` is not a database.
    """
    if isinstance(source, RunFile):
        raise SourceError(f"{source.path}: a file does not say the status of assignments. Give a database.")
    from qc.loading.database.participation import statuses  # noqa: PLC0415  # as in `read_run`

    return statuses(source, run)


def item_texts(source: Source, run: Run) -> pd.DataFrame | None:
    """Return the texts of the items of `run`, as `qc.loading.database.details.item_texts`; None from a file.

    Args:
        source: the source that `run` was read from. It must still be open.
        run: one of its runs.

    Raises:
        SourceError: the database cannot be read.
    """
    if isinstance(source, RunFile):
        return None
    from qc.loading.database import details  # noqa: PLC0415  # as in `read_run`

    return details.item_texts(source, run)


def read_run(source: Source, options: LoadOptions) -> Run:
    """Return the run of `source` that `options` select. A file can be read only once.

    Raises:
        OptionError: a run is named, but `source` is a file, which holds one run; or simulated workers are
            requested, but `source` is a file, which has none.
        SourceError: the format of `source` is not supported, or its version is newer than this program.
        RunChoiceError: the database holds several runs and none is named, or it lacks the named run.
        DataError: a value is invalid; the error lists all problems.
        EmptyRunError: nothing is left to analyse.
    """
    if not isinstance(source, RunFile):
        from qc.loading import database  # noqa: PLC0415  # importing SQLAlchemy takes longer than reading most files

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
    if holds_votes(source):
        raise SourceError(f"{source.path}: {VOTED}")
    given = source.file.read()
    content = _text(source.path, given)
    if is_choices(content):
        raise SourceError(f"{source.path}: {COMPARED}")
    if item_ratings.is_item_ratings(content):
        read = item_ratings.read
    elif _looks_like_json(source.path, content):
        read = hits.read
    else:
        read, content = mturk.read, given
    with _uncollected():
        return read(source.path, content, options)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Disable garbage collection: parsing a text creates many objects that would be scanned repeatedly."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _text(path: Path, given: bytes) -> bytes:
    content = as_utf8(str(path), given)
    if not content.strip():
        raise SourceError(f"{path}: the file is empty. Export or download it again.")
    if b"\x00" in content[:1024]:
        raise SourceError(
            f"{path}: this is neither a hits_data.json, nor an MTurk batch CSV, nor an export of "
            "Candor, nor an SQLite database. Check the path."
        )
    return content


def _looks_like_json(path: Path, content: bytes) -> bool:
    return path.suffix.lower() == ".json" or content.lstrip()[:1] in (b"{", b"[")
