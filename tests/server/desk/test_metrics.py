"""Tests of `/metrics`, with bots that really answered, failed and hung, and of access to it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_open
from prometheus_client.parser import text_string_to_metric_families as parse

from bots import Bot, BotError, Chat, Reply, Turn
from bots.endpoints.http import HttpEndpoint
from bots.serving import BotGone, ChatEnded, PunctualBot, ask, open_endpoint
from server.bots.lineup import OpenRun
from server.desk.metrics import BUCKETS, Metrics, kind_of
from server.session.plan import QC
from tests.bots.support.servers import answer, close_at_once, hang, saying, serving
from tests.server.support.bots import Echo, Gated, Raises
from tests.server.support.database import make_run, query
from tests.server.support.server import House
from tests.server.support.study import RUN, SYSTEMS, study_text
from tests.support.waiting import PATIENCE, wait_until

QUICK = {"timeouts": {"bot_try": 0.1, "bot_total": 0.3}}
CHAT = Chat("c1", 7, (), (Turn("worker", "Hello?"),))
Values = dict[tuple[str, ...], float]
Serve = Callable[..., House]


def read(text: str, name: str, *labels: str) -> Values:
    """Return a sample's values by the values of `labels`; samples that agree in them are added up."""
    values: Values = {}
    for family in parse(text):
        for sample in family.samples:
            if sample.name == name:
                key = tuple(sample.labels[label] for label in labels)
                values[key] = values.get(key, 0) + sample.value
    return values


def page(house: House) -> str:
    """Return the page as a researcher gets it."""
    headers = {"Authorization": f"Bearer {house.auth.researcher_token}"}
    got = house.http("GET", "/metrics", headers=headers)
    assert got.status_code == 200
    return got.text


def nonzero(values: Values) -> Values:
    return {key: value for key, value in values.items() if value}


# ---- through the whole server ----------------------------------------------------------------


def test_every_reply_counts_for_the_system_that_gave_it(house: House, url: str) -> None:
    with house.page() as ann:
        ann.whole()
    text = page(house)
    # Four conversations of two inputs each, with three systems and the qc bot.
    chatted = "SELECT s.name, count(*) FROM turn t JOIN conversation c ON c.id = t.conversation_id "
    chatted += "JOIN system s ON s.id = c.system_id WHERE t.author = 'bot' GROUP BY s.name"
    counts = {(RUN, system): float(n) for system, n in query(url, chatted)}
    assert sorted(counts.values()) == [2, 2, 2, 2]
    assert nonzero(read(text, "candor_bot_reply_seconds_count", "run", "system")) == counts
    assert set(read(text, "candor_bot_reply_seconds_count", "system")) == {(name,) for name in [*SYSTEMS, QC]}
    assert nonzero(read(text, "candor_bot_failures_total", "system", "kind")) == {}
    assert nonzero(read(text, "candor_bot_calls_in_flight", "system")) == {}


def test_systems_that_share_a_bot_can_be_added_up(house: House) -> None:
    bots = read(page(house), "candor_bot_reply_seconds_count", "system", "bot")
    assert ("quokka_plain", "quokka://spec") in bots
    assert ("quokka_warm", "quokka://spec") in bots
    assert (QC, "qc") in bots


def test_replies_are_in_the_buckets_from_their_time_on(house: House) -> None:
    with house.page() as ann:
        ann.agree()
        ann.open_topic()
        ann.say("Hello?")
    buckets = read(page(house), "candor_bot_reply_seconds_bucket", "le")
    assert [float(le) for (le,) in buckets] == [*BUCKETS, float("inf")]
    assert (BUCKETS[0], BUCKETS[-1]) == (0.05, 60.0)
    seen = list(buckets.values())
    assert seen == sorted(seen)
    assert seen[-1] == 1


def test_what_the_server_does_is_told_too(house: House) -> None:
    before = read(page(house), "candor_store_commits_total")[()]
    with house.page() as ann:
        ann.agree()
        during = page(house)
    assert read(during, "candor_live_sessions") == {(): 1}
    assert read(during, "candor_store_commits_total")[()] > before
    wait_until(lambda: read(page(house), "candor_live_sessions") == {(): 0}, "the session to be forgotten")


