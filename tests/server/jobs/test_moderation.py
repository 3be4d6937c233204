"""Lines of people are sent to the moderation service once each, whatever becomes of it meanwhile."""

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from sqlalchemy.exc import DBAPIError
from starlette.responses import Response
from structlog.testing import capture_logs

from bots import BotError
from bots.serving import Moderation, ModerationJudgement
from server.clock import utc_now
from server.db.engine import open_engine
from server.db.jobs import LEASE_SECONDS, take_lease
from server.db.review import UnjudgedLine, mark_flag_seen, store_judgements, unseen_flags
from server.db.store import Store
from server.jobs.moderation import AT_ONCE, ModerationJob
from server.live.arrive.enrolment import ArrivingWorker, enrol
from server.recruiters.arrival import Arrival
from server.recruiters.stand_in.serving import serving
from tests.server.support.answers import error
from tests.server.support.database import execute, make_run, query
from tests.server.support.server import House
from tests.server.support.study import AT, study_text
from tests.support.moderation import MODEL, PATH, ModerationStandIn, busy, failing, refusing
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.databases("sqlite", in_soak=["postgresql"])
JUDGED = "SELECT turn_index, flagged, categories, score, model FROM v1_moderated_line ORDER BY turn_index"
NOTES = "SELECT kind, text FROM v1_note ORDER BY kind, text"


@pytest.fixture
def service() -> ModerationStandIn:
    return ModerationStandIn()


@pytest.fixture
def address(service: ModerationStandIn) -> Iterator[str]:
    with serving(service.app) as served:
        yield f"{served}{PATH}"


class Talk:
    """A run whose workers chat, and the job that has their lines judged."""

    def __init__(self, store: Store, url: str, address: str, moderation: str = "classifier") -> None:
        self.store, self.url, self.address, self.now = store, url, address, AT
        self.run = make_run(url, study_text(moderation=moderation), slug=f"talk-{moderation}")
        self.job = self.another_job()

    def another_job(self, key: str | None = None, patience: float = PATIENCE) -> ModerationJob:
        return ModerationJob(self.store, Moderation(self.address, key, patience), lambda: self.now, pause=0)

    async def say(self, *lines: str, worker: str = "ann", simulated: bool = False) -> str:
        """Have a worker and a bot say these lines in turn; return the conversation."""
        arriving = ArrivingWorker(Arrival("link", worker), f"W-{worker}", simulated, 1.0)
        sat = await self.store.submit(lambda connection: enrol(connection, self.run, arriving, self.now))
        find = "SELECT min(id) FROM conversation WHERE assignment_id = ?"
        conversation = str(query(self.url, find, sat.assignment)[0][0])
        for index, line in enumerate(lines):
            author = "bot" if index % 2 else "worker"
            at = self.now + timedelta(seconds=index)
            execute(
                self.url,
                "INSERT INTO turn (conversation_id, turn_index, author, text, created_at, show_at, "
                "latency_ms) VALUES (?, ?, ?, ?, ?, ?, 1)",
                conversation, index, author, line, at, at,
            )  # fmt: skip
        return conversation

    def judged(self) -> list[tuple[Any, ...]]:
        rows = query(self.url, JUDGED)
        return [(index, None if flagged is None else bool(flagged), *rest) for index, flagged, *rest in rows]

    def notes(self) -> list[tuple[object, ...]]:
        return [tuple(row) for row in query(self.url, NOTES)]


@pytest.fixture
def talk(store: Store, url: str, address: str) -> Talk:
    return Talk(store, url, address)


async def test_every_line_is_judged_once_and_what_is_flagged_is_noted(
    talk: Talk, service: ModerationStandIn
) -> None:
    await talk.say("Hello.", "I grumble.", "You grumble, too.")
    for _ in range(2):
        await talk.job.look()
    assert service.asked == [["Hello.", "I grumble.", "You grumble, too."]]
    fine, found = (False, "", 0.5, MODEL), (True, "harassment, violence", 0.9, MODEL)
    assert talk.judged() == [(0, *fine), (1, *found), (2, *found)]
    kinds = [("flagged_input", "harassment, violence"), ("flagged_reply", "harassment, violence")]
    assert talk.notes() == kinds
    await talk.say("One line more.", worker="bob")
    await talk.job.look()
    assert service.asked[1:] == [["One line more."]]


