"""Tests of researchers' interventions in sessions under way, on the workers' pages and in the tables."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from qc.loading import load
from server.bots.lineup import OpenRun
from server.live.converse.sessions import LiveSessions
from tests.server.support.bots import Gated
from tests.server.support.database import make_run
from tests.server.support.server import House, stored
from tests.server.support.study import RUN
from tests.support.redis_server import RedisServer

pytestmark = pytest.mark.databases("sqlite", in_soak=["postgresql"])


def assignment_of(house: House) -> str:
    """Return the assignment that was made last."""
    ((assignment,),) = stored(house, "SELECT id FROM assignment ORDER BY created_at DESC LIMIT 1")
    return str(assignment)


def act(house: House, method: str, path: str, **body: str) -> int:
    return house.desk(path, method=method, **({"json": body} if body else {})).status_code


def logged(house: House) -> list[str]:
    return [action for (action,) in stored(house, "SELECT action FROM audit_entry ORDER BY id")]


def test_a_released_place_is_free_and_its_page_says_so(house: House) -> None:
    with house.page("ann") as page:
        page.agree()
        released = assignment_of(house)
        assert act(house, "POST", f"/assignments/{released}/release") == 204
        assert page.until("ended")["phase"] == "expired"
    with house.page("bob") as page:
        page.agree()
    assert stored(house, "SELECT place, status FROM assignment ORDER BY created_at") == [
        (0, "expired"),
        (0, "active"),
    ]
    assert act(house, "POST", f"/assignments/{released}/release") == 409
    assert logged(house) == ["assignment.release"]


def test_words_reach_the_page_and_every_later_one(house: House) -> None:
    with house.page("ann") as page:
        page.agree()
        ann = assignment_of(house)
        assert act(house, "POST", f"/assignments/{ann}/message", text="Take your time.") == 204
        assert page.until("notice")["text"] == "Take your time."
        assert act(house, "POST", f"/runs/{RUN}/message", text="We are back.") == 204
        assert page.until("notice")["text"] == "We are back."
    with house.page("ann") as page:
        assert [page.until("notice")["text"] for _ in range(2)] == ["Take your time.", "We are back."]
    with house.page("bob") as page:
        page.agree()  # what was told to all before is nothing to them
        page.open_topic()
        assert not [message for message in page.heard if message["type"] == "notice"]
    assert logged(house) == ["assignment.message", "run.message"]


@pytest.mark.parametrize("opens", ["_begin", "_take_over"])
def test_words_that_come_while_a_session_is_opened_are_shown(
    url: str, run: OpenRun, serve: Callable[..., House], monkeypatch: pytest.MonkeyPatch, opens: str
) -> None:
    """They are stored as the worker's own, behind what was read, and the session cannot hear them yet."""
    house, as_ever = serve(url, run), getattr(LiveSessions, opens)

    async def told_behind(*arguments: Any) -> Any:
        read = await as_ever(*arguments)
        tell = partial(act, house, "POST", f"/runs/{RUN}/message", text="We are back.")
        assert await asyncio.to_thread(tell) == 204
        return read

    if opens == "_take_over":
        serve(url, run).enrolled("ann")  # at another process
    monkeypatch.setattr(LiveSessions, opens, told_behind)
    with house.page("ann") as page:
        if opens == "_begin":
            page.agree()
        page.open_topic()
    assert [message["text"] for message in page.heard if message["type"] == "notice"] == ["We are back."]


def test_a_conversation_is_ended_kindly(house: House) -> None:
    with house.page("ann") as page:
        page.agree()
        path = f"/assignments/{assignment_of(house)}/end-conversation"
        assert act(house, "POST", path, why="Too early.") == 409
        page.open_topic()
        page.say("Hello there.")
        assert act(house, "POST", path, why="It repeats itself. Please rate it as it is.") == 204
        page.until("rating_due")
        assert page.until("notice")["text"].startswith("It repeats itself.")
        page.rate()
    assert stored(house, "SELECT kind, text FROM note") == [
        ("ended_by_researcher", "It repeats itself. Please rate it as it is.")
    ]
    assert logged(house) == ["assignment.end_conversation"]


@pytest.mark.databases("sqlite")
def test_a_worker_without_a_page_finds_the_conversation_ended(house: House) -> None:
    with house.page("ann") as page:
        page.agree()
        page.open_topic()
        page.say("Hello there.")
        path = f"/assignments/{assignment_of(house)}/end-conversation"
    assert act(house, "POST", path, why="You were away.") == 204
    with house.page("ann") as page:
        assert page.snapshot["phase"] == "rating"
        assert page.until("notice")["text"] == "You were away."


@pytest.mark.databases("sqlite")
def test_a_reply_that_is_awaited_is_dropped(url: str, serve: Callable[..., House]) -> None:
    """The bot answers once, then hangs: the worker need not wait for it."""
    bot = Gated()
    house = serve(url, make_run(url, bots=bot))
    bot.gate.set()
    with house.page("ann") as page:
        page.agree()
        page.open_topic()
        page.say("Hello there.")
        bot.gate.clear()
        page.send("say", text="And then?")
        page.until("typing")
        path = f"/assignments/{assignment_of(house)}/end-conversation"
        assert act(house, "POST", path, why="It hangs.") == 204
        page.until("rating_due")
        bot.gate.set()
        page.rate()


@pytest.mark.services
def test_it_works_through_another_process(
    url: str, run: OpenRun, serve: Callable[..., House], redis: RedisServer
) -> None:
    """The page is connected to one server, the desk to another: the page keeps its connection."""
    one, other = (serve(url, run, redis_url=redis.url) for _ in range(2))
    with one.page("ann") as page:
        page.agree()
        page.open_topic()
        page.say("Hello there.")
        ann = assignment_of(one)
        assert act(other, "POST", f"/assignments/{ann}/end-conversation", why="Enough.") == 204
        page.until("rating_due")
        assert page.until("notice")["text"] == "Enough."
        page.rate()
        assert act(other, "POST", f"/assignments/{ann}/release") == 204
        assert page.until("ended")["phase"] == "expired"


@pytest.mark.databases("sqlite", "postgresql")
def test_an_excluded_assignment_is_in_no_analysis_until_it_is_taken_back(house: House, url: str) -> None:
    for worker in ("ann", "bob"):
        with house.page(worker) as page:
            page.whole()
    path = f"/assignments/{assignment_of(house)}/exclusion"
    assert act(house, "PUT", path, reason="They told us that they guessed.") == 204
    run = load(url)
    assert len(run.assignments) == 1
    reasons = [out.reason for out in run.left_out]
    assert reasons == ["excluded by the researchers: They told us that they guessed."]
    assert any("1 assignment is excluded" in note for note in run.notes)
    (row,) = [row for row in house.desk(f"/runs/{RUN}").json()["workers"] if row["excluded"]]
    assert row["excluded"] == "They told us that they guessed."
    assert act(house, "DELETE", path) == 204
    assert len(load(url).assignments) == 2
    assert logged(house) == ["assignment.exclude", "assignment.include"]
