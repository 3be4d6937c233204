"""Live sessions over a real store and real bots: what bots may do, and what becomes of their replies."""

import asyncio
import gc
import weakref
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection
from structlog.testing import capture_logs

from bots import Bot, BotError
from bots.core.failures import BotBusy, BotGone
from bots.serving import gives_itself_away
from server.bots.lineup import SpendingCap, names_of
from server.clock import utc_now
from server.db.store import Store
from server.desk.assignments.transcript import transcript
from server.errors import RefusedMessage, StorageFailed, WrongPhase
from server.live.converse import bot_replies, live_session
from server.live.converse.interventions import ASKED, Interventions
from server.session.events import FromWorker
from server.session.protocol import client_messages
from server.session.state import Phase
from server.study import parse_study
from tests.server.support import stage as stage_support
from tests.server.support.bots import Echo, Gated, Raises, ReturnsNothing, Says
from tests.server.support.database import locked, make_run, query
from tests.server.support.stage import AUTH, Stage
from tests.server.support.study import RATINGS, study_text
from tests.support.waiting import until

pytestmark = pytest.mark.databases("sqlite", in_soak=["postgresql"])

QUICK = {"timeouts": {"bot_try": 0.1, "bot_total": 0.3}}


# ---- bots that fail --------------------------------------------------------------------------


async def test_a_bot_that_stumbles_is_asked_again_and_it_is_noted(staged: Callable[..., Stage]) -> None:
    stage = staged(Raises(BotError("out of order"), times=2))
    _, session, page = await stage.chatting()
    await stage.send(session, page, "say", text="Hello?")
    said: Any = await page.hears("said")
    assert said.text == "Reply 0 to: Hello?"
    assert "replaced" not in page.types()
    system = session.state.conversations[0].plan.system
    assert stage.notes() == [("bot_error", f"{system}: out of order")] * 2


@pytest.mark.parametrize(
    ("bot", "kind"),
    [
        (Raises(BotError("out of order")), "error"),
        (Raises(BotBusy("loading")), "busy"),
        (Raises(BotGone("disabled")), "gone"),
        (Gated(), "timeout"),
        (Says(""), "empty"),
        (Says("x" * 2_001), "too_long"),
    ],
    ids=["error", "busy", "gone", "timeout", "empty", "too_long"],
)
async def test_the_kind_of_each_failure_is_stored(staged: Callable[..., Stage], bot: Bot, kind: str) -> None:
    stage = staged(bot, **QUICK)
    _, session, page = await stage.chatting()
    await stage.send(session, page, "say", text="Hello?")
    await page.hears("topic_due", 2)
    *failed, replaced = query(stage.url, "SELECT kind, failure FROM v2_note ORDER BY created_at")
    assert failed[-1] == ("bot_gave_up", kind)
    assert {failure for _, failure in failed} == {kind}
    assert replaced == ("replaced", None)


ONE_AFTER_THE_OTHER = [
    (Raises(BotError("out of order")), "out of order"),
    (Raises(ZeroDivisionError("by zero")), "ZeroDivisionError: by zero"),
    (Raises(TimeoutError("its own")), "no reply"),
    (Raises(asyncio.CancelledError()), "CancelledError"),
    (Raises(SystemError("deep \ud800\x00trouble")), "SystemError: deep trouble"),
    (Raises(ValueError("long " * 10_000)), "ValueError: long long"),
    (Gated(), "no reply within"),
    (ReturnsNothing(), "AttributeError"),
    (Says(None), "its reply is not text, but NoneType"),
    (Says(b"bytes"), "its reply is not text, but bytes"),
    (Says(""), "the reply was empty"),
    (Says(" \n\t "), "the reply was empty"),
    (Says("\x00\x01\ud800"), "the reply was empty"),
    (Says("\u200b\u202e"), "the reply was empty"),
    (Says("x" * 2_001), "the reply has 2001 characters"),
    (Says("x" * 1_000_000), "the reply has 1000000 characters"),
]


