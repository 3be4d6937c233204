"""A whole check, of bots that are right and of bots that are wrong, some of them over real HTTP."""

import asyncio
import random
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import TypeAdapter

from bots import Bot, BotError, Chat, Reply
from bots.conformance.script import MOST_AT_ONCE, calls, draw_scripts
from bots.core.chat import opaque_id
from bots.serving import ConformanceReport, Endpoint, Finding, Overruns, check_bot, open_endpoint
from tests.bots.support.servers import Behaviour, answer, hang, serving
from tests.bots.support.wrong_bots import Hangs, Person, Raises, Returns, Speaks, over_http
from tests.support.waiting import PATIENCE

AT_ONCE = 3
DELAYS = (30.0, 60.0)  # nothing here comes as late


async def checked(bot: Bot, **changes: Any) -> ConformanceReport:
    given: dict[str, Any] = {
        "names": ("mybot",),
        "at_once": AT_ONCE,
        "delays": DELAYS,
        "patience": PATIENCE,
        "progress": lambda done, total: None,
    }
    return await check_bot(bot, **(given | changes))


async def over_the_wire(behaviour: Behaviour, **changes: Any) -> ConformanceReport:
    """Check a bot that a server of this behaviour is."""
    async with serving(behaviour) as served:
        adapter: TypeAdapter[Endpoint] = TypeAdapter(Endpoint)
        bot = open_endpoint(adapter.validate_python({"kind": "http", "urls": [served.url]}))
        report = await checked(bot, names=(), **changes)
        await bot.close()
        return report


def found(report: ConformanceReport, question: str) -> Finding:
    return next(finding for finding in report.findings if finding.question == question)


def failing(report: ConformanceReport) -> set[str]:
    return {finding.question for finding in report.findings if finding.verdict == "fail"}


def warning(report: ConformanceReport) -> set[str]:
    return {finding.question for finding in report.findings if finding.verdict == "warn"}


# ---- what is asked ---------------------------------------------------------------------------


async def test_a_bot_that_is_right_passes_in_everything() -> None:
    report = await checked(Person(), overruns=Overruns(replies=100, overran=1))
    assert report.verdict == "pass", report.findings
    assert len(report.findings) == 17
    assert not report.stopped


@pytest.mark.parametrize("at_once", [1, 16, 17, MOST_AT_ONCE, 1000])
async def test_the_number_of_calls_is_known_beforehand_and_no_more_than_a_hundred(at_once: int) -> None:
    told: list[tuple[int, int]] = []
    report = await checked(Person(), at_once=at_once, progress=lambda done, total: told.append((done, total)))
    assert told == [(done, calls(at_once)) for done in range(calls(at_once) + 1)]
    assert report.calls == calls(at_once) <= 100
    assert report.latency.at_once is not None
    assert report.latency.at_once.conversations == min(at_once, MOST_AT_ONCE)


class Listener:
    """A person who remembers what was asked, and how many asked at the same time."""

    def __init__(self) -> None:
        self.heard: list[Chat] = []
        self.most = self._now = 0

    async def reply(self, chat: Chat) -> Reply:
        self._now += 1
        self.most = max(self.most, self._now)
        await asyncio.sleep(0)
        self.heard.append(chat)
        self._now -= 1
        return await Person().reply(chat)


