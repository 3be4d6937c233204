"""The handling of a worker's message is one trace, from the page to the bot and back."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from bots import Chat, Reply
from bots.serving import StreamConsumer
from server.bots.opened_bots import OpenedBots
from tests.needs import need_telemetry
from tests.server.support.bots import Says
from tests.server.support.database import make_run
from tests.server.support.server import House
from tests.support.redis_server import RedisServer
from tests.support.waiting import until, wait_until

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

need_telemetry()


def forget_up_to(type_: str, spans: "InMemorySpanExporter") -> None:
    """Forget all there was, once a message of this type is over: its page may hear of it before that."""
    wait_until(
        lambda: any((each.attributes or {}).get("type") == type_ for each in spans.get_finished_spans()),
        f"the end of `{type_}`",
    )
    spans.clear()


class HostedElsewhere:
    """The registered bot, as soon as it is registered."""

    def __init__(self, opened: OpenedBots) -> None:
        self._opened = opened

    async def reply(self, chat: Chat) -> Reply:
        bot = self._opened.registered("elsewhere")
        assert bot is not None
        return await bot.reply(chat)


@pytest.mark.services
async def test_a_line_is_one_trace_from_the_page_to_a_host_behind_the_stream_and_back(
    url: str, redis: RedisServer, serve: Callable[..., House], spans: "InMemorySpanExporter"
) -> None:
    opened = OpenedBots(refuse_private=False, redis_url=redis.url)
    run = make_run(url, bots=HostedElsewhere(opened))
    house = serve(url, run, opened_bots=opened, redis_url=redis.url)
    house.desk("/bots", method="POST", json={"name": "elsewhere", "endpoint": {"kind": "dial-in"}})
    consumer = StreamConsumer(redis.url, "elsewhere", Says("I am far away."), label="far", room=1)
    answering = asyncio.create_task(consumer.run())

    def said() -> str:
        with house.page("ann-the-worker") as page:
            page.agree()
            page.open_topic()
            forget_up_to("topic", spans)
            return str(page.say("What nobody else may read")["text"])

    assert await asyncio.to_thread(said) == "I am far away."
    parts = {"message", "step", "store", "ask", "reply"}
    await until(lambda: {each.name for each in spans.get_finished_spans()} >= parts)
    answering.cancel()
    await asyncio.gather(answering, return_exceptions=True)
    found = {each.name: each for each in spans.get_finished_spans()}
    assert found.keys() == parts
    assert len({each.context.trace_id for each in found.values()}) == 1
    assert found["reply"].parent.span_id == found["ask"].context.span_id
    assert found["ask"].parent.span_id == found["message"].context.span_id
    assert "nobody else" not in "".join(each.to_json() for each in found.values())


def test_a_line_leads_through_step_and_store_to_the_bot_and_back(
    house: House, spans: "InMemorySpanExporter"
) -> None:
    with house.page("ann-the-worker") as page:
        page.ask("agree")
        page.ask("topic", text="music", opinion="like")
        forget_up_to("topic", spans)
        assert page.ask("say", text="What nobody else may read")["type"] == "accepted"
        wait_until(lambda: len(spans.get_finished_spans()) >= 6, "the reply to be stored")
    found = spans.get_finished_spans()
    message = next(each for each in found if each.name == "message")
    assert dict(message.attributes) == {"type": "say"}
    assert {each.context.trace_id for each in found} == {message.context.trace_id}
    under = [each.name for each in found if each.parent and each.parent.span_id == message.context.span_id]
    assert sorted(under) == ["ask", "step", "step", "store", "store"]  # the worker's line, and the reply
    told = "".join(each.to_json() for each in found)
    assert "nobody else" not in told
    assert "ann-the-worker" not in told
