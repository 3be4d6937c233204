"""The host's side of dial-in, against a real WebSocket server that speaks the server's side of the wire."""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import pytest
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from bots import BotError, Chat
from bots.core.failures import ChatRefused, EmptyReply, ReplyTooLong
from bots.host import client
from bots.host.app import Host
from bots.host.client import HostConnector, HostRejected, address_of
from bots.host.model import MicroBatch, Output
from bots.serving import DIAL_IN_PATH, Drain, HostReplica, HostSession, Offer
from tests.support.waiting import PATIENCE, until

Talk = Callable[..., Chat]


class Gated:
    """Repeats the last line once the gate is open; keeps what it was asked; fails at "bad"."""

    name = "gated"

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.gate = threading.Event()
        self.gate.set()

    def replies(self, chats: Sequence[Chat]) -> list[Output]:
        lines = [chat.turns[-1].text for chat in chats]
        self.asked += lines
        assert self.gate.wait(PATIENCE)
        if "bad" in lines:
            raise RuntimeError("out of words")
        return [Output("a" * 2_001 if line == "too long" else line) for line in lines]


@dataclass
class Harbour:
    """A server that takes whoever dials in. `replicas` holds what is offered now, newest last."""

    replicas: list[HostReplica] = field(default_factory=list)
    hosts: list[HostSession] = field(default_factory=list)
    tokens: list[str | None] = field(default_factory=list)
    greeting: Callable[[ServerConnection], Awaitable[None]] | None = None
    port: int = 0
    _server: Server | None = None

    async def open(self, status: int | None = None) -> None:
        def answer(connection: ServerConnection, request: Request) -> Response | None:
            assert request.path == DIAL_IN_PATH
            self.tokens.append(request.headers.get("Authorization"))
            return None if status is None else connection.respond(status, "not here")

        self._server = await serve(self._serve, "127.0.0.1", self.port, process_request=answer)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, socket: ServerConnection) -> None:
        if self.greeting is not None:
            return await self.greeting(socket)
        queue: asyncio.Queue[str] = asyncio.Queue()
        host = HostSession(len(self.hosts) + 1, queue.put_nowait)
        self.hosts.append(host)

        async def send() -> None:
            while True:
                await socket.send(await queue.get())

        sending = asyncio.create_task(send())
        mine: list[HostReplica] = []
        try:
            host.greet(str(await socket.recv()))
            async for received in socket:
                match host.receive(str(received)):
                    case Offer(name=name):
                        mine.append(host.accept(name))
                        self.replicas.append(mine[-1])
                    case Drain():
                        self.replicas = [each for each in self.replicas if each not in mine]
                        host.release()
        except ConnectionClosed:
            pass
        finally:
            host.lose("the connection to the bot host was lost")
            self.replicas = [each for each in self.replicas if each not in mine]
            sending.cancel()
            with suppress(asyncio.CancelledError, ConnectionClosed):
                await sending


@dataclass
class Stage:
    """A harbour and a host with one loaded model, `m`, that has dialled in there."""

    harbour: Harbour
    host: Host
    model: Gated
    dial_in: HostConnector
    said: list[str]
    running: asyncio.Task[None]

    async def reply(self, chat: Chat) -> str:
        return (await self.harbour.replicas[0].reply(chat)).text


