"""Exports from the desk: begun, watched, downloaded in parts, given up, and removed in time."""

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from qc.loading import load
from server.clock import utc_now
from server.db.store import Store
from server.jobs.background import FileLinks
from server.jobs.exports import KeptExports
from tests.server.support.answers import error
from tests.server.support.database import execute, make_run, query
from tests.server.support.exports import exports, made_export
from tests.server.support.server import House
from tests.server.support.study import RUN


@pytest.fixture(scope="module")
def rated(migrated: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A server with a run that two people have rated, and one that nobody has."""
    folder = tmp_path_factory.mktemp("exports")
    (folder / "candor.db").write_bytes(migrated.read_bytes())
    url = f"sqlite:///{folder / 'candor.db'}"
    house = House(url, [make_run(url), make_run(url, slug="empty")], folder)
    house.start()
    for worker in ("ann", "ben"):
        with house.page(worker) as page:
            page.whole()
    yield house
    house.stop()


@pytest.fixture(scope="module")
def exported(rated: House) -> dict[str, Any]:
    """An export that is done."""
    return made_export(rated, "jsonl")


@pytest.fixture
async def kept(rated: House) -> AsyncIterator[KeptExports]:
    """The exports of this server, as it looks at them itself."""
    store = Store(rated.url)
    store.start()
    yield KeptExports(store, rated.folder / "exports")
    store.stop()


def test_an_export_is_downloaded(rated: House, exported: dict[str, Any], tmp_path: Path) -> None:
    assert exported["status"] == "done", exported
    assert exported["options"] == {"format": "jsonl"}
    assert exported["done"] == exported["total"] > 0
    (file,) = exported["files"]
    assert file["name"] == f"{RUN}.jsonl"
    whole = rated.http("GET", file["path"])
    assert whole.headers["content-disposition"] == f'attachment; filename="{RUN}.jsonl"'
    assert len(whole.content) == file["bytes"]
    path = tmp_path / "run.jsonl"
    path.write_bytes(whole.content)
    # Not compared with the database here: who closes its file in the server's own process ends its locks.
    assert len(load(path).assignments) == 2
    outcome = rated.desk(f"/runs/{RUN}/jobs/{exported['job']}").json()
    assert outcome["files"][0]["bytes"] == file["bytes"]


def test_a_download_that_broke_off_goes_on(rated: House, exported: dict[str, Any]) -> None:
    (file,) = exported["files"]
    whole = rated.http("GET", file["path"])
    rest = {"Range": "bytes=100-", "If-Range": whole.headers["etag"]}
    part = rated.http("GET", file["path"], headers=rest)
    assert part.status_code == 206
    assert whole.content[:100] + part.content == whole.content
    other = rated.http("GET", file["path"], headers=rest | {"If-Range": '"another file"'})
    assert (other.status_code, other.content) == (200, whole.content)


def test_why_there_is_no_export(rated: House) -> None:
    bundle = made_export(rated, "bundle", "empty")
    assert bundle["status"] == "failed"
    assert bundle["error"].startswith("the bundle was not made: ")
    assert "empty" in bundle["error"]
    assert not (rated.folder / "exports" / bundle["job"]).exists()
    assert rated.desk(f"/runs/{RUN}/exports", method="POST", json={"format": "xml"}).status_code == 422
    unknown = rated.desk("/runs/nowhere/exports", method="POST", json={"format": "csv"})
    assert unknown.json()["error"]["code"] == "run_not_found"


def test_an_export_can_be_given_up_and_one_is_made_at_a_time(rated: House) -> None:
    first = rated.desk(f"/runs/{RUN}/exports", method="POST", json={"format": "bundle"}).json()
    again = rated.desk(f"/runs/{RUN}/exports", method="POST", json={"format": "csv"})
    assert again.json()["error"]["code"] == "job_under_way"
    cancelled = rated.desk(f"/runs/{RUN}/jobs/{first['job']}/cancel", method="POST")
    assert cancelled.json()["status"] == "cancelled"
    assert not (rated.folder / "exports" / first["job"]).exists()
    actions = [action for (action,) in query(rated.url, "SELECT action FROM audit_entry ORDER BY id")]
    assert {"run.export", "export.cancel"} <= set(actions)


def test_a_link_opens_the_files_of_its_own_kind(rated: House, exported: dict[str, Any]) -> None:
    job = exported["job"]
    assert rated.http("GET", f"/exports/made-up/{RUN}.jsonl").status_code == 401
    links = FileLinks(rated.auth.secret)
    assert rated.http("GET", f"{links.link('export', job)}{RUN}.jsonl").status_code == 200
    signed = links.link("report", job).split("/")[2]
    assert rated.http("GET", f"/exports/{signed}/{RUN}.jsonl").status_code == 401
    assert rated.http("GET", f"{links.link('export', 'no-such-job')}{RUN}.jsonl").status_code == 404


async def test_files_are_removed_in_time(rated: House, exported: dict[str, Any], kept: KeptExports) -> None:
    left = kept.files.folder("of-a-killed-process")
    left.mkdir()
    await kept.remove_old(utc_now())
    assert kept.files.jobs() == {exported["job"]}
    # What was removed of a worker is in no file that is kept.
    gone = rated.desk("/workers/forget", method="POST", json={"worker": "ann", "extent": "words"})
    assert gone.status_code == 200, gone.text
    # It is given out no more at once: not in the list, nor by a link from before.
    assert kept.files.jobs() == {exported["job"]}
    assert not [each for each in exports(rated) if each["status"] == "done"]
    refused = error(rated.http("GET", exported["files"][0]["path"]), 404, "job_not_found")
    assert refused["message"] == "Data of a worker were removed since this export was made"
    # Nor is one that was begun so shortly after it that it may have read what was removed.
    during = made_export(rated, "csv")
    assert during["error"] == "Data of a worker were removed meanwhile. Export the run again in a minute."
    await kept.remove_old(utc_now())
    assert kept.files.jobs() == set()
    execute(rated.url, "UPDATE removal SET at = '2026-01-01 00:00:00.000000'")
    later = made_export(rated, "csv")["job"]
    await kept.remove_old(utc_now())
    assert kept.files.jobs() == {later}
    assert [each["job"] for each in exports(rated) if each["status"] == "done"] == [later]
    await kept.remove_old(utc_now() + timedelta(days=6.9))
    assert kept.files.jobs() == {later}
    await kept.remove_old(utc_now() + timedelta(days=7.1))
    assert kept.files.jobs() == set()
    assert exports(rated) == []