async def test_no_other_lines_leave_the_server(
    store: Store, url: str, address: str, service: ModerationStandIn
) -> None:
    by_words = Talk(store, url, address, "words")
    await by_words.say("Nobody's business.")
    rehearsed = Talk(store, url, address)
    await rehearsed.say("A program's.", simulated=True)
    removed = await rehearsed.say("[removed]", worker="bob")
    assert removed
    await rehearsed.job.look()
    assert service.asked == []


async def test_many_lines_go_in_parts(talk: Talk, service: ModerationStandIn) -> None:
    await talk.say(*(f"Line {number}." for number in range(AT_ONCE + 1)))
    await talk.job.look()
    assert [len(lines) for lines in service.asked] == [AT_ONCE, 1]
    assert len(set(service.lines)) == len(talk.judged()) == AT_ONCE + 1


@pytest.mark.parametrize(
    "fault",
    [failing(500), failing(503), busy(0), Response("no JSON", media_type="application/json")],
    ids=["500", "503", "429", "wrong form"],
)
async def test_a_service_that_is_unwell_for_a_moment_is_asked_again(
    talk: Talk, service: ModerationStandIn, fault: Response
) -> None:
    service.faults = [fault]
    await talk.say("I grumble.")
    await talk.job.look()
    assert service.asked == [["I grumble."]] * 2
    assert [row[1] for row in talk.judged()] == [True]


async def test_while_it_is_down_lines_wait_and_none_is_lost(talk: Talk, service: ModerationStandIn) -> None:
    await talk.say("Hello.", "I grumble.")
    service.faults = [failing(500) for _ in range(6)]
    for _ in range(2):  # looks, of three tries each
        with pytest.raises(BotError, match="gave no answer"):
            await talk.job.look()
    assert (len(service.asked), talk.judged(), talk.notes()) == (6, [], [])
    await talk.job.look()
    assert [row[1] for row in talk.judged()] == [False, True]


async def test_who_is_told_to_wait_for_long_leaves_it_alone_so_long(
    talk: Talk, service: ModerationStandIn
) -> None:
    service.faults = [busy(600)]
    await talk.say("Hello.")
    with pytest.raises(BotError):
        await talk.job.look()
    talk.now += timedelta(seconds=599)
    await talk.job.look()
    assert len(service.asked) == 1
    talk.now += timedelta(seconds=2)
    await talk.job.look()
    assert (len(service.asked), len(talk.judged())) == (2, 1)


@pytest.mark.parametrize("refused", ["unreadable", "filtered"])
async def test_a_line_that_it_does_not_take_keeps_no_other_from_being_judged(
    talk: Talk, service: ModerationStandIn, refused: str
) -> None:
    await talk.say("Hello.", refused, "I grumble.")
    for _ in range(2):
        await talk.job.look()
    probe = ["Hello."]  # it takes others, so that it is for the line
    assert service.asked[1:] == [["Hello."], [refused], probe, ["I grumble."]]
    assert [row[:2] for row in talk.judged()] == [(0, False), (1, None), (2, True)]


async def test_a_line_on_which_it_breaks_again_and_again_is_left_out_in_the_end(
    talk: Talk, service: ModerationStandIn
) -> None:
    await talk.say("Hello.", "breaking", "I grumble.")
    for _ in range(3):
        with pytest.raises(BotError, match="status 500"):
            await talk.job.look()
        assert talk.judged() == []
    await talk.job.look()
    assert [row[:2] for row in talk.judged()] == [(0, False), (1, None), (2, True)]


async def test_a_last_line_that_it_does_not_take_is_not_asked_about_for_ever(
    talk: Talk, service: ModerationStandIn
) -> None:
    await talk.say("unreadable")
    await talk.job.look()
    asked = len(service.asked)
    await talk.job.look()
    assert (len(service.asked), [row[:2] for row in talk.judged()]) == (asked, [(0, None)])


