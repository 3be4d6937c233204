"""All of a run as a file, in every format: what `qc` reads of it is what it reads of the database."""

import io
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from sqlalchemy import event, text
from typer.testing import Result

from qc.analysis import SAME_DATA, analyse
from qc.bundle.verify import check_bundle
from qc.errors import DataError, SourceError
from qc.loading import load
from qc.options import AnalysisOptions
from qc.signature import data_hash
from server.db.engine import open_engine
from server.db.runs.runs import find_run
from server.export import completed
from server.export.formats import WRITTEN, Written, write_run
from server.export.hits_data import hits
from server.export.views import VIEWS, rows_of, views_of
from tests.qc.support.same import same_run
from tests.server.support.commands import Candor, assert_refused
from tests.server.support.database import execute, make_run, query
from tests.server.support.server import House
from tests.server.support.study import RUN

WHOLE: tuple[Written, ...] = ("jsonl", "parquet", "csv")
# What CSV, a spreadsheet and JSON each could take for something else.
WORDS = ["=1+1", "'+2", "''", 'She said "no", twice', "one\ntwo\r\nthree", "NULL", "véritable 🦦", "-3"]
WORDS += ["\uff1d1+1", "\n=1"]
# Ratings by the order of their ids, lower ones for the qc bot.
_VARIED = """
    UPDATE rating SET value = 17 * (
               SELECT count(*) FROM rating AS r
               WHERE r.conversation_id || r.criterion < rating.conversation_id || rating.criterion) % 41
           + CASE WHEN (SELECT is_qc FROM system JOIN conversation ON conversation.system_id = system.id
                        WHERE conversation.id = rating.conversation_id) THEN 0 ELSE 50 END"""
_WRITTEN = """
    INSERT INTO writing (conversation_id, turn_index, typed, composed, pasted, pastes, writing_ms,
                         longest_pause_ms, away, away_ms)
    SELECT conversation_id, turn_index, length(text), 0, turn_index, 1, 4000, 300 + turn_index, 0, 0
    FROM turn WHERE author = 'worker'"""
OPTIONS = AnalysisOptions(alpha=0.5, bootstrap=100, sections=frozenset({"significance", "intervals"}))


def collect(url: str, house: House) -> None:
    """Let six workers take part: one is excluded, another is under way."""
    for number in range(5):
        with house.page(f"worker {number}") as page:
            page.agree()
            for position in range(4):
                page.open_topic(WORDS[number])
                page.say(WORDS[2 * position])
                page.say(WORDS[2 * position + 1])
                page.send("end_conversation")
                page.until("rating_due")
                page.rate("topic_due" if position < 3 else "feedback_due")
            page.send("feedback", text=WORDS[number])
            page.until("completed")
    with house.page("under way") as page:
        page.agree()
        page.converse()
    ((one,),) = query(url, "SELECT min(assignment_id) FROM v1_assignment WHERE status = 'completed'")
    excluded = house.desk(f"/assignments/{one}/exclusion", method="PUT", json={"reason": "=a bot"})
    assert excluded.status_code < 300, excluded.text
    house.stop()
    # Everybody rates alike in these tests; numbers that differ show where rows were mixed up.
    execute(url, _VARIED)
    execute(url, _WRITTEN)


