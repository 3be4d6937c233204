"""Data removed about a worker is left nowhere; the rest can be counted, exported and analysed."""

import asyncio
import itertools
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from server.cli.worker import cli
from server.clock import utc_now
from server.db.engine import open_engine
from server.db.runs.runs import find_run
from server.db.store import Store
from server.export.hits_data import hits, hits_metadata
from server.jobs import retention
from server.jobs.exports import KeptExports
from server.jobs.retention import RetentionJob
from tests.server.support.answers import error
from tests.server.support.commands import assert_refused
from tests.server.support.database import audit, everything, execute, make_run, query
from tests.server.support.exports import made_export
from tests.server.support.page import Page
from tests.server.support.server import ID_KEY, House, stored
from tests.server.support.study import RUN, study_text

pytestmark = pytest.mark.databases("sqlite", "postgresql")
SECRET = "my cat is called Ptolemy"


@pytest.fixture
def house(url: str, serve: Callable[..., House]) -> House:
    """A server where Ann and Bob took part, and Ann said what Echo says again."""
    house = serve(url, make_run(url, study_text()))
    for worker, words in (("ann", SECRET), ("bob", "the weather")):
        with house.page(worker) as page:
            whole(page, words)
    return house


def whole(page: Page, words: str) -> None:
    page.agree()
    for number in range(4):
        page.open_topic(words)
        page.say(words)
        page.say("And you?")
        page.send("end_conversation")
        page.until("rating_due")
        page.rate("topic_due" if number < 3 else "feedback_due")
    page.send("feedback", text=words)
    page.until("completed")


