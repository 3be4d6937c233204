"""Reports from the desk: begun, watched, read and downloaded over HTTP, by a real child process."""

import io
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest

from server.jobs.background import FileLinks
from tests.server.support.answers import error
from tests.server.support.database import make_run, query
from tests.server.support.server import House
from tests.server.support.study import RUN, study_text
from tests.support.waiting import wait_until

OTHER = "other"  # a run of another study
OVER = {"done", "failed", "cancelled"}


@pytest.fixture(scope="module")
def rated(migrated: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A server with a run that three people have rated, one that nobody has, and one of another study."""
    folder = tmp_path_factory.mktemp("rated")
    (folder / "candor.db").write_bytes(migrated.read_bytes())
    url = f"sqlite:///{folder / 'candor.db'}"
    elsewhere = make_run(url, study_text(name="tidepool"), slug=OTHER)
    runs = [make_run(url), make_run(url, slug="empty"), elsewhere]
    house = House(url, runs, folder, {"kept_reports": 2})
    house.start()
    for run in (RUN, OTHER):
        for worker in ("ann", "ben", "cleo"):
            with house.open(str(house.join(worker, run=run).json()["token"])) as page:
                page.whole()
    yield house
    house.stop()


def reports(house: House, run: str = RUN) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = house.desk(f"/runs/{run}/reports").json()["reports"]
    return found


def made(house: House, run: str = RUN, **options: Any) -> dict[str, Any]:
    """Have a report made; return it once it is over."""
    answer = house.desk(f"/runs/{run}/reports", method="POST", json=options)
    assert answer.status_code == 202, answer.text
    job = answer.json()["job"]

    def latest() -> dict[str, Any]:
        found: dict[str, Any] = house.desk(f"/runs/{run}/jobs/{job}").json()
        return found

    wait_until(lambda: latest()["status"] in OVER, "the report")
    return latest()


def given_up(house: House) -> dict[str, Any]:
    """Begin a report and give it up; return it. Meanwhile there is no second one."""
    first = house.desk(f"/runs/{RUN}/reports", method="POST", json={}).json()
    again = house.desk(f"/runs/{RUN}/reports", method="POST", json={})
    assert again.json()["error"]["code"] == "job_under_way"
    cancelled: dict[str, Any] = house.desk(f"/runs/{RUN}/jobs/{first['job']}/cancel", method="POST").json()
    return cancelled


def test_a_report_from_its_beginning_to_the_download(rated: House) -> None:
    report = made(rated, alpha=0.5, reward=2.5)
    assert report["status"] == "done", report
    assert "|alpha=0.5|" in report["signature"]
    paths = {file["name"]: file["path"] for file in report["files"]}
    assert {"report.html", "report.xlsx", "report.json", "signature.txt", "report.zip"} <= paths.keys()
    page = rated.http("GET", paths["report.html"])
    assert page.headers["content-type"].startswith("text/html")
    policy = page.headers["content-security-policy"]
    assert policy.startswith("sandbox; default-src 'none'")
    assert policy.endswith("base-uri 'none'; form-action 'none'")
    assert "quokka_plain" in page.text
    archive = zipfile.ZipFile(io.BytesIO(rated.http("GET", paths["report.zip"]).content))
    assert set(archive.namelist()) == paths.keys() - {"report.zip"}
    kit = zipfile.ZipFile(io.BytesIO(rated.http("GET", paths["paper.zip"]).content))
    assert {"paper.tex", "scores.tex", "datasheet.md"} <= set(kit.namelist())
    sheet = rated.http("GET", paths["report.xlsx"])
    assert sheet.headers["content-disposition"].startswith("attachment")
    assert reports(rated)[0]["job"] == report["job"]
    assert reports(rated)[0]["options"]["alpha"] == 0.5


def test_why_there_is_no_report(rated: House) -> None:
    report = made(rated, run="empty")
    assert report["status"] == "failed"
    assert "empty" in report["error"] or "no " in report["error"]
    assert report["files"] == []
    refused = rated.desk("/runs/harbour/reports", method="POST", json={"alpha": 2})
    assert refused.status_code == 422
    unknown = rated.desk("/runs/harbour/reports", method="POST", json={"replicate": "nowhere"})
    assert unknown.json()["error"]["code"] == "run_not_found"


def test_a_run_is_correlated_with_by_those_only_who_may_see_its_scores(rated: House) -> None:
    analyst, before = rated.token_in("lighthouse", "analyst"), reports(rated, "empty")
    for replicate in (OTHER, "nowhere"):
        asked = rated.desk("/runs/empty/reports", analyst, method="POST", json={"replicate": replicate})
        error(asked, 403, "not_allowed")
    assert reports(rated, "empty") == before
    own = rated.desk("/runs/empty/reports", analyst, method="POST", json={"replicate": RUN})
    assert own.status_code == 202, own.text
    wait_until(lambda: reports(rated, "empty")[0]["status"] in OVER, "the report")


def test_a_report_is_correlated_with_a_run_of_another_study(rated: House) -> None:
    report = made(rated, alpha=0.5, replicate=OTHER)
    assert report["status"] == "done", report
    (path,) = (file["path"] for file in report["files"] if file["name"] == "report.json")
    assert rated.http("GET", path).json()["replication"] is not None


def test_a_link_opens_one_report_and_no_other_file(rated: House) -> None:
    assert rated.http("GET", "/reports/made-up/report.html").status_code == 401
    link = FileLinks(rated.auth.secret).link("report", "no-such-job")
    assert rated.http("GET", f"{link}report.html").status_code == 404


def test_a_report_can_be_given_up_and_one_is_made_at_a_time(rated: House) -> None:
    cancelled = given_up(rated)
    assert cancelled["status"] == "cancelled"
    elsewhere = rated.desk(f"/runs/empty/jobs/{cancelled['job']}")
    assert elsewhere.json()["error"]["code"] == "job_not_found"


def test_the_newest_are_kept(rated: House) -> None:
    older = [given_up(rated)["job"] for _ in range(2)]
    newest = made(rated, alpha=0.01)
    assert newest["status"] == "done"
    listed = reports(rated)
    assert [each["job"] for each in listed] == [newest["job"], older[-1]]
    folders = {path.name for path in (rated.folder / "reports").iterdir()}
    assert newest["job"] in folders
    assert folders <= {each["job"] for each in listed}


def test_who_did_it_is_in_the_log(rated: House) -> None:
    given_up(rated)
    actions = [action for (action,) in query(rated.url, "SELECT action FROM audit_entry ORDER BY id")]
    assert {"run.report", "report.cancel"} <= set(actions)
