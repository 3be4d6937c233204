"""Find out what a source is, and read the run in it."""

import codecs
from pathlib import Path

from qc.errors import OptionError, SourceError
from qc.load import database, hits, mturk
from qc.run import Run

__all__ = ["load"]


def load(source: str, run: str | None = None, include_partial: bool = False) -> Run:
    """Return the run that `source` holds.

    Args:
        source: path of a hits_data.json, of an MTurk batch CSV or of an SQLite database, or a database
            URL. What a file is, is told by its content.
        run: slug or id of a run; only a database can hold several.
        include_partial: whether assignments that were not completed take part; files hold only
            completed ones.

    Raises:
        QcError: of the kinds that `hits.read`, `mturk.read` and `database.read` name; SourceError if
            there is no such file, or it is of no kind that we read; OptionError if `run` is given for a
            file, which holds one run.
    """
    if "://" in source:
        return database.read(source, run, include_partial)
    path = Path(source)
    if _is_sqlite(path):
        return database.read_file(path, run, include_partial)
    content = _content(path)
    if run is not None:
        raise OptionError(
            f"--run chooses a run of a database, but {path} is a file with one run. Leave it out."
        )
    return hits.read(path, content) if _looks_like_json(path, content) else mturk.read(path, content)


def _is_sqlite(path: Path) -> bool:
    if path.is_dir():
        raise SourceError(
            f"{path}: this is a directory. Name the file in it, for example {path / 'hits_data.json'}."
        )
    try:
        with path.open("rb") as file:
            return file.read(len(database.SQLITE_MAGIC)) == database.SQLITE_MAGIC
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SourceError(f"{path}: the file cannot be read ({reason}). Check the path.") from None


def _content(path: Path) -> bytes:
    content = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    if not content.strip():
        raise SourceError(f"{path}: the file is empty. Export or download it again.")
    if b"\x00" in content[:1024]:
        raise SourceError(
            f"{path}: this is neither a hits_data.json, nor an MTurk batch CSV, nor an SQLite database. "
            "Check the path."
        )
    return content


def _looks_like_json(path: Path, content: bytes) -> bool:
    return path.suffix.lower() == ".json" or content.lstrip()[:1] in (b"{", b"[")
