"""The host's HTTP contract, over real sockets."""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import httpx2
import pytest
import uvicorn

from bots import Chat, Reply, open_bot
from bots.builtin.parts.exchanges import stock
from bots.core.failures import BotError, ChatRefused, EmptyReply, failure
from bots.endpoints import open_endpoint
from bots.endpoints.address import Key
from bots.endpoints.http import HttpEndpoint
from bots.host import app as app_module
from bots.host.app import DrainingServer, Host, create_app
from bots.host.model import BuiltinModel, MicroBatch, Output
from bots.serving import Corpus
from tests.bots.support.chats import as_request
from tests.support.waiting import PATIENCE, until

Talk = Callable[..., Chat]


class Raises:
    """A bot that cannot answer, for the reason `error`."""

    def __init__(self, error: BotError) -> None:
        self.error = error

    async def reply(self, chat: Chat) -> Reply:
        raise self.error


class Gated:
    """Repeats the last line once the gate is open; refuses "bad"; keeps what it was asked."""

    name = "gated"

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.gate = threading.Event()

    def replies(self, chats: Sequence[Chat]) -> list[Output]:
        lines = [chat.turns[-1].text for chat in chats]
        self.asked += lines
        assert self.gate.wait(PATIENCE)
        if "bad" in lines:
            raise RuntimeError("out of words")
        return list(map(Output, lines))