@pytest.mark.parametrize(
    ("bot", "kind"),
    [
        (Raises(BotError("out of order")), "error"),
        (Raises(BotGone("disabled")), "gone"),
        (Raises(ValueError("a defect")), "error"),
        (Gated(), "timeout"),
    ],
    ids=["fails", "gone", "raises", "hangs"],
)
def test_every_try_that_ends_without_a_reply_is_counted_by_its_kind(
    url: str, serve: Serve, bot: Any, kind: str
) -> None:
    house = serve(url, make_run(url, study_text(**QUICK), bot))
    with house.page() as ann:
        ann.agree()
        ann.open_topic()
        ann.send("say", text="Hello?")
        ann.until("replaced")
    text = page(house)
    failures = nonzero(read(text, "candor_bot_failures_total", "kind"))
    assert failures == {(kind,): bot.calls}
    assert nonzero(read(text, "candor_bot_reply_seconds_count")) == {}
    assert nonzero(read(text, "candor_bot_calls_in_flight")) == {}


def test_a_partner_who_ends_the_chat_is_no_failure(url: str, serve: Serve) -> None:
    house = serve(url, make_run(url, study_text(minimum_inputs=1), Raises(ChatEnded("they have left"))))
    with house.page() as ann:
        ann.agree()
        ann.open_topic()
        ann.send("say", text="Hello?")
        ann.until("rating_due")
    text = page(house)
    assert nonzero(read(text, "candor_bot_failures_total", "kind")) == {}
    assert nonzero(read(text, "candor_bot_reply_seconds_count")) == {}
    assert nonzero(read(text, "candor_bot_calls_in_flight")) == {}


def test_calls_under_way_are_shown_while_they_are(url: str, serve: Serve) -> None:
    bot = Gated()
    house = serve(url, make_run(url, bots=bot))
    with house.page("ann") as ann, house.page("bob") as bob:
        for worker in (ann, bob):
            worker.agree()
            worker.open_topic()
            worker.send("say", text="Hello?")
        wait_until(lambda: read(page(house), "candor_bot_calls_in_flight") == {(): 2}, "both calls")
        bot.gate.set()
        for worker in (ann, bob):
            worker.until("said")
    text = page(house)
    assert read(text, "candor_bot_calls_in_flight") == {(): 0}
    assert read(text, "candor_bot_reply_seconds_count") == {(): 2}


def test_a_restarted_server_and_one_beside_it_count_for_themselves(url: str, serve: Serve) -> None:
    run = make_run(url)
    first, second = serve(url, run), serve(url, run)
    with first.page() as ann:
        ann.agree()
        ann.open_topic()
        ann.say("Hello?")
    assert read(page(first), "candor_bot_reply_seconds_count") == {(): 1}
    assert read(page(second), "candor_bot_reply_seconds_count") == {(): 0}
    first.stop()
    first.start()
    assert read(page(first), "candor_bot_reply_seconds_count") == {(): 0}


# ---- who may look ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "status"),
    [({}, 401), ({"Authorization": "Bearer wrong"}, 401), ({"Authorization": "Basic x"}, 401)],
)
def test_without_a_researchers_token_it_tells_nothing(
    shared: House, header: dict[str, str], status: int
) -> None:
    refused = shared.http("GET", "/metrics", headers=header)
    assert refused.status_code == status
    assert set(refused.json()) == {"error"}
    assert not [name for name in [*SYSTEMS, *SYSTEMS.values(), RUN, "candor_"] if name in refused.text]


def test_a_worker_cannot_look(shared: House, someone: str) -> None:
    headers = {"Authorization": f"Bearer {shared.token(someone)}"}
    assert shared.http("GET", "/metrics", headers=headers).status_code == 401


