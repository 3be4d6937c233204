"""Tests of the earlier replies that a fitted QC bot may draw from, and of whole sessions with such a bot."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

from bots import Bot, Chat, Reply
from server.bots.earlier_replies import EarlierReplies
from server.bots.lineup import OpenRun, open_lineup
from server.bots.opened_bots import OpenedBots
from server.db.runs.runs import RunEntry
from server.db.store import Store
from server.errors import StudyInvalid
from server.session.plan import QC, assignment_of
from server.study import parse_study
from tests.server.support.bots import Says
from tests.server.support.database import execute, make_run, query, recount
from tests.server.support.server import House
from tests.server.support.study import AT, study_text


class Storyteller:
    """Says something new every time, always in the same manner."""

    async def reply(self, chat: Chat) -> Reply:
        word = f"n{chat.seed % 99991}x{chat.replies_given()}"
        return Reply(f"Well, {word} said Alice; the {word} ran Away — and {word} laughed, didn’t it?")


def fitted_run(url: str, opened_bots: OpenedBots) -> OpenRun:
    """A run whose qc bot draws from the systems, each of which is a Storyteller."""
    run = make_run(url, study_text(qc={"draw": "systems"}), Storyteller())
    pool = EarlierReplies(run.id, refresh=0.0)
    qc: Bot = opened_bots.built_in("qc", "builtin:smalltalk", pool)
    return replace(run, bots={**run.bots, QC: qc}, earlier=pool)


@pytest.fixture
def opened_bots() -> OpenedBots:
    return OpenedBots(refuse_private=False)


async def of_others(pool: EarlierReplies, own: str = "nobody's") -> list[str]:
    await pool.refresh()
    return [reply.text for reply in pool.replies.values() if reply.assignment != own]


def said_by(url: str, *, qc: bool) -> dict[str, list[str]]:
    """Return what systems, or the qc bot, said to each assignment."""
    found: dict[str, list[str]] = {}
    rows = query(
        url,
        "SELECT assignment_id, text FROM v1_turn JOIN v1_conversation USING (conversation_id) "
        "WHERE author = 'bot' AND is_qc = ? ORDER BY v1_turn.created_at",
        qc,
    )
    for assignment, text in rows:
        found.setdefault(assignment, []).append(text)
    return found


async def test_the_systems_replies_to_others_are_there_and_neither_ones_own_nor_the_qc_bots(
    url: str, run: OpenRun, store: Store, serve: Callable[..., House]
) -> None:
    house = serve(url, run)
    for worker in ("ann", "bob"):
        with house.page(worker) as page:
            page.whole()
    pool = EarlierReplies(run.id)
    pool.read_through(store)
    told = said_by(url, qc=False)
    (one, ones), (_, others) = told.items()
    assert sorted(await of_others(pool)) == sorted(ones + others)
    assert sorted(await of_others(pool, one)) == sorted(others)


async def test_replies_of_another_run_are_not_there(
    url: str, run: OpenRun, store: Store, serve: Callable[..., House]
) -> None:
    other = make_run(url, slug="lagoon")
    with serve(url, run).page() as page:
        page.agree()
        page.converse()
    pool = EarlierReplies(other.id)
    pool.read_through(store)
    assert await of_others(pool) == []


async def test_a_reply_that_gave_its_system_away_is_not_there(
    url: str, store: Store, serve: Callable[..., House]
) -> None:
    run = make_run(url, bots=Says("I am a bot, by the way."))
    with serve(url, run).page() as page:
        page.agree()
        page.converse()
    pool = EarlierReplies(run.id)
    pool.read_through(store)
    assert await of_others(pool) == []


async def test_nothing_is_there_before_it_has_a_store() -> None:
    assert await of_others(EarlierReplies(1)) == []


async def test_it_is_read_again_after_a_while_and_not_before(
    url: str, run: OpenRun, store: Store, serve: Callable[..., House]
) -> None:
    rarely, always = EarlierReplies(run.id, refresh=3_600.0), EarlierReplies(run.id, refresh=0.0)
    house = serve(url, run)
    for pool in (rarely, always):
        pool.read_through(store)
        assert await of_others(pool) == []
    with house.page() as page:
        page.agree()
        page.converse()
    assert await of_others(rarely) == []
    assert len(await of_others(always)) == 2


async def test_a_database_that_cannot_be_read_leaves_what_was_read_before(
    url: str, run: OpenRun, store: Store, serve: Callable[..., House]
) -> None:
    house = serve(url, run)
    with house.page() as page:
        page.agree()
        page.converse()
    pool = EarlierReplies(run.id, refresh=0.0)
    pool.read_through(store)
    before = await of_others(pool)
    assert len(before) == 2
    house.stop()
    execute(url, "ALTER TABLE turn RENAME TO gone")
    with capture_logs() as logs:
        assert await of_others(pool) == before
        fresh = EarlierReplies(run.id)
        fresh.read_through(store)
        assert await of_others(fresh) == []
    assert [entry["event"] for entry in logs].count("earlier replies not read") == 2


@pytest.mark.databases("sqlite", in_soak=["postgresql"])
async def test_it_holds_no_more_than_the_latest_conversations(
    url: str, run: OpenRun, store: Store, serve: Callable[..., House]
) -> None:
    with serve(url, run).page() as page:
        page.agree()
        page.converse()
    ((conversation, started),) = query(
        url, "SELECT DISTINCT conversation_id, started_at FROM turn JOIN conversation ON id = conversation_id"
    )
    begun = datetime.fromisoformat(str(started))
    for number in range(150):
        copy = f"other-{number}.1"
        execute(
            url,
            "INSERT INTO conversation (id, assignment_id, position, attempt, system_id, seed, persona, "
            "icebreaker, status, started_at, ended_at, ended_by, rated_at, rated_by) "
            "SELECT ?, assignment_id, ?, attempt, system_id, seed, persona, "
            "icebreaker, status, started_at, ended_at, ended_by, rated_at, rated_by "
            "FROM conversation WHERE id = ?",
            *(copy, 100 + number, conversation),
        )
        later = begun + timedelta(seconds=number + 1)
        execute(url, "UPDATE conversation SET started_at = ? WHERE id = ?", str(later), copy)
        execute(
            url,
            "INSERT INTO turn (conversation_id, turn_index, author, text, client_id, created_at, show_at, "
            "latency_ms) SELECT ?, turn_index, author, ? || text, client_id, created_at, show_at, "
            "latency_ms FROM turn WHERE conversation_id = ?",
            *(copy, f"{number}: ", conversation),
        )
    recount(url)
    pool = EarlierReplies(run.id)
    pool.read_through(store)
    numbers = {int(text.partition(":")[0]) for text in await of_others(pool)}
    assert numbers == set(range(50, 150))


# ---- whole sessions --------------------------------------------------------------------------


def words(lines: list[str]) -> set[str]:
    """Return the words that only a storyteller says, each in one reply only."""
    return set(re.findall(r"n\d+x\d+", " ".join(lines).lower()))


def test_the_qc_bot_of_a_run_speaks_like_its_systems_once_they_have_spoken(
    url: str, serve: Callable[..., House], opened_bots: OpenedBots
) -> None:
    run = fitted_run(url, opened_bots)
    house = serve(url, run, opened_bots=opened_bots)
    for number in range(10):  # three systems and two inputs each: six replies a worker
        with house.page(f"w{number}") as page:
            page.whole()
    qc, systems = said_by(url, qc=True), said_by(url, qc=False)
    assert len(qc) == 10
    for assignment, lines in qc.items():
        assert not words(systems[assignment]) & words(lines), "a worker heard of their own chats"
        assert len(set(lines)) == len(lines)
    first, *_, last = qc.values()
    assert not words(first), "nobody else had been told anything"
    assert all(words([line]) and "—" in line for line in last), "there were 54 replies to others"


def test_a_restart_in_the_middle_goes_on_without_saying_anything_twice(
    url: str, serve: Callable[..., House], opened_bots: OpenedBots
) -> None:
    house = serve(url, fitted_run(url, opened_bots), opened_bots=opened_bots)
    for number in range(10):
        with house.page(f"w{number}") as page:
            page.whole()
    token = house.token("late")
    with house.open(token) as page:
        page.agree()
        for _ in range(4):
            page.open_topic()
            page.say("one")
            system = query(
                url,
                "SELECT is_qc FROM v1_conversation WHERE position = ? AND status = 'active'",
                page.conversation,
            )
            if system == [(1,)]:
                break
            page.say("two")
            page.send("end_conversation")
            page.until("rating_due")
            page.rate()
        where = page.conversation, page.attempt, page.turn
    house.stop()
    house.start()
    with house.open(token) as page:
        assert (page.conversation, page.attempt, page.turn) == where
        said = [turn["text"] for turn in page.snapshot["conversation"]["turns"] if turn["author"] == "bot"]
        said += [page.say(f"line {number}")["text"] for number in range(8)]
    assert len(set(said)) == 9
    assert all("—" in line for line in said)


# ---- the study's setting ---------------------------------------------------------------------


def entry(**qc: Any) -> RunEntry:
    text = study_text(qc=qc).replace("://spec", "").replace("bot: ", "bot: builtin:")
    for family in ("quokka", "marmot", "wombat", "dugong"):
        text = text.replace(f"builtin:{family}", "builtin:reflect")
    return RunEntry(1, "harbour", 7, "open", AT, text.replace("bot: builtin:qc", "bot: qc"))


def test_a_study_draws_from_the_corpus_unless_it_says_otherwise() -> None:
    assert open_lineup(entry(), OpenedBots(refuse_private=False)).earlier is None
    assert open_lineup(entry(draw="systems"), OpenedBots(refuse_private=False)).earlier is not None


def test_another_qc_bot_cannot_draw_from_the_systems() -> None:
    with pytest.raises(StudyInvalid, match=r"qc\.draw: Only the standard QC bot draws from the systems"):
        parse_study(study_text(qc={"draw": "systems", "bot": "builtin:memory"}))


def test_what_is_neither_is_refused() -> None:
    with pytest.raises(StudyInvalid, match=r"qc\.draw"):
        parse_study(study_text(qc={"draw": "both"}))


def test_a_conversation_tells_its_assignment() -> None:
    assert assignment_of("ab-c_d-3.2") == "ab-c_d"