@asynccontextmanager
async def staged(*names: str) -> AsyncIterator[Stage]:
    """Set a stage, whose host is to have these models, and have the host leave at the end."""
    harbour, host, model, said = Harbour(), Host(names or ["m"]), Gated(), list[str]()
    host.put("m", MicroBatch(model, wait_ms=0))
    await harbour.open()
    dial_in = HostConnector(host, f"http://127.0.0.1:{harbour.port}", "a-token", said.append)
    running = asyncio.create_task(dial_in.run())
    try:
        await until(lambda: len(harbour.replicas) == 1)
        yield Stage(harbour, host, model, dial_in, said, running)
    finally:
        dial_in.stop()
        await asyncio.gather(running, return_exceptions=True)
        await harbour.close()


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody pauses for long before coming back."""
    monkeypatch.setattr(client, "FIRST_PAUSE", 0.02)
    monkeypatch.setattr(client, "LONGEST_PAUSE", 0.05)


async def test_a_host_answers_over_the_connection_that_it_opened(talk: Talk) -> None:
    async with staged() as stage:
        assert stage.harbour.tokens == ["Bearer a-token"]
        names = [str(number) for number in range(20)]
        said = await asyncio.gather(*(stage.reply(talk(name, name=name)) for name in names))
        assert said == names
        assert len(stage.harbour.hosts) == 1


async def test_what_a_model_cannot_answer_is_told_and_the_connection_goes_on(talk: Talk) -> None:
    async with staged() as stage:
        with pytest.raises(BotError, match="RuntimeError: out of words") as caught:
            await stage.reply(talk("bad"))
        assert type(caught.value) is BotError
        with pytest.raises(ReplyTooLong, match="the reply has 2001 characters"):
            await stage.reply(talk("too long"))
        with pytest.raises(ChatRefused, match='no model is called "other" here'):
            await HostReplica(stage.harbour.hosts[0], "other").reply(talk("hi"))
        with pytest.raises(ChatRefused, match="too long to be sent"):
            await stage.reply(talk(*["a" * 20_000] * 61))
        with pytest.raises(EmptyReply, match="gated found nothing to say"):
            await stage.reply(talk(" "))
        with pytest.raises(EmptyReply, match="the reply was empty"):
            await stage.reply(talk("\u200b"))
        assert await stage.reply(talk("good")) == "good"


async def test_what_the_server_gives_up_is_not_computed(talk: Talk) -> None:
    async with staged() as stage:
        stage.model.gate.clear()
        first = asyncio.create_task(stage.reply(talk("first", name="1")))
        await until(lambda: stage.model.asked == ["first"])
        given_up = asyncio.create_task(stage.reply(talk("given up", name="2")))
        await until(lambda: stage.host.under_way == 2)
        given_up.cancel()
        await until(lambda: stage.host.under_way == 1)
        stage.model.gate.set()
        assert await first == "first"
        assert await stage.reply(talk("next", name="3")) == "next"
        assert stage.model.asked == ["first", "next"]


async def test_a_model_that_becomes_ready_later_is_offered_then(talk: Talk) -> None:
    async with staged("m", "late") as stage:
        late = Gated()
        # As the thread does that loads models.
        loading = threading.Thread(target=lambda: stage.host.put("late", MicroBatch(late)))
        loading.start()
        loading.join()
        stage.dial_in.changed()
        await until(lambda: len(stage.harbour.replicas) == 2)
        assert (await stage.harbour.replicas[1].reply(talk("hi"))).text == "hi"
        assert late.asked == ["hi"]
        await until(lambda: stage.said[-1] == "Ready: late")


async def test_a_host_comes_back_when_the_server_does(talk: Talk) -> None:
    async with staged() as stage:
        stage.model.gate.clear()
        lost = asyncio.create_task(stage.reply(talk("lost")))
        await until(lambda: stage.model.asked == ["lost"])
        await stage.harbour.close()
        with pytest.raises(BotError, match="the connection to the bot host was lost"):
            await lost
        await until(lambda: any("Connect call failed" in line for line in stage.said))
        stage.model.gate.set()
        await stage.harbour.open()
        await until(lambda: len(stage.harbour.replicas) == 1)
        assert await stage.reply(talk("found")) == "found"
        assert stage.host.under_way == 0
        # However often it tried, it said why once.
        assert len([line for line in stage.said if "Connect call failed" in line]) == 1


async def test_a_host_that_drains_answers_what_it_was_asked_first(talk: Talk) -> None:
    async with staged() as stage:
        stage.model.gate.clear()
        asked = asyncio.create_task(stage.reply(talk("last words")))
        await until(lambda: stage.model.asked == ["last words"])
        stage.dial_in.drain()
        await until(lambda: stage.harbour.replicas == [])
        assert not stage.running.done()
        stage.model.gate.set()
        assert await asked == "last words"
        await stage.running


async def test_a_host_that_is_told_twice_leaves_at_once(talk: Talk) -> None:
    async with staged() as stage:
        stage.model.gate.clear()
        asked = asyncio.create_task(stage.reply(talk("unheard")))
        await until(lambda: stage.model.asked == ["unheard"])
        stage.dial_in.drain()
        stage.dial_in.drain()
        await stage.running
        with pytest.raises(BotError, match="the connection to the bot host was lost"):
            await asked
        stage.model.gate.set()


async def test_a_host_whose_only_bot_was_deleted_ends() -> None:
    async with staged() as stage:
        await stage.harbour.replicas[0].close()
        with pytest.raises(HostRejected, match='the bot "m" was deleted on the server'):
            await stage.running


async def test_a_host_never_dials_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    async def pause(_: HostConnector, seconds: float) -> None:
        pauses.append(seconds)
        await asyncio.sleep(0)

    monkeypatch.setattr(HostConnector, "_pause", pause)
    async with staged() as stage:
        await stage.harbour.close()
        await until(lambda: len(pauses) >= 50)
    # Of pauses of 0.02 s at first and 0.05 s at most, the shortest is half the first.
    assert 0.01 <= min(pauses) <= max(pauses) <= 0.075


async def test_a_host_leaves_while_it_looks_for_its_server() -> None:
    async with staged() as stage:
        await stage.harbour.close()
        await until(lambda: any("Connect call failed" in line for line in stage.said))
        stage.dial_in.drain()
        await stage.running


@pytest.mark.parametrize(
    ("frames", "says"),
    [
        (['{"type": "refused", "code": "x", "message": "no", "hint": "Go."}'], "take this host: no. Go."),
        (
            ['{"type": "welcome"}', '{"type": "refused", "code": "x", "message": "no", "hint": "Go."}'],
            "take this host: no. Go.",
        ),
    ],
)
async def test_a_host_that_is_refused_ends_and_says_why(frames: list[str], says: str) -> None:
    async def refuse(socket: ServerConnection) -> None:
        for frame in frames:
            await socket.send(frame)

    harbour = Harbour(greeting=refuse)
    await harbour.open()
    with pytest.raises(HostRejected, match=says):
        await HostConnector(Host(["m"]), f"ws://127.0.0.1:{harbour.port}", "t", print).run()
    await harbour.close()


@pytest.mark.parametrize(
    ("frames", "says"),
    [
        (['{"type": "refused", "code": "x", "message": "busy", "hint": "", "retry": true}'], "busy"),
        (["no JSON"], "what this host cannot read: the frame: Invalid JSON"),
        (['{"type": "released"}'], "said `released` where `welcome` was due"),
        (['{"type": "welcome"}', '{"type": "welcome"}'], "said `welcome`, which makes no sense here"),
        (['{"type": "welcome"}', '{"type": "ask", "ask": 1, "name": "m", "chat": {}}'], "cannot read"),
        (['{"type": "welcome"}'], "closed the connection"),
        ([], "was lost"),
    ],
)
async def test_a_server_that_is_not_well_is_tried_again(frames: list[str], says: str) -> None:
    async def behave(socket: ServerConnection) -> None:
        for frame in frames:
            await socket.send(frame)

    harbour, said = Harbour(greeting=behave), list[str]()
    await harbour.open()
    dial_in = HostConnector(Host(["m"]), f"ws://127.0.0.1:{harbour.port}", "t", said.append)
    running = asyncio.create_task(dial_in.run())
    await until(lambda: len(harbour.tokens) >= 3)
    dial_in.stop()
    await running
    assert any(says in line for line in said), said
    await harbour.close()


async def test_a_server_that_says_nothing_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "WELCOME_SECONDS", 0.05)

    async def silent(socket: ServerConnection) -> None:
        await socket.wait_closed()

    harbour, said = Harbour(greeting=silent), list[str]()
    await harbour.open()
    dial_in = HostConnector(Host(["m"]), f"ws://127.0.0.1:{harbour.port}", "t", said.append)
    running = asyncio.create_task(dial_in.run())
    await until(lambda: len(harbour.tokens) >= 3)
    dial_in.stop()
    await running
    assert "The server said nothing within 0.05 s; trying again until it works" in said
    await harbour.close()


@pytest.mark.parametrize(("status", "ends"), [(403, True), (404, True), (429, False), (502, False)])
async def test_what_answers_in_place_of_the_server(status: int, ends: bool) -> None:
    harbour, said = Harbour(), list[str]()
    await harbour.open(status)
    dial_in = HostConnector(Host(["m"]), f"ws://127.0.0.1:{harbour.port}", "t", said.append)
    running = asyncio.create_task(dial_in.run())
    if ends:
        with pytest.raises(HostRejected, match=f"status {status}: check the address after --server"):
            await running
    else:
        await until(lambda: len(harbour.tokens) >= 3)
        dial_in.stop()
        await running
        assert any(f"cannot take this host now (status {status})" in line for line in said)
    await harbour.close()


def test_addresses() -> None:
    path = "/api/bots/dial-in"
    assert address_of("https://candor.example.org") == f"wss://candor.example.org{path}"
    assert address_of(" http://127.0.0.1:8000/ ") == f"ws://127.0.0.1:8000{path}"
    assert address_of("wss://example.org/candor/") == f"wss://example.org/candor{path}"
    for wrong in (
        "",
        "candor.example.org",
        "localhost:8000",
        "ftp://a",
        "ws://",
        "ws://a?b",
        "ws://me:pw@a",
        "ws://a:b",
    ):
        with pytest.raises(ValueError, match="is no address of a server"):
            address_of(wrong)