async def test_a_service_that_is_down_for_long_says_nothing_of_the_lines(
    talk: Talk, service: ModerationStandIn
) -> None:
    await talk.say("Hello.", "I grumble.")
    service.faults = [failing(500) for _ in range(100)]
    for _ in range(6):
        with pytest.raises(BotError, match="status 500"):
            await talk.job.look()
    service.faults.clear()
    await talk.job.look()
    assert [row[:2] for row in talk.judged()] == [(0, False), (1, True)]


async def test_what_is_said_twice_is_asked_about_once(talk: Talk, service: ModerationStandIn) -> None:
    await talk.say("I grumble.", "I grumble.", "Fine.")
    await talk.job.look()
    assert service.asked == [["I grumble.", "Fine."]]
    assert [row[:2] for row in talk.judged()] == [(0, True), (1, True), (2, False)]


async def test_a_service_that_takes_nothing_says_nothing_of_the_lines(
    talk: Talk, service: ModerationStandIn
) -> None:
    service.faults = [refusing() for _ in range(20)]
    await talk.say("unreadable", "unreadable, too")
    with pytest.raises(BotError, match=r"status 400") as told:
        await talk.job.look()
    assert "unreadable" not in str(told.value), "a log must hold no line"
    assert talk.judged() == []


async def test_a_wrong_key_is_told_without_it(talk: Talk, service: ModerationStandIn) -> None:
    service.key = "right"
    await talk.say("Hello.")
    with pytest.raises(BotError, match="CANDOR_MODERATION_KEY") as told:
        await talk.another_job("wrong").look()
    assert "wrong" not in str(told.value)
    talk.now += timedelta(seconds=LEASE_SECONDS + 1)
    await talk.another_job("right").look()
    assert len(talk.judged()) == 1


async def test_a_slow_answer_is_given_up(talk: Talk, service: ModerationStandIn) -> None:
    service.held = threading.Event()
    await talk.say("Hello.")
    asked = asyncio.create_task(talk.another_job(patience=0.01).look())
    with pytest.raises(BotError, match="in time"):
        await asked
    service.held.set()
    talk.now += timedelta(seconds=LEASE_SECONDS + 1)
    await talk.job.look()
    assert len(talk.judged()) == 1


async def test_the_desk_shows_what_it_says(talk: Talk, url: str, serve: Callable[..., House]) -> None:
    await talk.say("Shit, I grumble.", "You grumble, too.", "Fine.")
    await talk.job.look()
    house = serve(url, talk.run)
    shown = house.desk(f"/runs/{talk.run.slug}").json()
    assert [(row["kind"], row["text"]) for row in shown["incidents"]] == [
        ("flagged_reply", "harassment, violence"),
        ("flagged_input", "harassment, violence"),
    ]
    assert sum(bot["flagged"] for bot in shown["bots"]) == 1
    (item,) = (each for each in shown["attention"] if each["workers"] == "flagged")
    assert item["text"].startswith("2 lines flagged by the moderation service (1 of chatbots, 1 of workers)")
    (row,) = shown["workers"]
    detail = house.desk(f"/assignments/{row['assignment']}").json()
    (begun,) = (each for each in detail["conversations"] if each["turns"])
    assert item["assignments"] == [row["assignment"]]
    flag = {"by": "classifier", "reason": "harassment, violence", "seen_at": None, "seen_by": None}
    assert [turn["flags"] for turn in begun["turns"]] == [[flag], [flag], []]
    # This server has no service, and the run is open: the lines that follow would wait.
    assert any("CANDOR_MODERATION_URL" in each["text"] for each in shown["attention"])