@asynccontextmanager
async def serving(
    host: Host, key: Key | None = None
) -> AsyncIterator[tuple[httpx2.AsyncClient, DrainingServer]]:
    """A client of `host`, which listens on a port of this machine."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=256)
    config = uvicorn.Config(create_app(host, key), log_level="warning", timeout_graceful_shutdown=5)
    server = DrainingServer(config, host)
    serve = asyncio.create_task(server.serve(sockets=[listener]))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    try:
        async with httpx2.AsyncClient(base_url=url, timeout=PATIENCE) as client:
            yield client, server
    finally:
        server.should_exit = True
        await serve


async def test_fifty_chats_at_once_get_the_bots_own_replies(corpus: Corpus, chats: list[Chat]) -> None:
    host = Host(["tfidf"])
    bot = open_bot("builtin:retrieval", corpus)
    many = [
        Chat(f"{chat.conversation_id} {i}", i, chat.persona, chat.turns)
        for i, chat in zip(range(50), chats * 9, strict=False)
    ]

    host.put("tfidf", MicroBatch(BuiltinModel("retrieval", "builtin:smalltalk")))
    async with serving(host) as (client, _):
        answers = await asyncio.gather(*(client.post("/tfidf/reply", json=as_request(chat)) for chat in many))
    assert [answer.status_code for answer in answers] == [200] * 50
    assert [answer.json()["text"] for answer in answers] == [(await bot.reply(chat)).text for chat in many]


async def test_a_chat_that_fails_does_not_fail_the_others(talk: Talk) -> None:
    model, host = Gated(), Host(["m"])
    host.put("m", MicroBatch(model, wait_ms=300))
    model.gate.set()

    chats = [talk(line, name=line) for line in ("a", "bad", "b")]
    async with serving(host) as (client, _):
        posts = (client.post("/m/reply", json=as_request(chat)) for chat in chats)
        first, bad, last = await asyncio.gather(*posts)
    assert (first.json()["text"], last.json()["text"]) == ("a", "b")
    assert (bad.status_code, bad.json()) == (500, {"detail": "RuntimeError: out of words"})


@pytest.mark.parametrize("kind", ["empty", "refused", "busy"])
async def test_a_failure_that_is_no_fault_of_the_host_is_none_over_http(
    talk: Talk, kind: Literal["empty", "refused", "busy"]
) -> None:
    host = Host(["m"])
    host.put("m", Raises(failure(kind, "whatever it says")))

    async with serving(host) as (client, _):
        bot = open_endpoint(HttpEndpoint(kind="http", urls=[f"{client.base_url}/m"]))
        with pytest.raises(BotError) as caught:
            await bot.reply(talk("hi"))
        await bot.close()
    assert (caught.value.kind, caught.value.counts_against_replica) == (kind, False)


async def test_what_an_empty_reply_and_a_refused_chat_are_on_the_wire(talk: Talk) -> None:
    host = Host(["empty", "refused"])
    host.put("empty", Raises(EmptyReply("nothing to say")))
    host.put("refused", Raises(ChatRefused("too long for the model")))

    async with serving(host) as (client, _):
        empty = await client.post("/empty/reply", json=as_request(talk("hi")))
        refused = await client.post("/refused/reply", json=as_request(talk("hi")))
    assert (empty.status_code, empty.json()) == (200, {"text": ""})
    assert (refused.status_code, refused.json()) == (422, {"detail": "too long for the model"})


async def test_who_hangs_up_is_not_computed_for(talk: Talk) -> None:
    model, host = Gated(), Host(["m"])
    host.put("m", MicroBatch(model, wait_ms=0))

    async with serving(host) as (client, _):
        first = asyncio.create_task(client.post("/m/reply", json=as_request(talk("first", name="1"))))
        await until(lambda: model.asked == ["first"])
        leaver = asyncio.create_task(client.post("/m/reply", json=as_request(talk("leaves", name="2"))))
        await until(lambda: host.under_way == 2)
        leaver.cancel()
        await until(lambda: host.under_way == 1)
        stays = asyncio.create_task(client.post("/m/reply", json=as_request(talk("stays", name="3"))))
        await until(lambda: host.under_way == 2)
        model.gate.set()
        assert (await first).json()["text"] == "first"
        assert (await stays).json()["text"] == "stays"
    assert model.asked == ["first", "stays"]
    assert host.under_way == 0


async def test_health_and_list_tell_who_is_ready(talk: Talk) -> None:
    model, host = Gated(), Host(["one", "two"])
    model.gate.set()
    host.put("one", MicroBatch(model))

    async with serving(host) as (client, _):
        assert (await client.get("/one/health")).json() == {"name": "one", "ready": True, "under_way": 0}
        two = {"name": "two", "ready": False, "under_way": 0}
        assert (await client.get("/two/health")).json() == two
        listed = {"models": [{"name": "one", "ready": True, "under_way": 0}, two]}
        assert (await client.get("/")).json() == listed
        loading = await client.post("/two/reply", json=as_request(talk("hi")))
        assert (loading.status_code, loading.json()) == (503, {"detail": "still loading"})
        for answer in (
            await client.get("/three/health"),
            await client.post("/three/reply", json=as_request(talk("hi"))),
        ):
            assert answer.status_code == 404
            assert answer.json()["detail"] == 'no model is called "three"; there are one, two'


async def test_a_host_with_too_much_to_do_says_so(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_module, "MOST_UNDER_WAY", 2)
    model, host = Gated(), Host(["m"])
    host.put("m", MicroBatch(model))

    async with serving(host) as (client, _):
        two = [
            asyncio.create_task(client.post("/m/reply", json=as_request(talk(line, name=line))))
            for line in "ab"
        ]
        await until(lambda: host.under_way == 2)
        third = await client.post("/m/reply", json=as_request(talk("c", name="c")))
        assert (third.status_code, third.json()) == (503, {"detail": "busy: 2 replies are under way"})
        model.gate.set()
        assert [(await answer).json()["text"] for answer in two] == ["a", "b"]


async def test_draining_finishes_what_is_under_way_and_takes_nothing_new(talk: Talk) -> None:
    model, host = Gated(), Host(["m"])
    host.put("m", MicroBatch(model))

    async with serving(host) as (client, server):
        old = asyncio.create_task(client.post("/m/reply", json=as_request(talk("old", name="1"))))
        await until(lambda: model.asked == ["old"])
        server.handle_exit(15, None)
        new = await client.post("/m/reply", json=as_request(talk("new", name="2")))
        assert (new.status_code, new.json()) == (503, {"detail": "shutting down"})
        assert (await client.get("/m/health")).json() == {"name": "m", "ready": False, "under_way": 1}
        assert not server.should_exit
        model.gate.set()
        assert (await old).json()["text"] == "old"
        await until(lambda: server.should_exit)
    assert model.asked == ["old"]


@pytest.mark.parametrize(
    "broken",
    [
        {"turns": []},
        {"turns": [{"author": "bot", "text": "hi"}]},
        {"turns": [{"author": "somebody", "text": "hi"}]},
        {"turns": [{"author": "worker", "text": "a" * 20_001}]},
        {"turns": [{"author": "worker", "text": 1}]},
        {"seed": "x"},
        {"conversation_id": ""},
        {"persona": "I ski."},
    ],
    ids=["no turns", "bot last", "nobody", "too long", "number", "seed", "no id", "persona"],
)
async def test_a_request_that_is_no_chat_is_refused(talk: Talk, broken: dict[str, Any]) -> None:
    model, host = Gated(), Host(["m"])
    host.put("m", MicroBatch(model))

    async with serving(host) as (client, _):
        assert (await client.post("/m/reply", json=as_request(talk("hi")) | broken)).status_code == 422
    assert model.asked == []


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the body: Invalid JSON"),
        (b"{", "the body: Invalid JSON"),
        (b"[1]", "the body: Input should be an object"),
        (b'{"conversation_id": "\xff\xfe"}', "invalid unicode"),
        (b'{"conversation_id": "a\x01b"}', "control character"),
        (b'{"conversation_id": "\\ud800"}', "hex escape"),
        (b"[" * 100_000, "recursion limit"),
    ],
    ids=["empty", "half", "list", "no UTF-8", "control character", "half a character", "deep"],
)
async def test_a_body_that_is_no_json_is_answered_clearly(content: bytes, reason: str) -> None:
    async with serving(Host(["m"])) as (client, _):
        answer = await client.post("/m/reply", content=content)
        assert answer.status_code == 422
        assert reason in answer.json()["detail"]


async def test_a_control_character_in_a_line_is_a_character(talk: Talk) -> None:
    model, host = Gated(), Host(["m"])
    host.put("m", MicroBatch(model))
    model.gate.set()

    async with serving(host) as (client, _):
        answer = await client.post("/m/reply", json=as_request(talk("a\x00b")))
        assert (answer.status_code, answer.json()["text"]) == (200, "ab")


@pytest.mark.parametrize("announced", [True, False])
async def test_a_body_too_large_is_not_read(announced: bool) -> None:
    async def parts() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b" " * 65_536

    async with serving(Host(["m"])) as (client, _):
        content = b" " * (20 * 65_536) if announced else parts()
        answer = await client.post("/m/reply", content=content)
        assert (answer.status_code, answer.json()) == (
            413,
            {"detail": "a request holds at most 1048576 bytes"},
        )


async def test_with_a_key_only_those_who_send_it_are_answered(talk: Talk) -> None:
    model, host = Gated(), Host(["m"])
    host.put("m", MicroBatch(model))
    model.gate.set()

    async with serving(host, Key("HOST_KEY", "s3cret")) as (client, _):
        for header in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic s3cret"}):
            for answer in (
                await client.get("/", headers=header),
                await client.get("/m/health", headers=header),
                await client.post("/m/reply", json=as_request(talk("hi")), headers=header),
            ):
                assert answer.status_code == 401
                assert "send `Authorization: Bearer KEY`" in answer.json()["detail"]
                assert "s3cret" not in answer.text
        header = {"Authorization": "Bearer s3cret"}
        assert (await client.get("/m/health", headers=header)).json()["ready"]
        answer = await client.post("/m/reply", json=as_request(talk("hi")), headers=header)
        assert answer.json()["text"] == "hi"
    assert model.asked == ["hi"]


def test_builtin_bots_over_one_corpus_learn_from_it_once(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text('{"dialogue": "1", "turns": ["Hello.", "Hi, you.", "How are you?"]}\n')
    before = stock.cache_info().misses
    for name in ("retrieval", "semantic", "memory"):
        BuiltinModel(name, str(path))
    assert stock.cache_info().misses == before + 1