def forget(house: House, **body: Any) -> dict[str, Any]:
    answer = house.desk("/workers/forget", method="POST", json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def ratings(url: str, worker: str) -> list[tuple[Any, ...]]:
    return query(
        url,
        "SELECT conversation_id, criterion, value FROM v1_rating JOIN v1_assignment USING (assignment_id) "
        "WHERE worker = ? ORDER BY 1, 2",
        worker,
    )


def exported(url: str) -> Any:
    engine = open_engine(url)
    with engine.connect() as connection:
        run = find_run(connection, RUN)
        content = {"metadata": hits_metadata(connection, run), "data": list(hits(connection, run))}
    engine.dispose()
    return content


def test_words_and_id_are_gone_and_ratings_stay(house: House) -> None:
    old = house.auth.pseudonym("link", "ann")
    given = ratings(house.url, old)
    held = house.desk("/workers/holdings", method="POST", json={"worker": "ann"}).json()
    assert held == {
        "worker": old,
        "platform": "link",
        "lists": 0,
        "assignments": 1,
        "under_way": 0,
        "conversations": 4,
        "lines": 8,
        "ratings": 12,
        "answers": 0,
    }
    assert SECRET in everything(house.url)
    add = "INSERT INTO analysis (run_id, at, basis, content) VALUES (?, ?, '', ?)"
    passes = f'{{"workers": [{{"worker": "{old}", "p": 0.01}}]}}'
    execute(house.url, add, house.runs[0].id, "2026-01-01 12:00:00.000000", passes)
    done = forget(house, worker=old.lower())
    assert done["worker"] != old
    left = everything(house.url)
    assert SECRET not in left
    assert old not in everything(house.url, "audit_entry")  # who looked whom up stays
    assert house.kept("ann") not in left
    assert "the weather" in left
    assert ratings(house.url, done["worker"]) == given != []
    content = exported(house.url)
    assert content["metadata"]["words_removed"] == 1
    assert {one["worker"] for one in content["data"]} == {
        done["worker"],
        house.auth.pseudonym("link", "bob"),
    }
    (logged,) = stored(house, "SELECT subject, detail FROM audit_entry WHERE action = 'worker.forget'")
    assert logged == (done["worker"], "words and id, of 1 assignment")
    assert stored(house, "SELECT content FROM analysis") == [(passes.replace(old, done["worker"]),)]
    assert audit(house.url) == []
    shown = house.desk(f"/runs/{RUN}/worker-ids").json()["workers"]
    assert {one["external_id"] for one in shown} == {None, "bob"}
    error(house.desk("/workers/forget", method="POST", json={"worker": "ann"}), 404, "worker_not_found")


def test_all_is_gone_and_the_counts_agree(house: House) -> None:
    before = stored(house, "SELECT count(*) FROM conversation")
    done = forget(house, worker="ann", platform="link", extent="all")
    assert ratings(house.url, done["worker"]) == []
    assert SECRET not in everything(house.url)
    assert stored(house, "SELECT count(*) FROM conversation") == before
    assert audit(house.url) == []
    assert [one["worker"] for one in exported(house.url)["data"]] == [house.auth.pseudonym("link", "bob")]
    assert stored(house, "SELECT reason FROM exclusion") == [("removed at the worker's wish",)]
    assert house.desk(f"/assignments/{done['assignments'][0]}").status_code == 200
    # Somebody new, to whom nothing leads.
    with house.page("ann") as page:
        assert page.snapshot["phase"] == "instructions"


def test_of_all_that_is_gone_it_stays_who_left_with_a_report_for_they_are_to_be_paid(house: House) -> None:
    with house.page("cleo") as page:
        page.agree()
        page.open_topic()
        page.say("Hello.")
        page.say("Again.")
        page.send("report", turn=1, reason="offensive", note=SECRET)
        page.send("report", turn=3, reason="offensive", note=SECRET, leave=True)
        code = page.until("ended")["code"]
    forget(house, worker="cleo", extent="all")
    kept = "SELECT turn_index, note, leaves FROM message_report"
    assert stored(house, kept) == [(3, "[removed]", True)]
    assert code is not None


def test_words_are_gone_where_a_partner_heard_them_and_where_others_rate_them(house: House) -> None:
    first = "SELECT conversation.id FROM conversation JOIN assignment ON assignment.id = assignment_id"
    of = f"{first} JOIN worker ON worker.id = worker_id WHERE external_id = ? ORDER BY position"
    (hers, *_), (his, quizzed, rated, _) = (
        [name for (name,) in stored(house, of, house.kept(worker))] for worker in ("ann", "bob")
    )
    at, run = "2026-01-01 12:00:00.000000", house.runs[0].id
    for here, there in ((hers, his), (his, hers)):
        pair = "INSERT INTO human_conversation (conversation_id, run_id, waiting_since, partner_id)"
        execute(house.url, f"{pair} VALUES (?, ?, ?, ?)", here, run, at, there)
    execute(house.url, "UPDATE turn SET text = ? WHERE author = 'bot' AND conversation_id = ?", SECRET, his)
    execute(house.url, "UPDATE turn SET text = 'It rains.' WHERE author = 'worker'")
    quiz = "INSERT INTO quiz (conversation_id, asked_at) VALUES (?, ?)"
    execute(house.url, quiz, quizzed, at)
    line = (
        "INSERT INTO quiz_line (conversation_id, choice, text, said_in_id, turn_index) VALUES (?, 1, ?, ?, 1)"
    )
    execute(house.url, line, quizzed, SECRET, his)
    note = "INSERT INTO note (conversation_id, kind, text, created_at) VALUES (?, 'gave_itself_away', ?, ?)"
    execute(house.url, note, his, SECRET, at)
    content = f'{{"lines": [{{"author": "bot", "text": "{SECRET}"}}]}}'
    item = (
        "INSERT INTO item (run_id, name, form, system_id, source, source_conversation_id, content) "
        "SELECT ?, 'one', 'ordinary', min(id), 'conversation', ?, ? FROM system"
    )
    execute(house.url, item, run, his, content)
    shown = "INSERT INTO shown_item (conversation_id, item_id, kind) SELECT ?, id, 'ordinary' FROM item"
    execute(house.url, shown, rated)
    edit = "INSERT INTO item_edit (conversation_id, text, share, created_at) VALUES (?, ?, 0.1, ?)"
    execute(house.url, edit, rated, f"{SECRET}!", at)
    report = (
        "INSERT INTO message_report (conversation_id, turn_index, reason, note, leaves, created_at, "
        "client_id) VALUES (?, 1, 'other', ?, ?, ?, '')"
    )
    for conversation in (hers, his, rated):  # his partner's words, and a conversation of hers
        execute(house.url, report, conversation, SECRET, False, at)
    forget(house, worker="ann")
    assert SECRET not in everything(house.url)
    assert stored(house, "SELECT DISTINCT reason, note FROM message_report") == [("other", "[removed]")]
    assert stored(
        house, "SELECT DISTINCT text FROM turn WHERE conversation_id = ? AND author = 'worker'", his
    ) == [("It rains.",)]


def test_who_is_in_a_session_is_told_that_it_has_ended(house: House) -> None:
    with house.page("cleo") as page:
        page.agree()
        page.open_topic(SECRET)
        page.say(SECRET)
        done = forget(house, worker="cleo")
        assert page.until("ended")["phase"] == "expired"
    assert SECRET not in str(
        stored(house, "SELECT text FROM turn WHERE author = 'worker' AND text LIKE '%cleo%'")
    )
    assert stored(house, "SELECT status FROM assignment WHERE id = ?", *done["assignments"]) == [("expired",)]
    words = stored(
        house,
        "SELECT DISTINCT text FROM turn JOIN conversation ON conversation.id = conversation_id "
        "WHERE assignment_id = ?",
        *done["assignments"],
    )
    assert words == [("[removed]",)]
    assert audit(house.url) == []


@pytest.mark.databases("sqlite")
def test_the_databases_file_has_nothing_left(house: House) -> None:
    path = Path(house.url.removeprefix("sqlite:///"))
    query(house.url, "PRAGMA wal_checkpoint(TRUNCATE)")
    assert SECRET.encode() in path.read_bytes()
    forget(house, worker="ann")
    query(house.url, "PRAGMA wal_checkpoint(TRUNCATE)")
    assert SECRET.encode() not in path.read_bytes()


def files_with(folder: Path, words: str) -> list[str]:
    """Return the names of the files of a folder in which words stand."""
    found = (path for path in folder.rglob("*") if path.is_file() and words.encode() in path.read_bytes())
    return sorted(path.name for path in found)


def candor_at(house: House, *arguments: object) -> Result:
    """Run `candor worker` on the installation of a server."""
    given = {"CANDOR_DATABASE_URL": house.url, "CANDOR_WORKER_ID_KEY": ID_KEY}
    return CliRunner().invoke(cli, [str(each) for each in (*arguments, "--data", house.folder)], env=given)


@pytest.mark.databases("sqlite")
def test_the_whole_folder_has_nothing_left_while_the_server_runs(house: House) -> None:
    assert files_with(house.folder, SECRET) == ["candor.db-wal"]
    forget(house, worker="ann")
    assert files_with(house.folder, SECRET) == []
    with house.page("cleo") as page:  # and it goes on, into a new log
        whole(page, "the hills")
    assert files_with(house.folder, "the hills") == ["candor.db-wal"]
    done = candor_at(house, "forget", "cleo", "--all", "--yes")
    assert (done.exit_code, done.stderr) == (0, ""), done.output
    assert files_with(house.folder, "the hills") == []
    assert "candor.db-wal" in {path.name for path in house.folder.iterdir()}


@pytest.mark.databases("sqlite")
def test_while_somebody_reads_the_log_stays_and_is_emptied_later(house: House) -> None:
    engine = open_engine(house.url)
    with engine.connect() as reader:
        assert SECRET in str(reader.exec_driver_sql("SELECT text FROM turn").all())
        forget(house, worker="ann")
        assert files_with(house.folder, SECRET) != []
        assert "Something reads the database" in candor_at(house, "forget", "bob", "--yes").stderr
    engine.dispose()
    with house.page("cleo") as page:  # the server writes
        page.agree()
    assert files_with(house.folder, SECRET) == []


@pytest.mark.databases("sqlite")
def test_the_command_says_what_there_is_and_asks(house: House) -> None:
    house.stop()
    who = ("forget", "ann")
    refused = candor_at(house, *who)
    assert_refused(refused, "This cannot be undone.", "there is no terminal to ask at", "add --yes")
    assert "8 messages, 12 ratings" in refused.stdout
    assert SECRET in everything(house.url)
    done = candor_at(house, *who, "--yes")
    assert done.exit_code == 0, done.output
    assert "Removed. The new pseudonym is W" in done.stdout
    assert SECRET not in everything(house.url)
    assert_refused(candor_at(house, *who, "--yes"), "No worker has this pseudonym or id")


@pytest.mark.databases("sqlite")
def test_an_id_that_two_platforms_know_takes_the_platform(house: House) -> None:
    add = "INSERT INTO worker (platform, external_id, pseudonym) VALUES ('prolific', ?, 'WOTHER')"
    execute(house.url, add, house.kept("ann"))
    said = error(house.desk("/workers/forget", method="POST", json={"worker": "ann"}), 409, "several_workers")
    assert "link and prolific" in said["message"]
    assert forget(house, worker="ann", platform="prolific")["assignments"] == []
    assert SECRET in everything(house.url)


def closed(url: str, serve: Callable[..., House], **retention: int) -> House:
    """Return a server whose run has two workers, and is closed."""
    house = serve(url, make_run(url, study_text(retention=retention)))
    for worker in ("ann", "bob"):
        with house.page(worker) as page:
            whole(page, SECRET)
    assert house.desk(f"/runs/{RUN}/close", method="POST").status_code == 200
    return house


async def look_after(url: str, days: float, exports_folder: Path = Path("there are none")) -> None:
    """Have the server look so many days from now."""
    store = Store(url)
    store.start()
    exports = KeptExports(store, exports_folder)
    await RetentionJob(store, exports, lambda: utc_now() + timedelta(days=days)).look()
    store.stop()


async def test_words_and_ids_have_their_time(url: str, serve: Callable[..., House]) -> None:
    house = await asyncio.to_thread(closed, url, serve, words=90, ids=30)
    limits = house.desk(f"/runs/{RUN}").json()["limits"]
    month, quarter = (f"{utc_now() + timedelta(days=days):%Y-%m-%d}" for days in (30, 90))
    assert limits["retention"] == (
        f"Words of workers are removed on {quarter}. Ids of workers are removed on {month}."
    )
    given = query(url, "SELECT conversation_id, criterion, value FROM rating ORDER BY 1, 2")
    await look_after(url, 29.9)
    assert house.kept("ann") in everything(url)
    await look_after(url, 30.1)
    left = everything(url)
    assert SECRET in left
    assert house.kept("ann") not in left
    assert house.auth.pseudonym("link", "bob") not in left
    await look_after(url, 90.1)
    assert SECRET not in everything(url)
    assert query(url, "SELECT conversation_id, criterion, value FROM rating ORDER BY 1, 2") == given != []
    await look_after(url, 1000)  # there is nothing more to do
    assert query(url, "SELECT actor, detail FROM audit_entry WHERE action = 'run.retention' ORDER BY id") == [
        ("retention of the study", "ids of 2 workers"),
        ("retention of the study", "words of 2 assignments"),
    ]
    assert exported(url)["metadata"]["words_removed"] == 2


@pytest.mark.databases("sqlite")
async def test_what_is_over_its_time_is_in_no_file_while_the_server_runs(
    url: str, serve: Callable[..., House]
) -> None:
    house = await asyncio.to_thread(closed, url, serve, words=90)
    assert files_with(house.folder, SECRET) != []
    await look_after(url, 90.1)
    assert files_with(house.folder, SECRET) == []


def withdraw(house: House) -> float:
    """Have Ann withdraw what she gave; return after how many days to look."""
    gone = house.http("POST", "/api/own-data/withdraw", json={"token": house.token("ann")})
    assert gone.status_code == 204, gone.text
    return 0


def forget_ann(house: House) -> float:
    """Forget Ann; return after how many days to look."""
    forget(house, worker="ann")
    return 0


def close(house: House) -> float:
    """Close the run; return after how many days its words are over their time."""
    assert house.desk(f"/runs/{RUN}/close", method="POST").status_code == 200
    return 90.1


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize("remove", [forget_ann, withdraw, close])
def test_what_was_removed_is_in_no_file_of_the_folder_either_where_it_was_exported(
    url: str, serve: Callable[..., House], remove: Callable[[House], float]
) -> None:
    """In the database, its log, files beside them, and the exports that the server keeps."""
    house = serve(url, make_run(url, study_text(withdrawal_days=7, retention={"words": 90})))
    with house.page("ann") as page:
        whole(page, SECRET)
    assert made_export(house)["status"] == "done"
    assert any(name.startswith("candor.db") for name in files_with(house.folder, SECRET))
    assert files_with(house.folder / "exports", SECRET) != []
    asyncio.run(look_after(url, remove(house), house.folder / "exports"))
    assert files_with(house.folder, SECRET) == []


async def test_a_list_of_who_may_not_come_goes_with_the_ids_of_its_run(
    url: str, serve: Callable[..., House]
) -> None:
    house = await asyncio.to_thread(closed, url, serve, ids=30)
    house.runs.append(make_run(url, study_text(name="tidepool"), slug="second"))
    house.stop()
    house.start()
    for run, workers in ((RUN, ["eve"]), ("second", ["ann", "eve"])):
        changed = house.desk(f"/runs/{run}/rules", method="PUT", json={"excluded_workers": workers})
        assert changed.status_code == 200, changed.text
    await look_after(url, 29.9)
    assert query(url, "SELECT count(*) FROM excluded_worker") == [(3,)]
    await look_after(url, 30.1)
    left = query(url, "SELECT slug, external_id FROM excluded_worker JOIN run ON run.id = run_id ORDER BY 2")
    assert left == sorted((("second", house.kept(name)) for name in ("ann", "eve")), key=lambda row: row[1])
    said = query(url, "SELECT detail FROM audit_entry WHERE action = 'run.retention' ORDER BY id")
    assert said == [("ids of 2 workers",), ("its list of 1 who might not come",)]


async def test_what_is_removed_notes_when_that_was_and_not_when_the_look_began(
    url: str, serve: Callable[..., House], monkeypatch: pytest.MonkeyPatch
) -> None:
    await asyncio.to_thread(closed, url, serve, words=0)
    monkeypatch.setattr(retention, "_AT_ONCE", 1)  # so that each assignment is a transaction of its own
    hours = (utc_now() + timedelta(hours=hour) for hour in itertools.count(1))
    store = Store(url)
    store.start()
    await RetentionJob(store, KeptExports(store, Path("there are none")), lambda: next(hours)).look()
    store.stop()
    assert query(url, "SELECT count(DISTINCT at) FROM removal") == [(2,)]


async def test_an_id_that_another_study_needs_stays(url: str, serve: Callable[..., House]) -> None:
    house = await asyncio.to_thread(closed, url, serve, ids=0)
    house.runs.append(make_run(url, study_text(name="tidepool"), slug="second"))
    house.stop()
    house.start()
    joined = house.join("ann", run="second").json()
    with house.open(joined["token"]) as page:
        page.agree()
    await look_after(url, 1)
    assert house.kept("ann") in everything(url)
    assert house.kept("bob") not in everything(url)
    execute(url, "UPDATE run SET status = 'closed', closed_at = NULL WHERE slug = 'second'")
    await look_after(url, 1000)
    assert house.kept("ann") in everything(url)  # the other study keeps ids
    assert SECRET in everything(url)
