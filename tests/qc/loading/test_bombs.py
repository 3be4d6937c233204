"""Archives and Parquet files that unpack to far more than they are: refused before they are unpacked."""

import tracemalloc
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from qc.bundle.verify import app
from qc.errors import SourceError
from qc.formats import archive, published
from qc.formats.archive import ALWAYS_ALLOWED, read_archive
from qc.loading import load

ZEROS = bytes(2 * ALWAYS_ALLOWED)  # 128 MiB, which DEFLATE packs into 128 KiB
FAR = "unpacks to .* bytes"


@contextmanager
def little_memory() -> Iterator[None]:
    """Check that what is done takes far less memory than the bomb holds."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < len(ZEROS) / 8
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module")
def bombs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a bundle and an export, each with one member of zeros."""
    folder = tmp_path_factory.mktemp("bombs")
    for name, members in {
        "archive.zip": (archive.MANIFEST, f"{archive.RUN}.jsonl"),
        "export.zip": ("v1_turn.csv", published.HEADER),
    }.items():
        with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as made:
            made.writestr(members[0], b"{}")
            made.writestr(members[1], ZEROS)
    return folder


@pytest.mark.parametrize("name", ["archive.zip", "export.zip"])
def test_a_source_that_unpacks_to_far_more_is_refused(bombs: Path, name: str) -> None:
    with little_memory(), pytest.raises(SourceError, match=FAR):
        load(bombs / name)


def test_a_bundle_that_unpacks_to_far_more_is_refused(bombs: Path) -> None:
    with little_memory(), pytest.raises(SourceError, match=FAR):
        read_archive(bombs / "archive.zip")
    result = CliRunner().invoke(app, [str(bombs / "archive.zip")])
    assert result.exit_code == 2
    assert "unpacks to" in result.output


def test_an_archive_that_says_less_than_it_holds_is_unpacked_no_further(bombs: Path, tmp_path: Path) -> None:
    """`zipfile` unpacks no more than was declared, and then misses the checksum."""
    said, small = len(ZEROS).to_bytes(4, "little"), (9).to_bytes(4, "little")
    (tmp_path / "lying.zip").write_bytes((bombs / "archive.zip").read_bytes().replace(said, small))
    with little_memory(), pytest.raises(SourceError, match="cannot be read as a bundle"):
        read_archive(tmp_path / "lying.zip")
    with little_memory(), pytest.raises(SourceError, match="is damaged"):
        load(tmp_path / "lying.zip")


def packed(table: Path, column: str, archive: Path) -> Path:
    """Return an export of one view, whose rows are those of a Parquet file."""
    header = published.ViewsHeader(
        run="r", study="s", views={"v1_turn": published.ExportedView(rows=1, columns={column: "text"})}
    )
    with zipfile.ZipFile(archive, "w") as written:
        written.writestr(published.HEADER, header.model_dump_json())
        written.write(table, "v1_turn.parquet")
    return archive


def test_a_parquet_file_of_missing_values_without_number_is_refused(tmp_path: Path) -> None:
    """Ten million missing values take 20 KB in Parquet and 80 MB in memory."""
    path = tmp_path / "run.parquet"
    column = pa.nulls(1_000_000, pa.int64())
    schema = pa.schema([pa.field("position", pa.int64())])
    with pq.ParquetWriter(path, schema) as writer:
        for _ in range(10):
            writer.write_table(pa.table([column], schema=schema))
    assert path.stat().st_size < 20_000
    with pytest.raises(SourceError, match=FAR):
        load(packed(path, "position", tmp_path / "run.zip"))


@pytest.mark.parametrize(
    "column",
    [
        pa.DictionaryArray.from_arrays(pa.array([0] * 100_000, pa.int32()), pa.array(["z" * 1_000_000])),
        pa.ListArray.from_arrays(pa.array([0, 20_000_000], pa.int32()), pa.nulls(20_000_000, pa.int32())),
        pa.ListArray.from_arrays(
            pa.array([0, 100_000], pa.int32()),
            pa.DictionaryArray.from_arrays(pa.array([0] * 100_000, pa.int32()), pa.array(["z" * 1_000_000])),
        ),
    ],
    ids=["one text 100,000 times", "one list of 20 million missing values", "one list of one text"],
)
def test_a_parquet_file_whose_values_are_said_in_few_bytes_is_refused(
    tmp_path: Path, column: pa.Array
) -> None:
    """Some hundred bytes, which are 100 GB of text or 80 MB of nothing in memory."""
    path = tmp_path / "run.parquet"
    schema = pa.schema([pa.field("replies", column.type)])
    pq.write_table(pa.table([column], schema=schema), path, compression="zstd")
    assert path.stat().st_size < 5_000
    before = pa.total_allocated_bytes()
    with pytest.raises(SourceError, match=FAR):
        load(packed(path, "replies", tmp_path / "run.zip"))
    assert pa.total_allocated_bytes() - before < 8_000_000
