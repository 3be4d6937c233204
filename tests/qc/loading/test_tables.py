"""CSV files as spreadsheets, pandas and other programs write them."""

import csv
import gzip
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from typer.testing import CliRunner

from qc.errors import DataError, SourceError
from qc.estimate import app
from qc.formats.archive import ALWAYS_ALLOWED
from qc.judgments import Judgments, read_judgments
from qc.judgments.read import Selection
from qc.loading import load
from qc.loading.analyst_files import read_margins, with_background
from qc.loading.tables import parse_table
from qc.metrics.metric_table import read_metric_table
from qc.run import Run
from tests.qc.support.same import same_run
from tests.qc.support.spoken import spoken_run

PLAIN = "item,system,worker,value,bleu\ni1,ä,w1,1,0.1\ni1,b,w2,3,0.2\ni2,ä,w2,5,0.3\ni2,b,w1,2,0.4\n"


def with_index(text: str, heading: str = "") -> str:
    header, *rows = text.splitlines()
    return "\n".join([f"{heading},{header}", *(f"{number},{row}" for number, row in enumerate(rows))]) + "\n"


FORMS: dict[str, tuple[bytes, str | None]] = {
    "semicolons": (PLAIN.replace(",", ";").encode(), "its cells are separated by semicolons"),
    "tabs": (PLAIN.replace(",", "\t").encode(), "its cells are separated by tabs"),
    "declared": (("sep=;\r\n" + PLAIN.replace(",", ";")).encode(), "separated by semicolons"),
    "declared comma": (("sep=,\n" + PLAIN).encode(), None),
    "index": (with_index(PLAIN).encode(), "its first column, an index without a heading, is left out"),
    "index of an index": (with_index(PLAIN, "Unnamed: 0").encode(), "an index without a heading"),
    "empty columns": (PLAIN.replace("\n", ",,\n").encode(), "empty columns at its end are left out"),
    "UTF-16": (PLAIN.encode("utf-16"), "it is in UTF-16"),
    "big-endian UTF-16": (b"\xfe\xff" + PLAIN.encode("utf-16-be"), "it is in UTF-16"),
    "Excel's Unicode text": (
        PLAIN.replace(",", "\t").replace("\n", "\r\n").encode("utf-16"),
        "it is in UTF-16, its cells are separated by tabs",
    ),
    "capitals": (
        PLAIN.replace("system,worker", "System,RATER").encode(),
        "'System' is read as 'system', 'RATER'",
    ),
    "byte order mark": (PLAIN.encode("utf-8-sig"), None),
    "Windows line ends": (PLAIN.replace("\n", "\r\n").encode(), None),
    "gzip": (gzip.compress(PLAIN.encode()), None),
    "gzip of tabs": (gzip.compress(PLAIN.replace(",", "\t").encode()), "separated by tabs"),
}


def same_judgments(one: Judgments, other: Judgments) -> None:
    assert one.systems == other.systems
    assert one.rows.equals(other.rows)
    assert one.outputs.equals(other.outputs)
    assert one.metrics.equals(other.metrics)


@pytest.fixture
def expected(tmp_path: Path) -> Judgments:
    path = tmp_path / "plain.csv"
    path.write_text(PLAIN, encoding="utf-8")
    return read_judgments(str(path))


@pytest.mark.parametrize("form", FORMS)
def test_judgments_in_every_form(form: str, tmp_path: Path, expected: Judgments) -> None:
    content, noticed = FORMS[form]
    path = tmp_path / "given.csv"
    path.write_bytes(content)
    found = read_judgments(str(path))
    same_judgments(found, expected)
    added = [note for note in found.notes if note not in expected.notes]
    assert len(added) == (noticed is not None)
    assert noticed is None or noticed in added[0]