@pytest.mark.parametrize(
    ("bot", "reason"), ONE_AFTER_THE_OTHER, ids=[reason for _, reason in ONE_AFTER_THE_OTHER]
)
async def test_a_bot_that_never_answers_is_replaced_whatever_its_fault(
    staged: Callable[..., Stage], bot: Bot, reason: str
) -> None:
    stage = staged(bot, **QUICK)
    _, session, page = await stage.chatting()
    await stage.send(session, page, "say", text="Hello?")
    await page.hears("topic_due", 2)
    assert page.types()[-2:] == ["replaced", "topic_due"]
    *failures, replaced = stage.notes()
    assert replaced[0] == "replaced"
    # As many tries as fit into the time, the last of which was one too many.
    assert [kind for kind, _ in failures] == ["bot_error"] * (len(failures) - 1) + ["bot_gave_up"]
    for _, text in failures:
        assert reason in text
        assert len(text) < 1000
    assert session.state.conversations[0].status == "failed"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("  spaced \n", "spaced"),
        ("a\x00b\x1bc\ud800d\x7f", "abcd"),
        ("two\r\nlines\tand a tab", "two\nlines and a tab"),
        ("<script>alert('x')</script>", "<script>alert('x')</script>"),
        (" " + "x" * 2_000 + "\x00", "x" * 2_000),
        ("日本 🦉", "日本 🦉"),
    ],
    ids=["spaces", "controls", "lines", "markup", "as long as can be", "beyond ASCII"],
)
@pytest.mark.databases("sqlite", "postgresql")
async def test_what_a_bot_says_is_cleaned_and_bounded(
    staged: Callable[..., Stage], url: str, text: str, shown: str
) -> None:
    stage = staged(Says(text))
    _, session, page = await stage.chatting()
    await stage.send(session, page, "say", text="Hello?")
    said: Any = await page.hears("said")
    assert said.text == shown
    assert query(url, "SELECT text FROM turn WHERE author = 'bot'") == [(shown,)]


async def test_every_system_failing_ends_the_assignment_early_and_paid(
    staged: Callable[..., Stage], url: str
) -> None:
    stage = staged(Raises(BotError("out of order")), timeouts={"bot_try": 0.1, "bot_total": 0.1})
    assignment = await stage.enrolment()
    session, page = await stage.open(assignment)
    await stage.send(session, page, "agree")
    while session.state.phase is Phase.TOPIC:
        await stage.send(session, page, "topic", text="the sea", opinion="like")
        await stage.send(session, page, "say", text="Hello?")
        await until(lambda: session.state.phase is not Phase.CHAT)
    assert session.state.phase is Phase.FEEDBACK
    await stage.send(session, page, "feedback", text="")
    completed: Any = await page.hears("completed")
    assert completed.code == AUTH.completion_code(assignment)
    assert query(url, "SELECT status FROM assignment") == [("completed",)]


async def test_a_bot_that_fails_past_the_minimum_leaves_a_conversation_to_rate(
    staged: Callable[..., Stage],
) -> None:
    class FailsLater(Echo):
        async def reply(self, chat: Any) -> Any:
            if chat.replies_given():
                raise BotError("tired")
            return await super().reply(chat)

    stage = staged(FailsLater(), **QUICK)
    _, session, page = await stage.chatting()
    for number in range(2):
        await stage.send(session, page, "say", text=f"line {number}")
        await page.hears("rating_due" if number else "said")
    await stage.send(session, page, "rate", ratings=RATINGS)
    assert session.state.conversations[0].status == "rated"


async def test_a_reply_that_comes_after_the_worker_left_is_dropped(
    staged: Callable[..., Stage], url: str
) -> None:
    bot = Gated()
    stage = staged(bot)
    assignment, session, page = await stage.chatting()
    await stage.send(session, page, "say", text="Hello?")
    await stage.send(session, page, "leave")
    bot.gate.set()
    session.detach(page)
    stage.live.release(assignment)
    await until(lambda: len(stage.live) == 0)
    assert query(url, "SELECT author FROM turn") == [("worker",)]


