"""Tests of ownership of live sessions: pages, processes, and changes stored by another process."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from server.errors import AssignmentNotFound, WrongPhase
from server.live.arrive.enrolment import FIRST_FENCE, ArrivingWorker, Enrolment, enrol
from server.live.converse.live_session import LiveSession, utc_now
from server.live.converse.sessions import NewSession
from server.recruiters.arrival import Arrival
from server.session.events import FromWorker
from server.session.protocol import Ended, client_messages
from server.session.records import WorkerSaid
from server.session.state import Phase
from tests.server.support.bots import Gated
from tests.server.support.database import query
from tests.server.support.stage import RecordingPage, Stage
from tests.support.waiting import until

pytestmark = pytest.mark.databases("sqlite", in_soak=["postgresql"])


async def test_a_later_page_takes_over_and_the_earlier_one_is_told(staged: Callable[..., Stage]) -> None:
    stage = staged()
    assignment = await stage.enrolment()
    session, first = await stage.open(assignment)
    again, second = await stage.open(assignment)
    assert again is session
    assert (first.types(), first.closed) == (["snapshot", "taken_over"], True)
    await stage.send(session, first, "agree")  # of the earlier page: unheard
    assert session.state.phase is Phase.INSTRUCTIONS
    await stage.send(session, second, "agree")
    assert second.types() == ["snapshot", "topic_due", "accepted"]
    assert first.types() == ["snapshot", "taken_over"]
    session.detach(first)  # its adapter ends: the later page keeps the session
    await stage.send(session, second, "leave")
    assert second.types()[-2:] == ["ended", "accepted"]


async def test_a_session_is_loaded_once_however_many_open_it(staged: Callable[..., Stage]) -> None:
    stage = staged()
    assignment = await stage.enrolment()
    sessions = await asyncio.gather(*(stage.live.open(assignment) for _ in range(8)))
    assert len(set(map(id, sessions))) == 1


async def test_a_session_released_while_others_open_it_still_has_one_owner(
    staged: Callable[..., Stage],
) -> None:
    stage = staged()
    assignment = await stage.enrolment()

    async def visit() -> LiveSession:
        session = await stage.live.open(assignment)
        stage.live.release(assignment)  # the page has gone before it was served
        return session

    async def stay() -> LiveSession:
        return await stage.live.open(assignment)

    first = asyncio.create_task(visit())
    await asyncio.sleep(0)
    second = asyncio.create_task(stay())
    await first
    third = asyncio.create_task(stay())
    assert await second is await third


async def test_news_of_an_earlier_owner_does_not_touch_the_session(staged: Callable[..., Stage]) -> None:
    stage = staged()
    assignment = await stage.enrolment()
    session = await stage.live.open(assignment)
    another = await stage.enrolment("bob")
    await stage.live.open(another)
    stage.live.tell_changed(assignment, session.fence - 1)  # it was under way while this one took over
    stage.live.tell_changed(another)
    # Whoever is looked at again, and has no page, is forgotten: a look at the first would be over before.
    await until(lambda: stage.live.held(another) is None)
    assert stage.live.held(assignment) is session


async def test_an_unknown_assignment_cannot_be_opened(staged: Callable[..., Stage]) -> None:
    stage = staged()
    with pytest.raises(AssignmentNotFound):
        await stage.live.open("nothing")


async def test_an_abandoned_session_is_forgotten(staged: Callable[..., Stage]) -> None:
    stage = staged()
    assignment = await stage.enrolment()
    session, page = await stage.open(assignment)
    session.detach(page)
    stage.live.release(assignment)
    assert len(stage.live) == 0


async def test_a_session_abandoned_while_the_bot_thinks_is_forgotten_once_it_has_answered(
    staged: Callable[..., Stage], url: str
) -> None:
    bot = Gated()
    stage = staged(bot)
    assignment, session, page = await stage.chatting()
    await stage.send(session, page, "say", text="Hello?")
    session.detach(page)
    stage.live.release(assignment)
    assert len(stage.live) == 1  # the question is under way
    bot.gate.set()
    await until(lambda: len(stage.live) == 0)
    assert query(url, "SELECT author FROM turn ORDER BY turn_index") == [("worker",), ("bot",)]


async def begun(stage: Stage) -> tuple[str, NewSession]:
    """Have somebody arrive, and nobody open their session."""
    who = Arrival("link", "ann")
    worker, at = ArrivingWorker(who, "W-ann", False, 1.0), utc_now()
    enrolment = await stage.store.submit(lambda connection: enrol(connection, stage.run, worker, at))
    return enrolment.assignment, NewSession(stage.run, who, 1.0, enrolment.planned or (), FIRST_FENCE)


async def test_a_session_that_was_begun_here_is_this_process_s_until_another_takes_it_over(
    staged: Callable[..., Stage], url: str
) -> None:
    stage = staged()
    assignment, new = await begun(stage)
    here, page = await stage.live.open(assignment, new), RecordingPage()
    await here.attach(page)
    await stage.send(here, page, "agree")
    assert page.types() == ["snapshot", "topic_due", "accepted"]
    there, _ = await stage.open(assignment, stage.elsewhere())
    assert there.state == here.state
    await stage.send(here, page, "leave")
    assert (page.types()[-1], page.closed) == ("taken_over", True)
    assert query(url, "SELECT status FROM assignment") == [("active",)]


async def test_a_session_that_another_process_has_before_it_is_opened_where_it_was_begun(
    staged: Callable[..., Stage], url: str
) -> None:
    stage = staged()
    assignment, new = await begun(stage)
    there, other = await stage.open(assignment, stage.elsewhere())
    here, page = await stage.live.open(assignment, new), RecordingPage()
    await here.attach(page)
    await stage.send(here, page, "agree")
    assert page.types() == ["snapshot", "taken_over"]
    await stage.send(there, other, "agree")
    assert other.types()[-1] == "accepted"
    assert query(url, "SELECT agreed_by FROM assignment") == [("m2",)]


async def test_a_session_that_was_begun_here_and_opened_by_another_page_first_is_one(
    staged: Callable[..., Stage],
) -> None:
    stage = staged()
    assignment, new = await begun(stage)
    session, other = await asyncio.gather(stage.live.open(assignment), stage.live.open(assignment, new))
    assert other is session
    assert session.fence > FIRST_FENCE


async def newcomer(stage: Stage) -> Enrolment:
    """Have somebody arrive when everybody else has been silent for too long."""
    worker = ArrivingWorker(Arrival("link", "bob"), "W-bob", False, 1.0)
    at = utc_now() + timedelta(seconds=stage.run.study.timeouts.idle + 1)
    return await stage.store.submit(lambda connection: enrol(connection, stage.run, worker, at))


async def test_a_session_that_expired_is_told_and_takes_nothing_more(staged: Callable[..., Stage]) -> None:
    stage = staged()
    assignment, session, page = await stage.chatting()
    assert (await newcomer(stage)).displaced == assignment
    stored, commits = await stage.store.load(assignment), stage.store.commits
    await stage.live.reload(assignment)
    assert page.messages[-1] == Ended(phase="expired")
    assert session.state.phase is Phase.EXPIRED
    with pytest.raises(WrongPhase):
        await stage.send(session, page, "leave")
    assert (await stage.store.load(assignment), stage.store.commits) == (stored, commits)
    await stage.live.reload("not alive here")


async def test_a_session_that_expired_finds_out_with_its_next_message(staged: Callable[..., Stage]) -> None:
    stage = staged()
    assignment, session, page = await stage.chatting()
    await newcomer(stage)
    with pytest.raises(WrongPhase):
        await stage.send(session, page, "say", text="Hello?")
    last: Any = page.messages[-1]
    assert (last.type, last.phase, session.state.phase) == ("snapshot", Phase.EXPIRED, Phase.EXPIRED)
    assert not any(isinstance(record, WorkerSaid) for record in await stage.store.load(assignment))


# ---- several processes -----------------------------------------------------------------------


@pytest.mark.databases("sqlite", "postgresql")
async def test_a_session_that_another_process_took_over_can_be_written_there_only(
    staged: Callable[..., Stage], url: str
) -> None:
    stage = staged()
    assignment, here, page = await stage.chatting()
    there, other = await stage.open(assignment, stage.elsewhere())
    await stage.send(here, page, "say", text="Does anybody hear me?")
    assert page.types()[-1] == "taken_over"
    assert page.closed
    assert query(url, "SELECT count(*) FROM turn") == [(0,)]
    await stage.send(there, other, "say", text="I am here.")
    await other.hears("said")
    assert query(url, "SELECT text FROM turn WHERE author = 'worker'") == [("I am here.",)]


async def test_a_worker_who_comes_back_to_a_process_finds_what_was_said_at_another(
    staged: Callable[..., Stage],
) -> None:
    stage = staged()
    assignment, before, left = await stage.chatting()  # its page is gone, and the process has not noticed
    there, other = await stage.open(assignment, stage.elsewhere())
    await stage.send(there, other, "say", text="I am there.")
    await other.hears("said")
    back, page = await stage.open(assignment)
    assert back is not before
    shown: Any = page.messages[0]
    assert shown.conversation.turns[0].text == "I am there."
    assert left.types()[-1] == "taken_over"
    await stage.send(back, page, "say", text="I am here again.")
    await page.hears("said")
    assert "error" not in page.types() + other.types()


async def test_a_process_that_is_told_lets_a_session_go_at_once(staged: Callable[..., Stage]) -> None:
    stage = staged(Gated())
    assignment, session, page = await stage.chatting()
    await stage.send(session, page, "say", text="Hello?")
    elsewhere = stage.elsewhere(stage.news)
    await elsewhere.open(assignment)
    await page.hears("taken_over")
    assert page.closed
    await until(lambda: len(stage.live) == 0)


async def test_a_reply_that_comes_after_the_session_was_lost_is_not_stored(
    staged: Callable[..., Stage], url: str
) -> None:
    bot = Gated()
    stage = staged(bot)
    assignment, session, page = await stage.chatting()
    await stage.send(session, page, "say", text="Hello?")
    elsewhere = stage.elsewhere()
    await elsewhere.open(assignment)
    bot.gate.set()
    await page.hears("taken_over")
    assert query(url, "SELECT count(*) FROM turn WHERE author = 'bot'") == [(0,)]


# ---- the state elsewhere is newer ------------------------------------------------------------


@pytest.mark.databases("sqlite", "postgresql")
async def test_a_line_stored_elsewhere_is_not_stored_twice_and_the_bot_is_asked(
    staged: Callable[..., Stage], url: str
) -> None:
    """As after a commit whose success was never heard of: the worker's page sends the line again."""

    stage = staged()
    assignment, session, page = await stage.chatting()
    said = WorkerSaid(f"{assignment}-1.1", 0, "Hello?", utc_now(), "mine")
    await stage.store.append(assignment, session.fence, [said], utc_now())
    again = {"type": "say", "id": "mine", "conversation": 1, "attempt": 1, "turn": 0, "text": "Hello?"}
    await session.receive(FromWorker(client_messages.validate_python(again), utc_now()), page)
    await page.hears("said")
    assert page.types().count("accepted") == 3  # agree, topic, say
    assert query(url, "SELECT count(*) FROM turn") == [(2,)]