async def test_every_conversation_is_whole_and_has_an_id_of_its_own() -> None:
    listener = Listener()
    await checked(listener)
    for chat in listener.heard:
        authors = [turn.author for turn in chat.turns]
        assert authors == ["worker", "bot"] * (len(authors) // 2) + ["worker"]
    firsts = [chat for chat in listener.heard if len(chat.turns) == 1]
    # Five scripted conversations, one of whose chats is asked again, and those at once.
    assert len(firsts) == 5 + 1 + AT_ONCE
    assert len({chat.conversation_id for chat in firsts}) == len(firsts) - 1


async def test_two_checks_share_no_conversation() -> None:
    first, second = Listener(), Listener()
    await checked(first)
    await checked(second)
    ids = [{chat.conversation_id for chat in listener.heard} for listener in (first, second)]
    assert not ids[0] & ids[1]


async def test_a_bot_cannot_tell_that_it_is_checked() -> None:
    listener = Listener()
    for _ in range(20):
        await checked(listener)
    pattern = re.compile(f"[0-9a-f]{{{len(opaque_id(1, 'a-1.1'))}}}")
    assert all(pattern.fullmatch(chat.conversation_id) for chat in listener.heard)
    seeds = {chat.conversation_id: chat.seed for chat in listener.heard}
    assert len(set(seeds.values())) == len(seeds) == 20 * (5 + AT_ONCE)
    openings = Counter(chat.turns[0].text for chat in listener.heard if len(chat.turns) == 1)
    assert max(openings.values()) < sum(openings.values()) / 4


async def test_as_many_ask_at_once_as_in_the_study() -> None:
    listener = Listener()
    await checked(listener, at_once=7)
    assert listener.most == 7


async def test_the_same_chats_are_asked_again() -> None:
    listener = Listener()
    await checked(listener)
    twice = [chat for i, chat in enumerate(listener.heard) if chat in listener.heard[:i]]
    assert [len(chat.turns) for chat in twice] == [1, 19]


async def test_the_three_conversations_are_in_the_report() -> None:
    report = await checked(Person(), rng=random.Random(5))
    assert [transcript.name for transcript in report.transcripts] == [
        "small talk",
        "questions",
        "questions",
        "questions",
        "awkward",
    ]
    for transcript, script in zip(report.transcripts, draw_scripts(random.Random(5)).alone, strict=True):
        assert tuple(line.text for line in transcript.lines[::2]) == script.lines
        assert transcript.persona == script.persona
        assert all(line.author == "bot" and line.seconds is not None for line in transcript.lines[1::2])


# ---- bots that are wrong ---------------------------------------------------------------------


async def test_a_bot_that_fails_from_the_start_is_asked_three_times_only() -> None:
    bot = Raises(BotError("out of order"), range(1000))
    report = await checked(bot)
    assert (bot.asked, report.calls, report.stopped) == (3, 3, True)
    assert report.verdict == "fail"
    assert found(report, "Does it answer?").reason == (
        "3 of 3 calls failed, and it was not asked on; 3 of them: out of order."
    )


async def test_a_bot_that_hangs_is_given_up() -> None:
    bot = Hangs()
    report = await checked(bot, patience=0.01)
    assert (bot.asked, report.stopped) == (3, True)
    assert failing(report) == {"Does it answer?", "Is it in time?"}
    assert "no reply within 0.01 s" in found(report, "Does it answer?").reason


async def test_a_bot_that_hangs_every_other_time_is_not_waited_for_in_every_call() -> None:
    bot = Raises(BotError("out of order"), range(0, 1000, 2))
    assert (await checked(bot)).stopped
    assert bot.asked == 11  # the sixth failure is the eleventh call


async def test_a_line_without_an_answer_leaves_the_conversation_as_it_was() -> None:
    report = await checked(Raises(BotError("busy"), {1}))
    assert found(report, "Does it answer?").verdict == "warn"
    assert not report.stopped
    errors = [line for line in report.transcripts[0].lines if line.error is not None]
    assert [line.error for line in errors] == ["busy"]


@pytest.mark.parametrize(
    ("bot", "told"),
    [
        (Raises(ZeroDivisionError("division by zero"), range(99)), "ZeroDivisionError: division by zero"),
        (Raises(asyncio.CancelledError(), range(99)), "the bot gave up its own work"),
        (Returns(None), "AttributeError"),
        (Returns(Reply(7)), "its reply is not text, but int"),  # type: ignore[arg-type]
    ],
    ids=["raises", "cancels itself", "returns nothing", "returns a number"],
)
async def test_foreign_code_cannot_end_a_check(bot: Bot, told: str) -> None:
    report = await checked(bot)
    assert report.stopped
    assert told in found(report, "Does it answer?").reason


async def test_a_check_that_is_cancelled_ends() -> None:
    task = asyncio.create_task(
        check_bot(Hangs(), names=(), at_once=1, delays=(), progress=lambda done, total: None)
    )
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize(
    ("says", "fails", "warns"),
    [
        (lambda chat: "I see.", {"Does it vary?"}, {"Does it use its persona?"}),
        (lambda chat: f"Yes. {chat.turns[-1].text} " * 300, {"Is it short?"}, set()),
        (lambda chat: f"Line {chat.replies_given()}. As an AI language model, I cannot say.",
         {"Does it keep its secret?"}, {"Does it use its persona?"}),
        (lambda chat: f"<p>Reply {chat.replies_given()}</p>", set(),
         {"Is it plain text?", "Does it use its persona?"}),
    ],
    ids=["repeats", "too long", "gives itself away", "HTML"],
)  # fmt: skip
async def test_what_is_wrong_with_a_bot_is_what_is_found(says: Any, fails: set[str], warns: set[str]) -> None:
    report = await checked(Speaks(says))
    assert failing(report) == fails
    assert warns <= warning(report)
    assert report.verdict == ("fail" if fails else "warn")


async def test_a_bot_is_judged_by_what_workers_would_see() -> None:
    report = await checked(Speaks(lambda chat: f"\ud800 \x00 {chat.replies_given()}"))
    assert "Is it plain text?" not in warning(report)
    assert report.transcripts[0].lines[1].text == "0"
    assert ConformanceReport.model_validate_json(report.model_dump_json()) == report


async def test_an_error_that_cannot_be_encoded_can_be_stored() -> None:
    report = await checked(Raises(BotError("\ud800 \x00 out of order"), range(99)))
    assert ConformanceReport.model_validate_json(report.model_dump_json()) == report


# ---- over HTTP -------------------------------------------------------------------------------


async def test_a_person_at_an_address_passes() -> None:
    report = await over_the_wire(over_http(Person()))
    assert report.verdict == "pass", report.findings


@pytest.mark.parametrize(
    ("says", "question", "told"),
    [
        (lambda chat: "  \n", "Does it say something?", "48 of 48 replies are empty"),
        (lambda chat: "word " * 500, "Is it short?", "48 of 48 replies have more than 2000 characters"),
    ],
    ids=["empty", "too long"],
)
async def test_what_the_connection_refuses_is_found_as_what_it_is(
    says: Any, question: str, told: str
) -> None:
    at_once = 8
    assert calls(at_once) == 48
    report = await over_the_wire(over_http(Speaks(says)), at_once=at_once)
    assert failing(report) == {question}
    assert told in found(report, question).reason
    assert found(report, "Does it answer?").verdict == "pass"


@pytest.mark.parametrize(
    ("behaviour", "told"),
    [
        (answer(500, b"<h1>Traceback</h1>"), "status 500"),
        (answer(200, b"<html>hello</html>"), "not JSON of the expected form"),
        (over_http(Raises(BotError("x"), range(1000))), "status 500"),
    ],
    ids=["500", "HTML", "fails itself"],
)
async def test_a_server_that_does_not_answer_fails(behaviour: Behaviour, told: str) -> None:
    report = await over_the_wire(behaviour)
    assert report.stopped
    assert told in found(report, "Does it answer?").reason


async def test_a_server_that_hangs_is_given_up() -> None:
    report = await over_the_wire(hang, patience=0.05)
    assert (report.calls, report.verdict) == (3, "fail")


async def test_names_that_nobody_gave_are_no_secret() -> None:
    names: Sequence[str] = ("mybot",)
    bot = Speaks(lambda chat: f"My name is Mybot, for the {chat.replies_given()}th time.")
    assert "Does it keep its secret?" in failing(await checked(bot, names=names))
    assert "Does it keep its secret?" not in failing(await checked(bot, names=()))
