"""Servers that hang, fail, babble or flood: one BotError each, which says what is the matter."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic import TypeAdapter
from structlog.testing import capture_logs

from bots import BotError
from bots.endpoints import Endpoint, open_endpoint
from bots.endpoints.replicas import Replicas
from tests.bots.support.servers import (
    CHAT,
    Behaviour,
    Served,
    answer,
    babble,
    break_off,
    close_at_once,
    drip,
    hang,
    pour,
    said,
    saying,
    serving,
)
from tests.support.waiting import PATIENCE

ENDPOINT: TypeAdapter[Endpoint] = TypeAdapter(Endpoint)
KINDS: dict[str, Callable[[str], dict[str, Any]]] = {
    "openai": lambda url: {"urls": [url], "model": "m"},
    "http": lambda url: {"urls": [url]},
    "parlai-web": lambda url: {"urls": [url]},
}
every_kind = pytest.mark.parametrize("kind", KINDS)


@asynccontextmanager
async def opened(
    kind: str, behaviour: Behaviour, patience: float = PATIENCE, **settings: Any
) -> AsyncIterator[tuple[Replicas, Served]]:
    async with serving(behaviour) as served:
        endpoint = ENDPOINT.validate_python({"kind": kind, **KINDS[kind](served.url), **settings})
        bot = open_endpoint(endpoint, patience=patience)
        try:
            yield bot, served
        finally:
            await bot.close()


async def failure(kind: str, behaviour: Behaviour, patience: float = PATIENCE, **settings: Any) -> str:
    """Return what the error says that `behaviour` leads to."""
    async with opened(kind, behaviour, patience, **settings) as (bot, served):
        with pytest.raises(BotError) as caught:
            await bot.reply(CHAT)
        assert served.url in str(caught.value)
        return str(caught.value)


async def reply(kind: str, behaviour: Behaviour) -> str:
    async with opened(kind, behaviour) as (bot, _):
        return (await bot.reply(CHAT)).text


@every_kind
async def test_a_good_answer(kind: str) -> None:
    assert await reply(kind, saying("A dog.")) == "A dog."


@every_kind
async def test_control_characters_are_taken_out(kind: str) -> None:
    assert await reply(kind, saying(" \x1b[31ma\x00 dog\x85\n\tof mine\u007f ")) in {
        "[31ma dog\n\n    of mine",
        "[31ma dog of mine",
    }


@every_kind
@pytest.mark.parametrize("behaviour", [hang, drip])
async def test_no_end(kind: str, behaviour: Behaviour) -> None:
    assert "no reply within 0.3 s" in await failure(kind, behaviour, patience=0.3)


@every_kind
async def test_the_caller_gives_up(kind: str) -> None:
    async with opened(kind, hang) as (bot, _):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await bot.reply(CHAT)


@every_kind
@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        (answer(500, b"Traceback: secret"), "did not answer the question (status 500"),
        (answer(500, b"x" * 10_000_000), "status 500"),
        (answer(404, b"{}"), "nothing at this address"),
        (answer(429, b"{}"), "asked too often, or a quota is used up"),
        (answer(503, b"{}"), "busy, or still loading"),
        (answer(204, b""), "status 204"),
        (answer(200, b"<!doctype html><p>Hello", Content_Type="text/html"), "not JSON of the expected form"),
        (answer(200, b"", Content_Type="application/json"), "not JSON of the expected form"),
        (answer(200, b'["text"]', Content_Type="application/json"), "not JSON of the expected form"),
        (answer(200, b'{"text": 3, "choices": [{"message": 3}]}'), "not JSON of the expected form"),
        (answer(200, said("a dog").replace(b"dog", b"d\xff\xfeg")), "not JSON of the expected form"),
        (answer(200, gzip.compress(said("a" * 10**7)), Content_Encoding="gzip"), "compressed"),
        (pour, "more than 1024 KiB"),
        (saying("a" * 1_100_000), "more than 1024 KiB"),
        (saying("a" * 2_001), "2001 characters"),
        (break_off, "broke off"),
        (close_at_once, "broke off"),
        (babble, "was not HTTP"),
    ],
)
async def test_bad_answer(kind: str, behaviour: Behaviour, reason: str) -> None:
    assert reason in await failure(kind, behaviour)


@every_kind
@pytest.mark.parametrize("text", ["", " \n ", "\x00"])
async def test_empty(kind: str, text: str) -> None:
    assert "the reply was empty" in await failure(kind, saying(text))


@pytest.mark.parametrize("kind", ["openai", "parlai-web"])
async def test_no_text_at_all(kind: str) -> None:
    assert "the reply was empty" in await failure(kind, saying(None))


@every_kind
async def test_redirects_are_not_followed(kind: str) -> None:
    async with serving(saying("from elsewhere")) as elsewhere:
        away = answer(307, b"", Location=elsewhere.url)
        async with opened(kind, away) as (bot, _):
            with pytest.raises(BotError, match=f"it redirects to {elsewhere.url}, which is not followed"):
                await bot.reply(CHAT)
        assert elsewhere.requests == []


async def test_half_an_emoji_is_left_out() -> None:
    """A limit of tokens may cut one in two; JSON can then say what no text can hold."""
    assert await reply("http", answer(200, b'{"text": "nice \\ud83d day"}')) == "nice day"


@pytest.mark.parametrize("text", ["\u200b\u2060 ", "\u202e", "\u200d", "\u2800 \u3164"])
async def test_a_reply_that_nobody_can_see_is_empty(text: str) -> None:
    assert "the reply was empty" in await failure("http", answer(200, json.dumps({"text": text}).encode()))


@every_kind
async def test_nobody_there(kind: str) -> None:
    async with opened(kind, hang) as (bot, served):
        pass
    bot = open_endpoint(ENDPOINT.validate_python({"kind": kind, **KINDS[kind](served.url)}))
    with pytest.raises(BotError, match="no connection: "):
        await bot.reply(CHAT)
    await bot.close()


@pytest.mark.parametrize("kind", ["openai", "http"])
@pytest.mark.parametrize("status", [401, 403])
async def test_a_wrong_key_is_told_by_its_variable(
    kind: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOT_KEY", "sk-verysecret")
    behaviour = answer(status, b'{"error": {"message": "bad key sk-verysecret"}}')
    with capture_logs() as logs:
        said = await failure(kind, behaviour, key="BOT_KEY")
    assert "does not accept the key in the environment variable BOT_KEY" in said
    assert "verysecret" not in said + repr(logs)
    assert "bad key [key]" in repr(logs)


@every_kind
async def test_a_key_is_missing(kind: str) -> None:
    assert "it requires a key" in await failure(kind, answer(401, b"{}"))


@every_kind
async def test_a_bad_answer_is_logged_and_its_first_words_are_told(kind: str) -> None:
    with capture_logs() as logs:
        said = await failure(kind, answer(500, b"Traceback\r\n" + b"x" * 1000))
    assert f'says "Traceback {"x" * 190}"' in said
    bodies = [entry["body"] for entry in logs if entry["event"] == "endpoint failed"]
    assert bodies == ["Traceback " + "x" * 190]
