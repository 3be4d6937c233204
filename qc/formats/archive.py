"""Errors and limits for archives and Parquet files from other people."""

import zipfile
import zlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from qc.errors import SourceError

if TYPE_CHECKING:  # pyarrow takes longer to start than most archives to read
    from pyarrow.parquet import FileMetaData

# What Python raises while it reads a member that is damaged, cut off, encrypted or packed in an unknown way.
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
MOST_BYTES = 4 * 1024**3
# Runs compress to a fifth or a tenth, and the most even of made-up ones to a fortieth.
MOST_RATIO = 100
ALWAYS_ALLOWED = 64 * 1024**2
_BYTES_OF_A_VALUE = 8


def require_bounded_zip(source: str, packed: int, members: Iterable[zipfile.ZipInfo]) -> None:
    """Refuse an archive that declares an implausible size. `zipfile` unpacks no more than is declared.

    Args:
        source: name of the archive, for the error.
        packed: size of the archive, in bytes.
        members: its members.

    Raises:
        SourceError: it unpacks to more than MOST_BYTES, or to more than MOST_RATIO times its own size.
    """
    _require_bounded(source, packed, sum(member.file_size for member in members))


def require_bounded_parquet(source: str, packed: int, found: "FileMetaData") -> None:
    """Refuse a Parquet file that declares an implausible size.

    A few bytes can stand for any number of equal or missing values, so values count as well as bytes.

    Args:
        source: name of the file, for the error.
        packed: size of the file, in bytes.
        found: the metadata of the file.

    Raises:
        SourceError: as `require_bounded_zip`.
    """
    groups = (found.row_group(number) for number in range(found.num_row_groups))
    declared = sum(group.total_byte_size for group in groups)
    values = found.num_rows * found.num_columns * _BYTES_OF_A_VALUE
    _require_bounded(source, packed, max(declared, values))


def _require_bounded(source: str, packed: int, unpacked: int) -> None:
    most = min(max(packed * MOST_RATIO, ALWAYS_ALLOWED), MOST_BYTES)
    if unpacked > most:
        raise SourceError(
            f"{source}: this file of {packed:,} bytes unpacks to {unpacked:,} bytes; at most {most:,} are "
            "read. No export or bundle compresses that far. Get the file again from its author."
        )
