"""Archives: write reproducible ZIP archives, and read ZIP and Parquet from untrusted sources within limits.

No member is unpacked to a path from the archive.
"""

import zipfile
import zlib
from collections.abc import Container, Iterable, Mapping
from pathlib import Path, PurePosixPath
from secrets import token_hex
from typing import IO, TYPE_CHECKING, BinaryIO

from qc.errors import OutputError, SourceError

if TYPE_CHECKING:
    from pyarrow import Array


# First bytes that identify a format, whatever the file is named.
SQLITE = b"SQLite format 3\x00"
PARQUET = b"PAR1"
ZIP = b"PK\x03\x04"

# Errors that Python raises for a member that is damaged, cut off, encrypted or compressed in an unknown way.
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
MOST_BYTES = 4 * 1024**3
# Largest compression ratio. Runs compress by a factor of 5 to 10, the most uniform artificial ones by 40.
MOST_RATIO = 100
ALWAYS_ALLOWED = 64 * 1024**2
_BYTES_OF_A_VALUE = 8
_ROWS_AT_ONCE = 4_096


def require_bounded_zip(source: str, packed: int, members: Iterable[zipfile.ZipInfo]) -> None:
    """Refuse an archive with an implausible declared size. `zipfile` unpacks no more than declared.

    Args:
        source: name of the archive, for the error.
        packed: size of the archive, in bytes.
        members: its members.

    Raises:
        SourceError: it unpacks to more than MOST_BYTES, or to more than MOST_RATIO times its own size.
    """
    require_bounded(source, packed, sum(member.file_size for member in members))


def require_bounded_parquet(source: str, packed: int, file: BinaryIO | IO[bytes]) -> None:
    """Refuse a Parquet file that declares, or holds, an implausible amount.

    A few bytes can encode any number of equal or missing values, and one long text in a dictionary any number
    of texts. So values count as well as bytes, and the sizes of texts are summed before they are unpacked.

    Args:
        source: name of the file, for the error.
        packed: size of the file, in bytes.
        file: the open file.

    Raises:
        SourceError: as `require_bounded_zip`.
        ArrowException, OSError: the file is damaged.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415  # importing it takes longer than reading most archives

    found = pq.read_metadata(file)
    groups = [found.row_group(number) for number in range(found.num_row_groups)]
    columns = [group.column(number) for group in groups for number in range(group.num_columns)]
    declared = sum(
        max(column.total_uncompressed_size, column.num_values * _BYTES_OF_A_VALUE) for column in columns
    )
    require_bounded(source, packed, declared)
    texts = dict.fromkeys(column.path_in_schema for column in columns if column.physical_type == "BYTE_ARRAY")
    content = pq.ParquetFile(file, metadata=found, read_dictionary=list(texts))
    unpacked = declared
    for batch in content.iter_batches(_ROWS_AT_ONCE, columns=list(texts), use_threads=False):
        unpacked += sum(map(_text_bytes, batch.columns))
        require_bounded(source, packed, unpacked)


def _text_bytes(column: "Array") -> int:
    """Return the unpacked bytes of texts in a column of dictionaries, or of lists or structs of them."""
    import pyarrow as pa  # noqa: PLC0415  # as above
    import pyarrow.compute as pc  # noqa: PLC0415

    if pa.types.is_list(column.type):
        return _text_bytes(column.flatten())
    if pa.types.is_struct(column.type):
        return sum(map(_text_bytes, column.flatten()))
    if not pa.types.is_dictionary(column.type):
        return 0
    lengths = pc.binary_length(column.dictionary).cast(pa.int64())
    return pc.sum(lengths.take(column.indices)).as_py() or 0


def require_bounded(source: str, packed: int, unpacked: int) -> None:
    """Raise SourceError if `packed` bytes unpack to an implausible number of bytes."""
    most = min(max(packed * MOST_RATIO, ALWAYS_ALLOWED), MOST_BYTES)
    if unpacked > most:
        raise SourceError(
            f"{source}: this file of {packed:,} bytes unpacks to {unpacked:,} bytes; at most {most:,} are "
            "read. No export or bundle compresses that far. Get the file again from its author."
        )


MANIFEST = "bundle.json"
RUN, SECOND = "data/run", "data/second"
SUFFIXES = (".jsonl", ".json", ".csv")  # of the server's export, and of the two published formats


def data_file(run: str, names: Container[str]) -> str | None:
    """Return the name of the file among `names` that holds RUN or SECOND; None if there is none."""
    return next((run + suffix for suffix in SUFFIXES if run + suffix in names), None)


MOST_FILES = 1_000
# The earliest time in ZIP, so that the bytes do not depend on the time of packing.
_TIME = (1980, 1, 1, 0, 0, 0)
_PLAIN_FILE = 0o100644 << 16
_LINK, _KIND = 0o120000, 0o170000


def write_archive(path: Path, files: Mapping[str, bytes]) -> None:
    """Write `files` by name as a ZIP; the same files give the same bytes with the same zlib.

    The archive appears only when it is complete; an existing file is replaced.

    Raises:
        OutputError: it cannot be written.
    """
    unfinished = path.with_name(f".{path.name}.{token_hex(4)}.part")  # unique, for parallel writes
    try:
        unfinished.touch(mode=0o600)  # private: it holds workers' texts
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name in sorted(files):
                member = zipfile.ZipInfo(name, _TIME)
                member.external_attr = _PLAIN_FILE
                member.create_system = 3
                member.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(member, files[name])
        unfinished.replace(path)
    except OSError as error:
        raise OutputError(f"{path}: the bundle cannot be written ({error.strerror or error}).") from None
    finally:
        unfinished.unlink(missing_ok=True)


def read_archive(path: Path) -> dict[str, bytes]:
    """Return the files of a ZIP by name.

    Raises:
        SourceError: it is not a ZIP, is damaged, or has content that no bundle has: names that lead outside,
            repeated names, links, too many files or too much data.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            _require_harmless(path, members)
            return {member.filename: archive.read(member) for member in members}
    except (OSError, *DAMAGED) as error:
        raise SourceError(f"{path}: this cannot be read as a bundle ({error}). Get it again.") from None


def _require_harmless(path: Path, members: list[zipfile.ZipInfo]) -> None:
    names = [member.filename for member in members]
    bad = next((member.filename for member in members if not _is_harmless(member)), None)
    if bad is not None:
        raise SourceError(f"{path}: refused, because {bad!r} is no name of a file inside a bundle.")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise SourceError(f"{path}: refused, because it holds {twice!r} twice.")
    if len(members) > MOST_FILES:
        raise SourceError(
            f"{path}: refused, because it holds {len(members)} files. A bundle has at most {MOST_FILES}."
        )
    require_bounded_zip(str(path), path.stat().st_size, members)


def _is_harmless(member: zipfile.ZipInfo) -> bool:
    name = member.orig_filename
    parts = PurePosixPath(name).parts
    return (
        bool(parts)
        and not name.startswith("/")
        and not {"\\", ":", "\0"} & set(name)
        and not {"..", "."} & set(name.split("/"))
        and (member.external_attr >> 16) & _KIND != _LINK
    )