async def test_a_question_under_way_is_not_asked_twice_by_a_refresh(
    staged: Callable[..., Stage], url: str
) -> None:
    bot = Gated()
    stage = staged(bot)
    assignment, session, page = await stage.chatting()
    await stage.send(session, page, "say", text="Hello?")
    for _ in range(3):
        session, page = await stage.open(assignment)
    snapshot: Any = page.messages[0]
    assert snapshot.conversation.typing
    assert [turn.text for turn in snapshot.conversation.turns] == ["Hello?"]
    bot.gate.set()
    await page.hears("said")
    assert bot.calls == 1
    assert page.types() == ["snapshot", "said"]


@pytest.mark.databases("sqlite", "postgresql")
async def test_a_reply_is_kept_until_the_database_takes_it(staged: Callable[..., Stage], url: str) -> None:
    bot = Gated()
    stage = staged(bot)
    _, session, page = await stage.chatting()
    await stage.send(session, page, "say", text="Hello?")
    async with locked(url, stage.store):
        with capture_logs() as logs:
            bot.gate.set()
            failed = {"commit failed", "write failed"}
            await until(lambda: sum(entry["event"] in failed for entry in logs) >= 2)
    await page.hears("said")
    assert bot.calls == 1
    assert query(url, "SELECT author FROM turn ORDER BY turn_index") == [("worker",), ("bot",)]