async def test_a_flagged_line_needs_attention_until_somebody_marks_it_as_seen(
    talk: Talk, url: str, serve: Callable[..., House]
) -> None:
    await talk.say("I grumble.", "You grumble, too.")
    await talk.job.look()
    house = serve(url, talk.run)

    def needs() -> list[dict[str, Any]]:
        attention = house.desk(f"/runs/{talk.run.slug}").json()["attention"]
        return [each for each in attention if each["workers"] == "flagged"]

    (first,) = needs()
    (assignment,) = first["assignments"]
    for line in (0, 0, 1):
        seen = house.desk(f"/assignments/{assignment}/flagged-lines/1/1/{line}/seen", method="POST")
        assert seen.status_code == 204
        assert len(needs()) == 1 - line
    logged = query(url, "SELECT detail FROM audit_entry WHERE action = 'flagged_line.seen' ORDER BY id")
    assert [row[0] for row in logged] == [f"conversation 1, attempt 1, line {line}" for line in (0, 1)]
    wrong = house.desk(f"/assignments/{assignment}/flagged-lines/1/1/2/seen", method="POST")
    error(wrong, 404, "flag_not_found")


async def test_what_is_said_once_and_stored_twice_needs_attention_once(talk: Talk, url: str) -> None:
    mine, yours = await talk.say("I grumble.", "Fine."), await talk.say("Fine.", "I grumble.", worker="bob")
    met = (
        "INSERT INTO human_conversation (conversation_id, run_id, waiting_since, partner_id) "
        "VALUES (?, ?, ?, ?)"
    )
    execute(url, met, mine, talk.run.id, AT, yours)
    execute(url, met, yours, talk.run.id, AT, mine)
    await talk.job.look()
    (line,) = await talk.store.read(lambda connection: unseen_flags(connection, talk.run.id))
    assert line.author == "worker"


async def test_an_input_side_by_side_needs_attention_once_and_is_seen_on_both_sides(
    talk: Talk, url: str
) -> None:
    left = await talk.say("I grumble.")
    assignment, other = query(
        url, "SELECT assignment_id, max(id) FROM conversation WHERE id <> ? GROUP BY assignment_id", left
    )[0]
    execute(url, "UPDATE conversation SET side = 'left' WHERE id = ?", left)
    execute(url, "UPDATE conversation SET side = 'right' WHERE id = ?", other)
    copied = (
        "INSERT INTO turn SELECT ?, turn_index, author, text, client_id, created_at, show_at, latency_ms "
        "FROM turn"
    )
    execute(url, "UPDATE turn SET client_id = 'mine'")
    execute(url, copied, other)
    await talk.job.look()
    unseen = partial(talk.store.read, lambda connection: unseen_flags(connection, talk.run.id))
    assert [line.assignment for line in await unseen()] == [assignment]
    await talk.store.submit(lambda c: mark_flag_seen(c, assignment, 1, 1, 0, "ada", AT))
    assert await unseen() == []
    assert query(url, "SELECT seen_by FROM moderated_line") == [("ada",), ("ada",)]


@pytest.mark.databases("sqlite", "postgresql")
async def test_one_process_asks(talk: Talk, service: ModerationStandIn) -> None:
    service.held = threading.Event()
    await talk.say("Hello.")
    first = asyncio.create_task(talk.job.look())
    await asyncio.to_thread(service.reached.wait)
    await talk.another_job().look()  # while the first one has the lease
    service.held.set()
    await first
    assert service.asked == [["Hello."]]


@pytest.mark.databases("sqlite", "postgresql")
async def test_who_has_lost_the_lease_asks_no_more(talk: Talk, service: ModerationStandIn) -> None:
    service.faults = [busy(0)]
    service.held = threading.Event()
    await talk.say("Hello.")
    first = asyncio.create_task(talk.job.look())
    await asyncio.to_thread(service.reached.wait)
    later = talk.now + timedelta(seconds=LEASE_SECONDS + 1)
    await talk.store.submit(lambda connection: take_lease(connection, "moderation", "another", later))
    service.held.set()
    await first
    assert (service.asked, talk.judged()) == ([["Hello."]], [])


