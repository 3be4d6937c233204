"""Candor's own contract, against a server such as anybody might write; and ParlAI's own `interactive_web`."""

import asyncio
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, HTTPException, Request

from bots import Chat, Turn
from bots.endpoints import open_endpoint
from bots.endpoints.http import HttpEndpoint, ParlaiWebEndpoint, history
from tests.bots.support.app_server import running
from tests.bots.support.servers import CHAT, answer, saying, serving
from tests.needs import need_parlai
from tests.support.local_process import free_port


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


REPOSITORY = Path(__file__).parents[3]


def test_history() -> None:
    turns = (Turn("worker", " hi\nthere "), Turn("bot", "hey"), Turn("worker", "a\tpet?"))
    assert (
        history(Chat("c", 1, ("i like tea .",), turns)) == "your persona: i like tea .\nhi there\nhey\na pet?"
    )
    assert history(Chat("c", 1, (), turns[:1])) == "hi there"


async def test_what_is_sent() -> None:
    async with serving(saying("a dog")) as served:
        bot = open_endpoint(ParlaiWebEndpoint(kind="parlai-web", urls=[served.url]))
        await asyncio.gather(*(bot.reply(CHAT) for _ in range(3)))
        await bot.close()
        assert [request.path for request in served.requests] == ["/reset", "/interact"] * 3
        assert {request.body for request in served.requests} == {b"", history(CHAT).encode()}


@contextmanager
def interactive_web(log: Path) -> Iterator[str]:
    """Run a process of `interactive_web`; yield its address."""
    port = free_port()
    command = [sys.executable, "-m", "tests.bots.support.interactive_web", "--host", "127.0.0.1"]
    command += ["--port", str(port), "--model", "tests.bots.support.interactive_web:RecallingAgent"]
    with log.open("wb") as out:
        process = subprocess.Popen(command, cwd=REPOSITORY, stdout=out, stderr=subprocess.STDOUT)
    try:
        while not _listens(port):
            if process.poll() is not None:
                pytest.fail(f"interactive_web ended: {log.read_text()[-2_000:]}")
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def parlai() -> None:
    """Nothing that needs ParlAI is tested where there is none."""
    need_parlai()


@pytest.fixture(scope="module")
def two_processes(parlai: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """The addresses of two running processes."""
    folder = tmp_path_factory.mktemp("interactive_web")
    with ExitStack() as stack:
        yield [stack.enter_context(interactive_web(folder / f"log{at}")) for at in range(2)]


@pytest.mark.parlai
async def test_conversations_at_once_never_mix(two_processes: list[str]) -> None:
    chats = [
        Chat(
            f"c{at}",
            1,
            (f"i am {at} .",),
            (Turn("worker", f"é {at}"), Turn("bot", "hey"), Turn("worker", "so?")),
        )
        for at in range(40)
    ]

    bot = open_endpoint(ParlaiWebEndpoint(kind="parlai-web", urls=two_processes))
    replies = await asyncio.gather(*(bot.reply(chat) for chat in chats))
    await bot.close()
    assert [reply.text for reply in replies] == [
        f"Your persona: I am {at}. / é {at} / hey / so?" for at in range(40)
    ]


@pytest.mark.parlai
async def test_a_call_given_up_leaves_nothing_behind(two_processes: list[str]) -> None:
    bot = open_endpoint(ParlaiWebEndpoint(kind="parlai-web", urls=two_processes[:1]))
    for pause in (0.0, 0.001, 0.003):
        given_up = asyncio.create_task(bot.reply(Chat("x", 1, (), (Turn("worker", "never mind"),))))
        await asyncio.sleep(pause)
        given_up.cancel()
        await asyncio.gather(given_up, return_exceptions=True)
        await bot.reply(Chat("y", 1, (), (Turn("worker", "before"),)))
    text = (await bot.reply(Chat("y", 1, (), (Turn("worker", "hello"),)))).text
    await bot.close()
    assert text == "Hello"


@pytest.mark.parlai
async def test_a_process_dies(two_processes: list[str], tmp_path: Path) -> None:
    with interactive_web(tmp_path / "log") as dying:
        urls = [dying, two_processes[0]]
        bot = open_endpoint(ParlaiWebEndpoint(kind="parlai-web", urls=urls))

    replies = [await bot.reply(CHAT) for _ in range(4)]
    await bot.close()
    assert len({reply.text for reply in replies}) == 1


HISTORY = """
import bots.parlai
from types import SimpleNamespace
from parlai.core.message import Message
from parlai.core.torch_agent import History
letters = SimpleNamespace(txt2vec=lambda text: [ord(letter) for letter in text])
told = History({"split_lines": False}, dict_agent=letters)
for observed, replied in (("your persona: i am 1 .\\nhi", "hey"), ("a pet?", "")):
    told.update_history(Message({"text": observed}))
    if replied:
        told.add_reply(replied)
whole = History({"split_lines": False}, dict_agent=letters)
whole.update_history(Message({"text": "your persona: i am 1 .\\nhi\\nhey\\na pet?"}))
assert whole.get_history_str() == told.get_history_str(), (whole, told)
assert list(whole.get_history_vec()) == list(told.get_history_vec())
"""


@pytest.mark.parlai
def test_a_history_in_one_piece_is_what_parlai_makes_of_turns(parlai: None) -> None:
    subprocess.run([sys.executable, "-c", HISTORY], cwd=REPOSITORY, check=True)
