"""Candor's own contract, against a server of FastAPI and uvicorn such as anybody might write."""

import asyncio
import json
from typing import Any

import pytest
from fastapi import FastAPI, HTTPException, Request

from bots import Chat, Turn
from bots.endpoints.endpoint import open_endpoint
from bots.endpoints.http import HttpEndpoint
from tests.bots.support.app_server import running
from tests.bots.support.servers import CHAT, answer, serving


def example(seen: list[Any], name: str = "bot", busy: bool = False) -> FastAPI:
    """Return a server that repeats the last line, and keeps what it was sent in `seen`."""
    app = FastAPI()

    @app.post("/bot/reply")
    async def reply(request: Request) -> dict[str, str]:
        if busy:
            raise HTTPException(503)
        body = await request.json()
        seen.append((dict(request.headers), body))
        return {"text": f"{name}: {body['turns'][-1]['text']}"}

    return app


async def test_the_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOT_KEY", " k3y \n")
    seen: list[Any] = []
    with running(example(seen)) as url:
        bot = open_endpoint(HttpEndpoint(kind="http", urls=[f"{url}/bot/"], key="BOT_KEY"))
        text = (await bot.reply(CHAT)).text
        await bot.close()
        assert text == "a pet?"  # a speaker's label is no part of a line
    headers, body = seen[0]
    assert headers["authorization"] == "Bearer k3y"
    assert headers["accept-encoding"] == "identity"
    assert body == {
        "conversation_id": "c1",
        "seed": 7,
        "persona": ["i have a dog .", "i like tea ."],
        "turns": [
            {"author": "worker", "text": "hi"},
            {"author": "bot", "text": "hey"},
            {"author": "worker", "text": "a pet?"},
        ],
    }


async def test_a_busy_replica_is_passed_over() -> None:
    with running(example([], "one", busy=True)) as one, running(example([], "two")) as two:
        bot = open_endpoint(HttpEndpoint(kind="http", urls=[f"{one}/bot", f"{two}/bot"]))
        texts = [(await bot.reply(CHAT)).text for _ in range(6)]
        await bot.close()
        assert texts == ["two: a pet?"] * 6


async def test_many_at_once_while_a_replica_dies() -> None:
    """Two hundred calls over two replicas, one of which stops halfway: each is answered, with its line."""
    chats = [Chat(f"c{at}", at, (), (Turn("worker", f"line {at}"),)) for at in range(200)]
    with running(example([], "x")) as stays:
        dying = running(example([], "x"))
        dies = dying.__enter__()

        bot = open_endpoint(HttpEndpoint(kind="http", urls=[f"{dies}/bot", f"{stays}/bot"]))
        first = await asyncio.gather(*(bot.reply(chat) for chat in chats[:100]))
        await asyncio.to_thread(dying.__exit__, None, None, None)
        second = await asyncio.gather(*(bot.reply(chat) for chat in chats[100:]))
        await bot.close()
        assert [reply.text for reply in (*first, *second)] == [f"x: line {at}" for at in range(200)]


@pytest.mark.parametrize(
    ("more", "changes"),
    [({}, ("thoughts", "marks")), ({"output": "<think>A cat?</think>Hi."}, ("thoughts",))],
)
async def test_thoughts_are_no_part_of_a_programs_line(
    more: dict[str, str], changes: tuple[str, ...]
) -> None:
    body = json.dumps({"text": "<think>A cat?</think>Hi.", **more}).encode()
    async with serving(answer(200, body)) as served:
        bot = open_endpoint(HttpEndpoint(kind="http", urls=[served.url]))
        reply = await bot.reply(CHAT)
        await bot.close()
    assert (reply.text, reply.changes) == ("Hi.", changes)
    assert reply.output == "<think>A cat?</think>Hi."