async def test_who_was_judged_to_the_end_is_not_looked_at_again(
    talk: Talk, service: ModerationStandIn, url: str
) -> None:
    await talk.say("Hello.")
    execute(url, "UPDATE assignment SET status = 'completed', ended_at = ?", talk.now)
    await talk.job.look()
    execute(url, "DELETE FROM moderated_line")  # what a look at it would find
    await talk.job.look()
    assert len(talk.judged()) == 1, "a commit can be late, and is waited for"
    talk.now += timedelta(hours=1)
    await talk.job.look()
    execute(url, "DELETE FROM moderated_line")
    await talk.job.look()
    assert talk.judged() == []
    await talk.say("I am new.", worker="bob")
    await talk.job.look()
    assert service.asked == [["Hello."], ["Hello."], ["I am new."]]


async def test_a_run_that_waits_for_a_service_which_is_not_there_is_told_of_once(talk: Talk) -> None:
    alone = ModerationJob(talk.store, None)
    with capture_logs() as told:
        await alone.look()
        await alone.look()
    assert [(line["run"], line["log_level"]) for line in told] == [(talk.run.slug, "warning")]
    execute(talk.url, "UPDATE run SET status = 'closed'")
    with capture_logs() as told:
        await ModerationJob(talk.store, None).look()
    assert told == []


@pytest.mark.databases("postgresql")
async def test_what_another_process_removes_at_this_moment_is_not_spoken_of(talk: Talk, url: str) -> None:
    conversation = await talk.say("I grumble.")
    line = UnjudgedLine(conversation, 0, "worker", "I grumble.")
    judged = {line: ModerationJudgement(True, ("harassment",), 0.9, MODEL)}
    engine = open_engine(url)
    try:
        with engine.connect() as ours, engine.connect() as theirs:
            store_judgements(ours, judged, AT)  # and is not committed yet
            theirs.exec_driver_sql("SET lock_timeout = 1")
            with pytest.raises(DBAPIError, match="lock"):
                theirs.exec_driver_sql("UPDATE turn SET text = '[removed]'")
            theirs.rollback()
            ours.rollback()
            theirs.exec_driver_sql("UPDATE turn SET text = '[removed]'")
            store_judgements(ours, judged, AT)
            ours.commit()
            theirs.commit()
    finally:
        engine.dispose()
    assert (talk.judged(), talk.notes()) == ([], [])


@pytest.mark.databases("sqlite", "postgresql")
async def test_what_is_removed_while_it_is_judged_is_not_spoken_of(
    talk: Talk, service: ModerationStandIn, url: str
) -> None:
    service.held = threading.Event()
    await talk.say("I grumble.")
    looking = asyncio.create_task(talk.job.look())
    await asyncio.to_thread(service.reached.wait)
    execute(url, "UPDATE turn SET text = '[removed]'")
    service.held.set()
    await looking
    assert (talk.judged(), talk.notes()) == ([], [])


_LOOK = """
import asyncio, sys
from bots.serving import Moderation
from server.db.store import Store
from server.jobs.moderation import ModerationJob

async def look():
    store = Store(sys.argv[1])
    store.start()
    await ModerationJob(store, Moderation(sys.argv[2]), pause=0).look()

asyncio.run(look())
"""


@pytest.mark.databases("sqlite")
async def test_a_process_that_is_killed_while_it_asks_leaves_the_rest_to_another(
    talk: Talk, service: ModerationStandIn, url: str
) -> None:
    await talk.say("Before the kill I grumble.")
    await talk.job.look()
    await talk.job.close()
    await talk.say("Now.", "I grumble.", worker="bob")
    service.held, service.reached = threading.Event(), threading.Event()
    killed = await asyncio.create_subprocess_exec(sys.executable, "-c", _LOOK, url, talk.address)
    await asyncio.to_thread(service.reached.wait)
    killed.kill()
    await killed.wait()
    service.held.set()
    talk.now = utc_now() + timedelta(seconds=LEASE_SECONDS + 1)
    await talk.another_job().look()
    assert service.asked == [["Before the kill I grumble."], ["Now.", "I grumble."], ["Now.", "I grumble."]]
    assert sorted(row[1] for row in talk.judged()) == [False, True, True]
    assert [kind for kind, _text in talk.notes()] == ["flagged_input", "flagged_reply"]
