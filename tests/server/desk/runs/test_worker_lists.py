"""Lists of a run's workers, over the API: personal links, credits, and ids beside pseudonyms."""

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from typer.testing import CliRunner

from server.access import tokens
from server.access.auth import key_file, make_secrets
from server.cli.command_line import cli
from server.db.engine import open_engine
from server.export.spreadsheet import csv_table
from server.recruiters.stand_in.serving import serving
from tests.server.support.answers import error
from tests.server.support.commands import assert_refused
from tests.server.support.credits import make_course
from tests.server.support.server import ID_KEY, House, stored
from tests.server.support.sona import SonaStandIn
from tests.server.support.study import AT, RUN
from tests.support.waiting import wait_until


def links(house: House, workers: str) -> dict[str, str]:
    answer = house.desk(f"/runs/{RUN}/links.csv", method="POST", json={"workers": workers})
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Disposition"] == 'attachment; filename="links.csv"'
    return {row["worker"]: row["link"] for row in csv.DictReader(answer.text.splitlines())}


def come(house: House, link: str) -> str:
    query = {name: values[0] for name, values in parse_qs(urlsplit(link).query).items()}
    joined = house.join(query["worker"], signature=query["signature"])
    assert joined.status_code == 200, joined.text
    return str(joined.json()["token"])


def test_a_link_that_is_used_twice_leads_to_one_place(house: House) -> None:
    found = links(house, "name,worker\nA,ann\nB,bob\n")
    assert list(found) == ["ann", "bob"]
    assert links(house, "ann")["ann"] == found["ann"]
    for _ in range(2):  # in two browsers: neither brings what the other remembers
        with house.open(come(house, found["ann"])) as page:
            if page.snapshot["phase"] == "instructions":
                page.agree()
            assert page.snapshot["phase"] in {"instructions", "topic"}
    assert stored(house, "SELECT count(*) FROM assignment") == [(1,)]


def test_a_list_may_be_long_though_other_requests_may_not(house: House) -> None:
    workers = [f"participant-{number:012}" for number in range(20_000)]
    assert list(links(house, "\n".join(workers))) == workers
    path, longer = f"/runs/{RUN}/links.csv", {"workers": "x" * 2_100_000}
    assert house.desk(path, method="POST", json=longer).status_code == 413
    reason = {"reason": "x" * 70_000}
    assert house.desk(f"/runs/{RUN}/pause", method="POST", json=reason).status_code == 413


@pytest.mark.parametrize(
    ("workers", "said"),
    [
        ("", "it contains no worker"),
        ("ann\nbob\nann", "line 3: the worker “ann” is in line 1 already"),
        ("name,mail\nA,b", "none is named “worker”"),
        ("a\x07b", "line 1: this is not a valid worker's id"),
    ],
)
def test_a_list_with_a_mistake_says_where_it_is(house: House, workers: str, said: str) -> None:
    answer = house.desk(f"/runs/{RUN}/links.csv", method="POST", json={"workers": workers})
    assert said in error(answer, 422, "worker_list_invalid")["message"]


def test_links_are_to_a_run_that_is_there(house: House) -> None:
    answer = house.desk("/runs/nowhere/links.csv", method="POST", json={"workers": "ann"})
    assert answer.status_code == 404


@pytest.fixture
def course(url: str, serve: Callable[..., House]) -> Iterator[House]:
    """A server over a run whose students come from SONA, which knows all of them by now."""
    with serving(SonaStandIn(students={"late", "refused"}).app) as sona:
        house = serve(url, make_course(url), sona_url=sona)
        yield house
        house.stop()


def test_what_is_not_granted_is_shown_with_the_reason(course: House) -> None:
    shown = course.desk(f"/runs/{RUN}/credits").json()
    assert shown["asked_by_server"] is True
    found = {credit.pop("worker"): credit for credit in shown["credits"]}
    assert [found[name]["status"] for name in ("W-granted", "W-refused")] == ["granted", "refused"]
    assert found["W-refused"]["reason"] == "SONA says: [no]"
    assert found["W-refused"]["tried_at"] == AT.isoformat().replace("+00:00", "Z")


def test_the_server_asks_as_soon_as_it_runs(course: House) -> None:
    def late() -> str:
        found = course.desk(f"/runs/{RUN}/credits").json()["credits"]
        return str(next(credit["status"] for credit in found if credit["worker"] == "W-late"))

    wait_until(lambda: late() == "granted", "the credit")


def test_refused_ones_can_be_asked_for_again(course: House) -> None:
    answer = course.desk(f"/runs/{RUN}/credits/again", method="POST")
    assert answer.status_code == 200, answer.text
    assert "refused" not in {credit["status"] for credit in answer.json()["credits"]}
    (log,) = stored(course, "SELECT detail FROM audit_entry WHERE action = 'run.credits_again'")
    assert log == ("1 refused credits",)


def test_a_run_without_such_credits(house: House) -> None:
    assert house.desk(f"/runs/{RUN}/credits").json() == {"asked_by_server": False, "credits": []}
    error(house.desk("/runs/nowhere/credits"), 404, "run_not_found")


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
    assert_refused(CliRunner().invoke(cli, command, env=database), "There is no", "worker-ids.key")
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
