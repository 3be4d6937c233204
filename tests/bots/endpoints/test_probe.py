"""Heartbeats: what a server of each kind is asked, and which answers mean that it can take chats."""

import asyncio

import pytest
from pydantic import TypeAdapter

from bots import BotError
from bots.serving import DialInEndpoint, Endpoint, EndpointError, open_endpoint
from tests.bots.support.servers import CHAT, Behaviour, Request, answer, break_off, hang, saying, serving
from tests.support.waiting import PATIENCE

READY = b'{"name": "m", "ready": true, "under_way": 3}'
LOADING = b'{"name": "m", "ready": false, "under_way": 0}'
KINDS: dict[str, dict[str, str]] = {
    "http": {"kind": "http"},
    "openai": {"kind": "openai", "model": "m"},
    "parlai-web": {"kind": "parlai-web"},
}
ASKED = {"http": "/health", "openai": "/models", "parlai-web": "/"}
_ENDPOINT: TypeAdapter[Endpoint] = TypeAdapter(Endpoint)


def endpoint(kind: str, url: str) -> Endpoint:
    return _ENDPOINT.validate_python({**KINDS[kind], "urls": [url]})


async def probed(kind: str, behaviour: Behaviour) -> str | None:
    """Probe a server that behaves so; return what is the matter with it."""
    async with serving(behaviour) as served:
        patience = 0.5 if behaviour is hang else PATIENCE
        replica = endpoint(kind, served.url).open(served.url, patience=patience)
        try:
            await replica.probe()
            return None
        except BotError as error:
            return str(error)
        finally:
            await replica.close()
            assert [request.path for request in served.requests] == [ASKED[kind]]


@pytest.mark.parametrize(
    ("kind", "behaviour"),
    [
        ("http", answer(200, READY)),
        ("http", answer(200, b"fine, thanks")),
        ("http", answer(404, b"")),
        ("openai", answer(200, b'{"data": []}')),
        ("openai", answer(404, b"")),
        ("openai", answer(401, b"")),
        ("openai", answer(403, b"")),
        ("openai", answer(405, b"")),
        ("openai", answer(429, b"")),
        ("openai", answer(500, b"no list of models, but chats: transformers serve without a hub")),
        ("parlai-web", answer(200, b"<html>")),
        ("parlai-web", answer(501, b"")),
    ],
)
async def test_a_server_that_is_well(kind: str, behaviour: Behaviour) -> None:
    assert await probed(kind, behaviour) is None


@pytest.mark.parametrize(
    ("kind", "behaviour", "reason"),
    [
        ("http", answer(200, LOADING), "not ready: still loading, or shutting down"),
        ("http", answer(503, b""), "still loading"),
        ("http", answer(401, b""), "it requires a key"),
        ("http", break_off, "broke off"),
        ("http", hang, "silent for 0.5 s"),
        ("openai", answer(502, b""), "did not answer the question"),
        ("openai", hang, "silent for 0.5 s"),
        ("parlai-web", hang, "silent for 0.5 s"),
    ],
)
async def test_a_server_that_is_not(kind: str, behaviour: Behaviour, reason: str) -> None:
    assert reason in (await probed(kind, behaviour) or "fine")


@pytest.mark.parametrize("kind", KINDS)
async def test_a_server_that_is_away(kind: str) -> None:
    async with serving(hang) as served:
        url = served.url
    replica = endpoint(kind, url).open(url)
    with pytest.raises(BotError, match="no connection"):
        await replica.probe()
    await replica.close()


async def test_a_key_is_sent_with_a_heartbeat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOT_KEY", "s3cret")

    async with serving(answer(200, READY)) as served:
        keyed = _ENDPOINT.validate_python({"kind": "http", "urls": [served.url], "key": "BOT_KEY"})
        replica = keyed.open(served.url)
        await replica.probe()
        await replica.close()
        assert served.requests[0].headers["authorization"] == "Bearer s3cret"


async def test_an_interactive_web_at_work_is_left_alone() -> None:
    """It does one thing at a time: a heartbeat would wait, and say nothing that the reply does not."""

    asked, go_on = asyncio.Event(), asyncio.Event()

    async def slow(request: Request, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await go_on.wait()
        await saying("A dog.")(request, writer)

    async with serving(slow) as served:
        replica = endpoint("parlai-web", served.url).open(served.url)
        reply = asyncio.create_task(replica.reply(CHAT))
        await asked.wait()
        await replica.probe()
        go_on.set()
        assert (await reply).text == "A dog."
        await replica.close()
        assert "/" not in [request.path for request in served.requests]


async def test_a_replica_is_opened_at_the_url_that_is_given() -> None:
    async with serving(saying("from the second")) as served:
        replica = endpoint("http", "http://first.example").open(served.url)
        assert replica.url == served.url
        assert (await replica.reply(CHAT)).text == "from the second"
        await replica.close()


def test_a_bot_that_dials_in_has_no_urls() -> None:
    dial_in = DialInEndpoint(kind="dial-in")
    assert _ENDPOINT.validate_python({"kind": "dial-in"}) == dial_in
    assert open_endpoint(dial_in).urls() == ()
    with pytest.raises(EndpointError, match="start one more bot host under its name"):
        dial_in.open("http://a.example")