@pytest.fixture(scope="module")
def collected(migrated: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database with such a run, and a second one that nobody has come to."""
    folder = tmp_path_factory.mktemp("collected")
    shutil.copy(migrated, folder / "candor.db")
    url = f"sqlite:///{folder / 'candor.db'}"
    house = House(url, [make_run(url), make_run(url, slug="other")], folder)
    house.start()
    collect(url, house)
    return url


def exported(url: str, form: Written, folder: Path) -> Path:
    path = folder / f"run.{form}"
    engine = open_engine(url)
    with engine.connect() as connection:
        write_run(connection, find_run(connection, RUN), form, path, lambda *_: None)
    engine.dispose()
    return path


def same_in_every_format(url: str, folder: Path) -> None:
    """Assert that each format says what the database says, of whoever has finished and of everybody."""
    files = {form: exported(url, form, folder) for form in WRITTEN}
    for partial in (False, True):
        there = load(url, RUN, include_partial=partial)
        assert len(there.assignments) == 4
        assert [out.reason for out in there.left_out if "=a bot" in out.reason]
        assert there.writing is not None
        assert len(there.writing) == 16
        for form in WHOLE:
            here = load(files[form], include_partial=partial)
            same_run(there, here)
            assert here.writing is not None
            pd.testing.assert_frame_equal(here.writing, there.writing)
    there, published = load(url, RUN), load(files["hits_data"])
    for form in WHOLE:
        assert analyse(load(files[form]), OPTIONS).signature == analyse(there, OPTIONS).signature
    scores = analyse(there, OPTIONS).scores.z
    assert scores["overall"].notna().sum() > 1
    pd.testing.assert_frame_equal(analyse(published, OPTIONS).scores.z, scores, check_exact=True)


def test_each_format_says_what_the_database_says(collected: str, tmp_path: Path) -> None:
    same_in_every_format(collected, tmp_path)


@pytest.mark.databases("postgresql")
def test_each_format_says_what_postgresql_says(url: str, serve: Callable[..., House], tmp_path: Path) -> None:
    collect(url, serve(url, make_run(url)))
    same_in_every_format(url, tmp_path)


def test_each_format_says_which_systems_are_people(collected: str, tmp_path: Path) -> None:
    shutil.copy(collected.removeprefix("sqlite:///"), tmp_path / "candor.db")
    url = f"sqlite:///{tmp_path / 'candor.db'}"
    execute(
        url,
        """
        INSERT INTO human_conversation (conversation_id, run_id, waiting_since)
        SELECT conversation.id, run.id, '2026-01-01 00:00:00.000000' FROM conversation
        JOIN system ON system.id = conversation.system_id
        JOIN assignment ON assignment.id = conversation.assignment_id
        JOIN run ON run.id = assignment.run_id
        WHERE system.name = (SELECT min(name) FROM system WHERE NOT is_qc)""",
    )
    there = load(url, RUN)
    assert len(there.people) == 1
    for form in WHOLE:
        assert load(exported(url, form, tmp_path)).people == there.people


def test_the_published_form_is_known_for_the_same_run(collected: str, candor: Candor, tmp_path: Path) -> None:
    """Though it says no families and personas of systems, which the database does."""
    path = tmp_path / "hits.json"
    done = candor(
        "data", "export", "--run", RUN, "--out", path, "--data", tmp_path, CANDOR_DATABASE_URL=collected
    )
    assert done.exit_code == 0, done.output
    there, here = load(collected, RUN), load(path)
    assert data_hash(there) != data_hash(here)
    assert SAME_DATA in analyse(there, OPTIONS, here).notes


def test_every_view_is_in_it_and_every_row_of_the_run(collected: str, tmp_path: Path) -> None:
    views = {name for (name,) in query(collected, "SELECT name FROM sqlite_master WHERE type = 'view'")}
    assert views == VIEWS.keys()
    header, *lines = map(json.loads, exported(collected, "jsonl", tmp_path).read_text().splitlines())
    for view, told in header["views"].items():
        held = [line for line in lines if line["view"] == view]
        of_run = "" if view == "v1_version" else f" WHERE run_id = {held[0]['run_id'] if held else 0}"
        assert len(held) == told["rows"]
        if held:
            assert query(collected, f"SELECT count(*) FROM {view}{of_run}") == [(len(held),)]  # noqa: S608
    assert {line["run"] for line in lines if line["view"] == "v1_run"} == {RUN}
    assert [line["text"] for line in lines if line["view"] == "v1_turn" and line["author"] == "worker"]
    assert all(line["created_at"].endswith("Z") for line in lines if line["view"] == "v1_turn")


def test_the_same_run_gives_the_same_bytes(collected: str, tmp_path: Path) -> None:
    for form in WRITTEN:
        first = exported(collected, form, tmp_path).read_bytes()
        assert exported(collected, form, tmp_path).read_bytes() == first


def test_a_spreadsheet_computes_nothing(collected: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(exported(collected, "csv", tmp_path)) as archive:
        turns = archive.read("v1_turn.csv").decode()
    assert '"\'=1+1"' in turns
    assert '"=1+1"' not in turns


def test_a_file_is_there_as_a_whole_or_as_it_was(collected: str, tmp_path: Path) -> None:
    class Stopped(Exception):
        """Somebody stops it."""

    def stop(_what: str, done: int, _total: int) -> None:
        if done > 2:
            raise Stopped

    engine = open_engine(collected)
    for form in WRITTEN:
        path = exported(collected, form, tmp_path)
        was = path.read_bytes()
        path.with_name(f".{path.name}.part").write_text("what a killed process has left")
        with engine.connect() as connection, pytest.raises(Stopped):
            write_run(connection, find_run(connection, RUN), form, path, stop)
        assert path.read_bytes() == was
    engine.dispose()
    assert not list(tmp_path.glob(".*.part"))


def test_the_published_form_is_read_some_assignments_at_a_time(
    collected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(completed, "AT_ONCE", 2)
    engine, turns = open_engine(collected), list[str]()

    @event.listens_for(engine, "before_cursor_execute")
    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if "FROM v1_turn" in statement:
            turns.append(statement)

    with engine.connect() as connection:
        written = hits(connection, find_run(connection, RUN))
        next(written)
        assert len(turns) == 1
        assert len(list(written)) == 3
        assert len(turns) == 2  # of four assignments
    engine.dispose()


def test_rows_of_a_view_are_read_some_at_a_time(collected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.export.views.AT_ONCE", 7)
    engine = open_engine(collected)
    with engine.connect() as connection:
        run = find_run(connection, RUN)
        (view,) = [each for each in views_of(connection, run) if each.name == "v1_turn"]
        parts = list(rows_of(connection, run, view))
        same = connection.execute(text("SELECT count(*) FROM v1_turn WHERE run_id = :run"), {"run": run.id})
        assert sum(map(len, parts)) == same.scalar_one() == view.rows > 7
    engine.dispose()
    assert {len(part) for part in parts[:-1]} == {7}


def test_a_damaged_file_is_refused_in_words(collected: str, tmp_path: Path) -> None:
    lines = exported(collected, "jsonl", tmp_path).read_bytes().splitlines(keepends=True)
    short, odd, newer = tmp_path / "short", tmp_path / "odd", tmp_path / "newer"
    short.write_bytes(b"".join(lines[:-1]))
    with pytest.raises(DataError, match=r"announces \d+ rows, but the file holds"):
        load(short)
    odd.write_bytes(lines[0] + b'{"view": "elsewhere"}\n' + b"".join(lines[1:]))
    with pytest.raises(DataError, match="line 2: is no row of a view that line 1 names"):
        load(odd)
    newer.write_bytes(lines[0].replace(b'"version": 1', b'"version": 2', 1))
    with pytest.raises(SourceError, match="Install a newer release"):
        load(newer)
    damaged = exported(collected, "parquet", tmp_path)
    content = bytearray(damaged.read_bytes())
    content[len(content) // 2] ^= 0xFF
    damaged.write_bytes(content)
    with pytest.raises((DataError, SourceError)):
        load(damaged)
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("notes.txt", "Nothing of ours.")
    with pytest.raises(SourceError, match="neither an export nor a bundle"):
        load(other)


def test_an_archive_of_which_any_file_is_damaged_is_refused_in_words(collected: str, tmp_path: Path) -> None:
    whole = exported(collected, "csv", tmp_path).read_bytes()
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        members = [member for member in archive.infolist() if member.compress_size > 20]
    assert members[0].filename == "header.json"
    damaged = tmp_path / "damaged.zip"
    for member in members:
        head = member.header_offset
        lengths = (int.from_bytes(whole[head + at : head + at + 2], "little") for at in (26, 28))
        first = head + 30 + sum(lengths)  # behind its name, and what else is said of it
        for at in (0, member.compress_size // 2):  # the first byte says how the rest is packed
            content = bytearray(whole)
            content[first + at] ^= 0xFF
            damaged.write_bytes(content)
            with pytest.raises((DataError, SourceError), match=member.filename):
                load(damaged)


def test_a_bundle_has_all_of_it_and_gives_the_same_numbers(
    collected: str, candor: Candor, tmp_path: Path
) -> None:
    bundle = tmp_path / "harbour.zip"
    asked = ("data", "export", "--run", RUN, "--format", "bundle", "--out", bundle, "--data", tmp_path)
    before = set(tmp_path.iterdir())
    done = candor(*asked, CANDOR_DATABASE_URL=collected)
    assert done.exit_code == 0, done.output
    assert set(tmp_path.iterdir()) - before == {bundle}
    checked = check_bundle(bundle)
    assert checked.differences == ()
    same_run(load(collected, RUN), load(bundle))
    with zipfile.ZipFile(bundle) as archive:
        assert archive.read("data/run.jsonl") == exported(collected, "jsonl", tmp_path).read_bytes()
        assert archive.read("study.yaml").startswith(b"name: lighthouse")
        assert b"all that the server has stored" in archive.read("README.md")
    assert "signature" in json.loads(zipfile.ZipFile(bundle).read("bundle.json"))
    again = shutil.copy(bundle, tmp_path / "again.zip")
    assert candor(*asked, CANDOR_DATABASE_URL=collected).exit_code == 0
    assert bundle.read_bytes() == Path(again).read_bytes()


def test_why_a_file_was_not_written(collected: str, candor: Candor, tmp_path: Path) -> None:
    def export(*options: str | Path) -> Result:
        return candor("data", "export", *options, "--data", tmp_path, CANDOR_DATABASE_URL=collected)

    nowhere = tmp_path / "nowhere" / "run.jsonl"
    assert_refused(
        export("--run", RUN, "--format", "jsonl", "--out", nowhere),
        "cannot be written",
        "--out",
    )
    assert_refused(export("--run", "nobody"), "There is no run")
    empty = export("--run", "other", "--format", "bundle")
    assert_refused(empty, "the bundle was not made", "other")