@pytest.mark.parametrize(
    ("accept", "content_type", "parser"),
    [
        ("*/*", "text/plain", parse),
        ("", "text/plain", parse),
        ("nonsense;;q=x", "text/plain", parse),
        (
            "application/openmetrics-text;version=1.0.0,text/plain;q=0.5",
            "application/openmetrics-text",
            parse_open,
        ),
    ],
)
def test_a_scraper_gets_the_format_that_it_asks_for(
    shared: House, accept: str, content_type: str, parser: Callable[[str], Any]
) -> None:
    bearer = {"Authorization": f"Bearer {shared.auth.researcher_token}"}
    got = shared.http("GET", "/metrics", headers=bearer | {"Accept": accept})
    assert got.headers["content-type"].startswith(content_type)
    assert "candor_bot_reply_seconds" in {family.name for family in parser(got.text)}


# ---- one bot ---------------------------------------------------------------------------------


def measured(url: str, bot: Bot) -> tuple[Bot, Callable[[], Awaitable[str]]]:
    """Return the bot of a run as it is measured, and a function that returns the page."""
    metrics = Metrics()
    run: OpenRun = metrics.measured(make_run(url, bots=bot))

    async def text() -> str:
        return bytes(metrics.page("").body).decode()

    return run.bots["quokka_plain"], text


async def test_a_bot_answers_as_if_it_were_not_measured(url: str) -> None:
    bot, _ = measured(url, Echo())
    assert await bot.reply(CHAT) == await Echo().reply(CHAT)
    wrong = BotError("out of order")
    bot, _ = measured(url, Raises(wrong))
    with pytest.raises(BotError) as caught:
        await bot.reply(CHAT)
    assert caught.value is wrong


async def test_a_cancelled_call_is_no_longer_in_flight(url: str) -> None:
    bot, text = measured(url, Gated())

    calls = [asyncio.create_task(bot.reply(CHAT)) for _ in range(3)]
    await asyncio.sleep(0)
    calls[0].cancel()
    await asyncio.wait(calls[:1])
    assert calls[0].cancelled()
    for call in calls:
        call.cancel()
    await asyncio.wait(calls)
    assert nonzero(read(await text(), "candor_bot_calls_in_flight")) == {}
    assert nonzero(read(await text(), "candor_bot_failures_total", "kind")) == {("timeout",): 3}


async def test_a_bot_that_cancels_its_own_work_has_failed_and_is_not_late(url: str) -> None:
    bot, text = measured(url, Raises(asyncio.CancelledError()))

    with pytest.raises(asyncio.CancelledError):
        await bot.reply(CHAT)
    assert nonzero(read(await text(), "candor_bot_failures_total", "kind")) == {("error",): 1}


class Punctual(PunctualBot):
    async def reply(self, chat: Chat) -> Reply:
        raise AssertionError("it is told its time")

    async def reply_within(self, chat: Chat, patience: float) -> Reply:
        return Reply(f"{patience:g}")


async def test_a_punctual_bot_stays_one_and_is_measured(url: str) -> None:
    bot, text = measured(url, Punctual())
    assert await ask(bot, CHAT, 20) == Reply("20")
    assert nonzero(read(await text(), "candor_bot_reply_seconds_count")) == {(): 1}


# ---- bots that run elsewhere -----------------------------------------------------------------

OF_ELSEWHERE: list[tuple[Any, str]] = [
    (hang, "timeout"),
    (saying(""), "empty"),
    (saying("a" * 2_001), "too_long"),
    (answer(503, b""), "busy"),
    (answer(422, b""), "refused"),
    (answer(500, b""), "error"),
    (close_at_once, "error"),
]


@pytest.mark.parametrize(
    ("behaviour", "kind"), OF_ELSEWHERE, ids=["hangs", "empty", "long", "busy", "refused", "500", "closes"]
)
async def test_a_server_that_fails_is_counted_for_what_it_did(behaviour: Any, kind: str) -> None:
    patience = 0.2 if kind == "timeout" else PATIENCE
    async with serving(behaviour) as served:
        bot = open_endpoint(HttpEndpoint(kind="http", urls=[served.url]), patience=patience)
        with pytest.raises(BotError) as caught:
            await bot.reply(CHAT)
        await bot.close()
    assert kind_of(caught.value) == kind