REFUSED = {
    "Windows-1252": (
        PLAIN.encode("cp1252"),
        r"not a CSV in UTF-8, but probably in Windows-1252.*line 2: byte 0xE4",
    ),
    "UTF-16 without a mark": (PLAIN.encode("utf-16-le"), "zero bytes"),
    "decimal commas": (
        PLAIN.replace(",", ";").replace(".", ",").encode(),
        "column 'bleu': holds '0,1', a number with a comma. Save the file with decimal points",
    ),
    "a column without heading": (PLAIN.replace("item,", ",").encode(), "column 1: has no heading"),
    "damaged gzip": (gzip.compress(PLAIN.encode())[:-9], "gzip is damaged"),
    "a packed archive": (gzip.compress(b"PK\x03\x04" + bytes(40)), "Unpack it first"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_forms_that_have_no_one_reading(case: str, tmp_path: Path) -> None:
    content, said = REFUSED[case]
    path = tmp_path / "given.csv"
    path.write_bytes(content)
    with pytest.raises((DataError, SourceError), match=said):
        read_judgments(str(path))


def test_a_bomb_of_gzip_is_unpacked_no_further_than_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(bytes(2 * ALWAYS_ALLOWED)))
    with pytest.raises(SourceError, match="unpacks to"):
        load(path)
    with pytest.raises(SourceError, match="unpacks to"):
        read_margins(path)


def test_standard_input(tmp_path: Path, expected: Judgments, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "plain.csv").open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        same_judgments(read_judgments("-"), expected)
    metrics = tmp_path / "metrics.csv"
    metrics.write_text("Output;chrf\nä / i1;1\nä / i2;1\nb / i1;2\nb / i2;2\n", encoding="utf-8")
    with metrics.open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        found = read_judgments(str(tmp_path / "plain.csv"), Selection(Path("-")))
    assert "chrf" in found.metrics
    assert any(note.startswith("- is not a plain CSV") for note in found.notes)


def test_a_heading_that_has_its_name_already_is_left_alone() -> None:
    table = parse_table("t", b"system,System,Value\na,b,1\n", {"system": "system", "value": "value"})
    assert table.header == ["system", "System", "value"]


def test_a_column_of_numbers_without_heading_that_repeat_is_no_index() -> None:
    with pytest.raises(DataError, match="column 1: has no heading"):
        parse_table("t", b",system\n1,a\n1,b\n", {"system": "system"})


def test_background_margins_and_scores(tmp_path: Path) -> None:
    run = spoken_run(workers=2)
    worker = run.assignments["worker"].iloc[0]
    file = tmp_path / "file.csv"
    file.write_bytes(f"Worker\tage\n{worker}\t30\n".encode("utf-16"))
    found = with_background(run, file)
    assert found.background is not None
    assert found.background["age"].tolist() == ["30"]
    assert "it is in UTF-16, its cells are separated by tabs, 'Worker' is read as 'worker'" in found.notes[-1]
    file.write_text("sep=;\nField;Group;Share\nage;old;3\nage;young;1\n", encoding="utf-8")
    shares, (note,) = read_margins(file)
    assert shares == {"age": {"old": 0.75, "young": 0.25}}
    assert "semicolons" in note
    file.write_text(",System,bleu\n0,plain,2\n1,chatty,1\n", encoding="utf-8")
    notes: list[str] = []
    (bleu,) = read_metric_table(file, run, notes)
    assert bleu.systems is not None
    assert bleu.systems[0] == 1
    assert "an index without a heading" in notes[0]


@pytest.mark.parametrize("form", ["semicolons", "UTF-16", "gzip", "index"])
def test_a_batch_of_mturk(
    form: str, tmp_path: Path, batch: list[dict[str, str]], batch_file: Callable[[object], Path]
) -> None:
    path = batch_file(batch)
    expected, text = load(path), path.read_text(encoding="utf-8")
    as_semicolons = StringIO(newline="")
    csv.writer(as_semicolons, delimiter=";").writerows(csv.reader(StringIO(text, newline="")))
    content = {
        "semicolons": ("sep=;\r\n" + as_semicolons.getvalue()).encode(),
        "UTF-16": text.encode("utf-16"),
        "gzip": gzip.compress(text.encode()),
        "index": with_index(text).encode(),
    }[form]
    other = tmp_path / "other.csv"
    other.write_bytes(content)
    same_run(expected, load(other), apart_from=("name", "notes"))
    assert len(load(other).notes) == (form != "gzip")


def test_hits_data_in_utf_16_and_packed(
    tmp_path: Path, small_hits: object, hits_file: Callable[[object], Path]
) -> None:
    path = hits_file(small_hits)
    expected: Run = load(path)
    text = path.read_text(encoding="utf-8")
    for content in (text.encode("utf-16"), gzip.compress(text.encode())):
        other = tmp_path / "hits.json.gz"
        other.write_bytes(content)
        same_run(expected, load(other), apart_from=("name", "source"))


def test_the_command_says_how_the_file_was_read(tmp_path: Path) -> None:
    path = tmp_path / "given.csv"
    path.write_text(PLAIN.replace(",", ";"), encoding="utf-8")
    found = CliRunner().invoke(app, [str(path)])
    assert found.exit_code == 0
    assert "semicolons" in " ".join(found.output.split())
