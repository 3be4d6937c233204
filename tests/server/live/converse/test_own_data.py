"""Workers download and withdraw what they gave, as long as their study says."""

from collections.abc import Callable
from datetime import timedelta

import httpx2
import pytest

from server.clock import utc_now
from tests.server.support.answers import error
from tests.server.support.database import audit, execute, make_run, query
from tests.server.support.server import House, stored
from tests.server.support.study import RATINGS, SYSTEMS, pairs_text, study_text

pytestmark = pytest.mark.databases("sqlite", in_soak=["postgresql"])


def finished(url: str, serve: Callable[..., House], **settings: object) -> tuple[House, str]:
    """Return a server where Ann has finished, and her token."""
    house = serve(url, make_run(url, study_text(**settings)))
    with house.page("ann") as page:
        page.whole()
    return house, house.token("ann")


def post(house: House, what: str, token: str) -> httpx2.Response:
    return house.http("POST", f"/api/own-data/{what}", json={"token": token})


def test_a_worker_reads_what_they_gave_and_takes_it_back(url: str, serve: Callable[..., House]) -> None:
    house, token = finished(url, serve, withdrawal_days=7)
    given = post(house, "download", token)
    assert given.status_code == 200, given.text
    content = given.json()
    assert len(content["conversations"]) == 4
    first = content["conversations"][0]
    assert first["topics"] == ["the sea"]
    assert [line["who"] for line in first["lines"]] == ["you", "partner", "you", "partner"]
    assert first["ratings"] == RATINGS
    assert not any(system in given.text for system in SYSTEMS), "who the partners were stays hidden"
    assert post(house, "withdraw", token).status_code == 204
    assert (
        stored(house, "SELECT count(*) FROM rating") == stored(house, "SELECT count(*) FROM turn") == [(0,)]
    )
    assert stored(house, "SELECT extent, cause FROM removal") == [("all", "withdrawn")]
    assert stored(house, "SELECT reason FROM exclusion") == [("withdrawn by the worker",)]
    rows = stored(house, "SELECT kind, actor FROM audit_entry WHERE action = 'worker.withdraw'")
    assert rows == [("worker", "a worker")]
    assert audit(url) == []
    error(post(house, "download", token), 404, "assignment_not_found")
    with house.open(token) as page:  # they come back to their code
        assert page.snapshot["phase"] == "done"


@pytest.mark.databases("sqlite")
def test_what_a_worker_takes_back_is_in_no_file(url: str, serve: Callable[..., House]) -> None:
    house, token = finished(url, serve, withdrawal_days=7)

    def files() -> list[str]:
        return sorted(
            path.name for path in house.folder.glob("candor.db*") if b"the sea" in path.read_bytes()
        )

    assert files() != []
    assert post(house, "withdraw", token).status_code == 204
    assert files() == []


@pytest.mark.databases("sqlite", "postgresql")
def test_all_that_a_worker_can_give_is_in_what_they_read(url: str, serve: Callable[..., House]) -> None:
    house, token = finished(url, serve, withdrawal_days=7)
    ((first,), (second,), *_) = stored(house, "SELECT id FROM conversation ORDER BY position")
    ((assignment,),) = stored(house, "SELECT id FROM assignment")
    at = "2026-01-01 12:00:00.000000"
    rate = "INSERT INTO turn_rating (conversation_id, turn_index, value, created_at, client_id)"
    for value in (0, 100):  # of several the last one counts
        execute(url, f"{rate} VALUES (?, 1, ?, ?, '')", first, value, at)
    choose = "INSERT INTO choice (conversation_id, turn_index, preference, client_id, created_at)"
    for turn, preference in ((1, "left"), (3, "tie")):
        execute(url, f"{choose} VALUES (?, ?, ?, '', ?)", first, turn, preference, at)
    improve = "INSERT INTO item_edit (conversation_id, text, share, created_at) VALUES (?, 'Better.', 1.0, ?)"
    execute(url, improve, second, at)
    execute(url, "INSERT INTO quiz (conversation_id, asked_at, choice) VALUES (?, ?, 3)", second, at)
    answer = (
        "INSERT INTO tutorial_answer (assignment_id, question, answer, is_right, created_at, client_id) "
        "VALUES (?, 0, 2, ?, ?, '')"
    )
    execute(url, answer, assignment, True, at)
    report = (
        "INSERT INTO message_report (conversation_id, turn_index, reason, note, leaves, created_at, "
        "client_id, taken_back_at) VALUES (?, 1, ?, 'Rude.', ?, ?, '', ?)"
    )
    execute(url, report, second, "sexual", False, at, at)  # they took it back
    execute(url, report, second, "harm", True, at, None)
    content = post(house, "download", token).json()
    one, two = content["conversations"][:2]
    assert [line["rating"] for line in one["lines"]] == [None, 100, None, None]
    assert one["preferences"] == ["left", "tie"]
    assert (one["improved"], one["quiz"]) == (None, None)
    assert (two["improved"], two["quiz"]) == ("Better.", 3)
    assert two["reports"] == [{"line": 1, "reason": "harm", "note": "Rude.", "left": True}]
    assert content["test_answers"] == [2]


