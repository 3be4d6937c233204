"""Archives from untrusted sources: the paths inside a bundle, and limits of size for ZIP and Parquet."""

import zipfile
import zlib
from collections.abc import Container, Iterable
from typing import IO, TYPE_CHECKING, BinaryIO

from qc.errors import SourceError

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
    _require_bounded(source, packed, sum(member.file_size for member in members))


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
    _require_bounded(source, packed, declared)
    texts = dict.fromkeys(column.path_in_schema for column in columns if column.physical_type == "BYTE_ARRAY")
    content = pq.ParquetFile(file, metadata=found, read_dictionary=list(texts))
    unpacked = declared
    for batch in content.iter_batches(_ROWS_AT_ONCE, columns=list(texts), use_threads=False):
        unpacked += sum(map(_text_bytes, batch.columns))
        _require_bounded(source, packed, unpacked)


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


def _require_bounded(source: str, packed: int, unpacked: int) -> None:
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