@pytest.mark.databases("sqlite", "postgresql")
async def test_a_database_that_is_away_as_money_is_counted_costs_no_reply(
    url: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is away for longer than the bot may take, which is not held against the bot."""
    run = make_run(url, study_text(timeouts={"bot_try": 0.6, "bot_total": 0.6}))
    capped = replace(run, spending_caps=dict.fromkeys(run.bots, (SpendingCap(1.0, None, run.id),)))
    stage = Stage(url, capped, store)
    _, session, page = await stage.chatting()
    look_up, refused = store.look_up, list[None]()

    async def away(work: Callable[[Connection], Any]) -> Any:
        if len(refused) < 2:
            refused.append(None)
            raise StorageFailed("the database could not be read")
        return await look_up(work)

    monkeypatch.setattr(store, "look_up", away)
    await stage.send(session, page, "say", text="Hello?")
    await page.hears("said")
    assert len(refused) == 2
    assert stage.notes() == []


@pytest.mark.databases("sqlite", "postgresql")
async def test_what_was_stored_without_an_answer_is_known_before_the_next_message_is_taken(
    staged: Callable[..., Stage], url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the connection to the database is lost while it commits."""
    stage = staged()
    _, session, page = await stage.chatting()
    for number in (1, 2):
        await stage.send(session, page, "say", text="Hello?")
        await page.hears("said", number)
    append = stage.store.append

    async def unheard(*records: Any) -> None:
        await append(*records)
        raise StorageFailed("the database could not store this")

    with monkeypatch.context() as lost:
        lost.setattr(stage.store, "append", unheard)
        with pytest.raises(StorageFailed):
            await stage.send(session, page, "end_conversation")
    with pytest.raises(WrongPhase):
        await stage.send(session, page, "say", text="One more thing.")
    assert page.types()[-1] == "snapshot"
    assert session.state.phase is Phase.RATING
    assert query(url, "SELECT count(*) FROM turn WHERE author = 'worker'") == [(2,)]


async def test_a_page_may_come_back_while_its_session_is_forgotten(
    staged: Callable[..., Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was taken over elsewhere, and the page before is gone before the database says so."""
    stage = staged()
    assignment = await stage.enrolment()
    session, page = await stage.open(assignment)
    elsewhere = stage.elsewhere()
    await elsewhere.open(assignment)
    read = stage.store.read

    async def read_while_the_page_goes(work: Any) -> Any:
        found = await read(work)
        session.detach(page)
        stage.live.release(assignment)
        return found

    with monkeypatch.context() as slow:
        slow.setattr(stage.store, "read", read_while_the_page_goes)
        again = await stage.live.open(assignment)
    assert again is not session
    assert not again.is_lost


# ---- a clock that is set back ----------------------------------------------------------------


class WrongClock:
    """The server's clock, which can be set back by a day."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._wrong_by = timedelta()
        for place in (live_session, bot_replies, stage_support):
            monkeypatch.setattr(place, "utc_now", self.now)

    def now(self) -> datetime:
        return utc_now() - self._wrong_by

    def set_back(self) -> None:
        self._wrong_by += timedelta(days=1)


async def test_a_reply_is_shown_though_the_clock_is_set_back_while_it_is_stored(
    staged: Callable[..., Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, bot = WrongClock(monkeypatch), Gated()
    stage = staged(bot)
    _, session, page = await stage.chatting()
    await stage.send(session, page, "say", text="Hello?")
    append = stage.store.append

    async def long_append(*args: Any) -> None:
        clock.set_back()
        await append(*args)

    monkeypatch.setattr(stage.store, "append", long_append)
    bot.gate.set()
    await page.hears("said")


async def test_a_reply_that_a_page_came_back_to_is_not_told_of_after_its_answer(
    staged: Callable[..., Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = WrongClock(monkeypatch)
    stage = staged(reply_time={"median": 0.5, "spread": 0, "longest": 1})
    assignment, session, page = await stage.chatting()
    await stage.send(session, page, "say", text="Hello?")
    await until(lambda: len(session.state.conversations[0].turns) == 2)
    clock.set_back()
    session, page = await stage.open(assignment)
    assert [turn.turn for turn in page.messages[0].conversation.turns] == [0, 1]
    await stage.send(session, page, "say", text="And you?")
    said: Any = await page.hears("said")
    assert said.turn == 3


# ---- bots that give themselves away ----------------------------------------------------------


async def test_a_bot_that_gives_itself_away_is_shown_as_it_is_and_noted(staged: Callable[..., Stage]) -> None:
    line = "As an AI language model, I have no favourite sea."
    stage = staged(Says(line))
    assignment, session, page = await stage.chatting()
    before = stage.store.commits
    await stage.send(session, page, "say", text="Which sea do you like?")
    said = await page.hears("said")
    assert said.text == line
    assert stage.store.commits == before + 2  # the worker's line; the bot's, together with the incident
    assert stage.notes() == [("gave_itself_away", "As an AI language model")]
    shown = await stage.store.read(lambda connection: transcript(connection, assignment))
    first = shown.conversations[0]
    assert first.turns[1].text == line
    (noted,) = first.incidents
    assert (noted.kind, noted.text) == ("gave_itself_away", "As an AI language model")
    view = query(stage.url, "SELECT run_id, conversation_id, kind, text FROM v1_note")
    assert view == [(stage.run.id, f"{assignment}-1.1", "gave_itself_away", "As an AI language model")]


SAID = [
    ("As an AI language model, I like it.", "As an AI language model"),
    ("Hi, I'm {system}!", "I'm {system}"),
    ("My name is {spaced}.", "My name is {spaced}"),
    ("I see.", None),
    ("Are you a bot?", None),
    ("Quokkas are nice.", None),
    ("I'm nobody_else.", None),
]


@pytest.mark.parametrize(("line", "words"), SAID)
def test_what_gives_a_bot_away_is_its_nature_or_its_own_name(url: str, line: str, words: str | None) -> None:
    names = make_run(url).names
    system = "quokka_plain"
    said = line.format(system=system, spaced="quokka plain")
    expected = None if words is None else words.format(system=system, spaced="quokka plain")
    assert gives_itself_away(said, names[system]) == expected


def test_what_a_study_calls_a_bot_and_its_model_is_not_what_it_may_call_itself() -> None:
    endpoint = {"kind": "openai", "urls": ["http://127.0.0.1:9/v1"], "model": "hub/Zephyr-7b-beta"}
    text = study_text(bots={"my_zephyr": endpoint}, qc={"bot": "builtin:memory"})
    study = parse_study(text.replace("wombat://spec", "my_zephyr"))
    names = names_of(study)
    assert names["wombat_plain"] == ("wombat_plain", "my_zephyr", "hub/Zephyr-7b-beta")
    assert names["qc"] == ("qc", "memory")
    assert names.keys() == {spec.name for spec in study.systems} | {"qc"}


# ---- faults of ours --------------------------------------------------------------------------


async def test_a_fault_as_something_is_shown_ends_no_session(
    staged: Callable[..., Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = staged(Gated())
    assignment, session, page = await stage.chatting()

    def fail(*_: Any) -> Any:
        raise ZeroDivisionError("a fault of ours")

    with monkeypatch.context() as faulty:
        faulty.setattr(bot_replies.ReplyTasks, "ask", fail)
        with pytest.raises(ZeroDivisionError):
            await stage.send(session, page, "say", text="Hello?")
    # What was stored counts, and a page that connects gets on from there.
    session, page = await stage.open(assignment)
    assert [line.text for line in page.messages[0].conversation.turns] == ["Hello?"]
    await stage.send(session, page, "leave")
    assert session.state.closed == "returned"


async def test_a_fault_as_a_reply_is_shown_at_its_time_keeps_no_session(
    staged: Callable[..., Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = staged(reply_time={"median": 0.2, "spread": 0, "longest": 1})
    assignment, session, page = await stage.chatting()
    await stage.send(session, page, "say", text="Hello?")

    def fail(*_: Any) -> Any:
        raise ZeroDivisionError("a fault of ours")

    with capture_logs() as logs:
        monkeypatch.setattr(page, "send", fail)
        await until(lambda: any(entry["event"] == "effect failed" for entry in logs))
    session.detach(page)
    stage.live.release(assignment)
    assert len(stage.live) == 0


async def test_a_fault_as_others_have_changed_a_session_is_in_the_log(
    staged: Callable[..., Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = staged()
    assignment, _, _ = await stage.chatting()

    async def fail(_: object) -> None:
        raise ZeroDivisionError("a fault of ours")

    with capture_logs() as logs:
        monkeypatch.setattr(stage.store, "look_up", fail)
        stage.live.tell_changed(assignment)
        await until(lambda: logs)
    assert [(line["event"], line["assignment"]) for line in logs] == [("session not reloaded", assignment)]


async def test_a_fault_in_what_another_process_asked_for_is_in_the_log(
    staged: Callable[..., Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = staged()
    assignment, session, _ = await stage.chatting()
    Interventions(stage.live, stage.store, stage.news)

    async def fail(*_: object) -> bool:
        raise ZeroDivisionError("a fault of ours")

    monkeypatch.setattr(session, "intervene", fail)
    with capture_logs() as logs:
        asked = {"name": "elsewhere", "assignment": assignment, "why": "Enough.", "actor": ["person", "Rita"]}
        stage.news.publish(ASKED, asked)
        await until(lambda: logs)
    assert [line["event"] for line in logs] == ["intervention for another process failed"]


async def test_messages_that_come_while_one_is_being_stored_are_taken_in_their_order(
    staged: Callable[..., Stage],
) -> None:
    stage = staged(Gated())
    _, session, page = await stage.chatting()
    where = {"conversation": 1, "attempt": 1}
    contents = [
        {"type": "say", "id": "one", **where, "turn": 0, "text": "Hello?"},
        {"type": "say", "id": "two", **where, "turn": 1, "text": "Too early."},
        {"type": "leave", "id": "three"},
    ]
    ends: list[tuple[str, str]] = []

    async def send(content: dict[str, Any]) -> None:
        message = FromWorker(client_messages.validate_python(content), utc_now())
        try:
            await session.receive(message, page)
        except RefusedMessage as refusal:
            ends.append((content["id"], type(refusal).__name__))
        else:
            ends.append((content["id"], "done"))

    await asyncio.gather(*(send(content) for content in contents))
    assert page.types()[-1] == "accepted"
    assert ends == [("one", "done"), ("two", "ReplyPending"), ("three", "done")]


async def test_a_session_that_nobody_holds_goes_by_itself(staged: Callable[..., Stage]) -> None:
    """The collector looks through what lasts after hours: sessions may not wait for it."""
    stage = staged()
    assignment, session, page = await stage.chatting()
    await stage.send(session, page, "say", text="Hello?")
    await page.hears("said")
    await stage.send(session, page, "leave")
    session.detach(page)
    kept = weakref.ref(session)
    gc.disable()
    try:
        del session
        stage.live.release(assignment)
        await until(lambda: kept() is None)
    finally:
        gc.enable()