def test_a_line_has_the_time_at_which_it_was_shown(url: str, serve: Callable[..., House]) -> None:
    house, token = finished(url, serve, withdrawal_days=7)
    ((first,), *_) = stored(house, "SELECT id FROM conversation ORDER BY position")
    shown = "UPDATE turn SET show_at = ? WHERE conversation_id = ? AND turn_index = ?"
    execute(url, shown, "2026-01-01 12:00:07.000000", first, 1)
    execute(url, shown, "2226-01-01 12:00:00.000000", first, 3)
    lines = post(house, "download", token).json()["conversations"][0]["lines"]
    assert len(lines) == 3  # the reply that is not shown yet is not there
    assert lines[1]["at"] == "2026-01-01T12:00:07+00:00"


def test_of_two_side_by_side_the_faster_is_not_told_from_the_slower(
    url: str, serve: Callable[..., House]
) -> None:
    house = serve(url, make_run(url, pairs_text(withdrawal_days=7)))
    token = house.token("ann")
    with house.open(token) as page:
        page.agree()
        page.open_topic()
        for text, turn in (("Hi!", 0), ("Well?", 2)):
            page.send("say", text=text, turn=turn)
            page.until("said_by_both")
    pair = "SELECT id FROM conversation WHERE position < 3 ORDER BY position"
    (left,), (right,) = stored(house, pair)
    shown = "UPDATE turn SET show_at = ? WHERE conversation_id = ? AND turn_index = ?"
    execute(url, shown, "2026-01-01 12:00:07.000000", left, 1)
    execute(url, shown, "2026-01-01 12:00:09.000000", right, 1)
    execute(url, shown, "2226-01-01 12:00:00.000000", right, 3)
    both = [each["lines"] for each in post(house, "download", token).json()["conversations"]]
    assert [len(lines) for lines in both] == [3, 3]  # one reply is not shown yet: neither is there
    assert {lines[1]["at"] for lines in both} == {"2026-01-01T12:00:09+00:00"}
    execute(
        url, "DELETE FROM turn WHERE conversation_id = ? AND turn_index = 3", right
    )  # it has not answered
    both = [each["lines"] for each in post(house, "download", token).json()["conversations"]]
    assert [len(lines) for lines in both] == [3, 3]


@pytest.mark.databases("sqlite")
def test_its_time_is_the_studys(url: str, serve: Callable[..., House]) -> None:
    house, token = finished(url, serve, withdrawal_days=7)
    ago = (utc_now() - timedelta(days=7, minutes=1)).strftime("%Y-%m-%d %H:%M:%S.%f")
    execute(url, "UPDATE assignment SET ended_at = ?", ago)
    for what in ("download", "withdraw"):
        error(post(house, what, token), 403, "withdrawal_over")
    assert query(url, "SELECT count(*) FROM rating") == [(12,)]


@pytest.mark.databases("sqlite")
def test_without_the_setting_there_is_none(url: str, serve: Callable[..., House]) -> None:
    house, token = finished(url, serve)
    error(post(house, "withdraw", token), 403, "withdrawal_over")
    error(post(house, "withdraw", "no-token"), 401, "token_invalid")
    error(post(house, "download", house.token("bob")), 404, "assignment_not_found")
