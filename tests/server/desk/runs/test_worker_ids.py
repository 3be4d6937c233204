"""Whom a pseudonym stands for: told to owners and researchers, in the API and in a file."""

import csv
from pathlib import Path

from typer.testing import CliRunner

from server.access import tokens
from server.access.auth import make_secrets
from server.access.id_keys import key_file
from server.cli.command_line import cli
from server.db.engine.engines import open_engine
from server.export.spreadsheet import csv_table
from tests.server.support.commands import assert_refused
from tests.server.support.server import ID_KEY, House
from tests.server.support.study import AT

FIELDS = ["worker", "external_id", "platform", "visit", "assignment", "status", "completion_code"]


def test_a_workers_id_can_be_got_back_by_pseudonym_and_the_other_way_round(house: House) -> None:
    with house.page("PID-4711") as page:
        page.whole()
    house.enrolled("=cmd|'/c calc'!A1")
    run = house.runs[0].slug
    pseudonym = house.auth.pseudonym("link", "PID-4711")
    shown = house.desk(f"/runs/{run}").json()["workers"]
    assert pseudonym in {row["worker"] for row in shown}
    assert "PID-4711" not in str(shown)
    for sought in (f"worker={pseudonym.lower()}", "external_id=PID-4711"):
        (found,) = house.desk(f"/runs/{run}/worker-ids?{sought}").json()["workers"]
        assert (found["worker"], found["external_id"], found["status"]) == (
            pseudonym,
            "PID-4711",
            "completed",
        )
        assert found["completion_code"] == house.auth.completion_code(found["assignment"])
    assert house.desk(f"/runs/{run}/worker-ids?worker=W000").json() == {"workers": []}
    table = list(csv.reader(house.desk(f"/runs/{run}/worker-ids.csv").text.splitlines()))
    assert table[0] == FIELDS
    # What a spreadsheet would compute is text; of who has not finished there is no code.
    assert [row[1] for row in table[1:]] == ["PID-4711", "'=cmd|'/c calc'!A1"]
    assert table[2][5:] == ["active", ""]


def test_whoever_looks_is_in_the_log(house: House) -> None:
    house.enrolled("ann")
    run = house.runs[0].slug
    house.desk(f"/runs/{run}/worker-ids?external_id=ann")
    house.desk(f"/runs/{run}/worker-ids")
    rows = house.desk("/audit?action=worker_ids").json()["entries"]
    pseudonym = house.auth.pseudonym("link", "ann")
    assert [(row["subject"], row["detail"]) for row in rows] == [(run, "everybody's"), (run, pseudonym)]
    assert "external_id" not in str(rows)


def test_an_analyst_reads_pseudonyms_only(house: House) -> None:
    house.enrolled("PID-4711")
    engine = open_engine(house.url, begin="BEGIN IMMEDIATE")
    with engine.begin() as connection:
        analyst = tokens.new(connection, "ana", "analyst", AT)
    engine.dispose()
    run = house.runs[0].slug
    row = house.desk(f"/runs/{run}", analyst).json()["workers"][0]
    assert house.desk(f"/assignments/{row['assignment']}", analyst).status_code == 200
    for path in (f"/runs/{run}/worker-ids", f"/runs/{run}/worker-ids?external_id=PID-4711"):
        refused = house.desk(path, analyst)
        assert refused.status_code == 403
        assert "PID-4711" not in refused.text


def test_ids_are_exported_where_the_database_is(house: House, tmp_path: Path) -> None:
    house.enrolled("PID-4711")
    make_secrets(house.folder)
    out = tmp_path / "ids.csv"
    given = ["data", "export", "--run", house.runs[0].slug, "--worker-ids", "--out", str(out), "--data"]
    command = [*given, str(house.folder)]
    database = {"CANDOR_DATABASE_URL": house.url}
    assert_refused(CliRunner().invoke(cli, command, env=database), "there is no", "worker-ids.key")
    assert not key_file(house.folder).exists()
    key_file(house.folder).write_text("k" * 32)
    assert_refused(CliRunner().invoke(cli, command, env=database), "under another key")
    assert not out.exists()
    done = CliRunner().invoke(cli, command, env=database | {"CANDOR_WORKER_ID_KEY": ID_KEY})
    assert done.exit_code == 0, done.output
    assert [row["external_id"] for row in csv.DictReader(out.read_text().splitlines())] == ["PID-4711"]
    assert house.desk("/audit?action=worker_ids").json()["entries"][0]["actor"] == "command line"


def test_no_cell_of_a_table_is_a_formula_where_a_semicolon_separates_cells_either() -> None:
    table = csv_table(["id", "code"], [["w1;=1+1;", "x"], ["\uff1d1+1", ";-)"], ["a;b", None]])
    assert table.splitlines()[1:] == ["w1;'=1+1;,x", "'\uff1d1+1,;'-)", "a;b,"]
