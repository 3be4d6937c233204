"""Tests of our additions to uvicorn: timeouts of silent connections, and refusal of invalid text."""

import asyncio
import itertools
import re
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI, WebSocket, WebSocketDisconnect
from structlog.testing import capture_logs
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode
from websockets.sync.client import connect
from websockets.utils import apply_mask

from server.config import Settings
from server.live.converse.socket import DIRECT
from server.process import connections
from server.process.connections import WebSocketConnection, whole_text
from server.process.middleware import RequestIds
from server.process.readiness import Lifecycle
from server.process.server import Server
from tests.support.server_process import Server as ServerProcess
from tests.support.waiting import PATIENCE, wait_until

app = FastAPI()
app.add_middleware(RequestIds)


@app.post("/")
async def answer(body: dict[str, str]) -> dict[str, str]:
    return body


@app.websocket("/echo")
async def echo(socket: WebSocket) -> None:
    await socket.accept()
    while True:
        await socket.send_text(await socket.receive_text())


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A server that gives each request half a second."""
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.5)
    server = Server(app, Lifecycle(), Settings())
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])))
        thread.start()
        wait_until(lambda: server.started, "the server")
        yield listener.getsockname()[1]
        server.should_exit = True
        thread.join(PATIENCE)


def is_closed(connection: socket.socket) -> bool:
    """Return whether the other side has hung up; waits for it."""
    connection.settimeout(PATIENCE)
    try:
        return connection.recv(65_536) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"POST / HTTP/1.1\r\nHost: here\r\n",
        b'POST / HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"a"',
    ],
    ids=["nothing", "half a head", "half a body"],
)
def test_a_connection_that_sends_no_whole_request_is_closed(port: int, said: bytes) -> None:
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(said)
        assert is_closed(connection)


def test_half_a_request_after_a_whole_one_is_closed(port: int) -> None:
    whole = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(whole)
        answer = b""
        while not answer.endswith(b"{}"):
            answer += connection.recv(65_536)
        connection.sendall(b"POST / HTTP/1.1\r\n")
        assert is_closed(connection)


BOTH = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n%b\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
UPGRADE = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"


@pytest.mark.parametrize(
    "framing",
    [
        b"Content-Length: 12\r\nTransfer-Encoding: chunked",
        b"transfer-encoding: chunked\r\nX-More: 1\r\ncontent-length: 12",
        UPGRADE + b"Content-Length: 12\r\nTransfer-Encoding: chunked",
    ],
    ids=["length first", "encoding first", "of a websocket"],
)
@pytest.mark.parametrize("before", [0, 1], ids=["first", "second"])
def test_a_request_with_two_ends_is_refused_and_nothing_behind_it_is_read(
    port: int, framing: bytes, before: int
) -> None:
    """A proxy may go by the one end and this server by the other: between them lies a request of nobody's."""
    whole = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.settimeout(PATIENCE)
        connection.sendall(whole * before + BOTH % framing + whole)
        answers = b"".join(iter(partial(connection.recv, 65_536), b""))
    assert re.findall(rb"HTTP/1\.1 (\d+)", answers) == [b"200"] * before + [b"400"]
    assert b"connection: close" in answers.lower()


def test_a_websocket_may_be_silent(port: int) -> None:
    """It is told apart from a connection that has not asked yet, which is closed meanwhile."""
    with (
        connect(f"ws://127.0.0.1:{port}/echo") as page,
        socket.create_connection(("127.0.0.1", port)) as silent,
    ):
        assert is_closed(silent)
        page.send("still here")
        assert page.recv(PATIENCE) == "still here"


def test_text_that_is_not_utf_8_is_closed_with_1007_and_one_line(port: int) -> None:
    with (
        capture_logs() as lines,
        connect(f"ws://127.0.0.1:{port}/echo", additional_headers={"X-Request-ID": "page-7"}) as page,
    ):
        page.protocol.send_text(b"\xff\xfe")
        page.socket.sendall(b"".join(page.protocol.data_to_send()))
        with pytest.raises(ConnectionClosed) as closed:
            page.recv(PATIENCE)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1007
    assert [line["event"] for line in lines] == ["connection closed: a message was not valid UTF-8"]
    assert lines[0]["request_id"] == "page-7"


def test_who_pings_without_end_is_closed_with_1008_and_one_line(port: int) -> None:
    with capture_logs() as lines, connect(f"ws://127.0.0.1:{port}/echo", ping_interval=None) as page:
        for _ in range(connections.MOST_PINGS):
            page.ping()
        page.send("so many are well")
        assert page.recv(PATIENCE) == "so many are well"
        for number in range(connections.MOST_PINGS):
            page.protocol.send_ping(str(number).encode())
        page.socket.sendall(b"".join(page.protocol.data_to_send()))
        with pytest.raises(ConnectionClosed) as closed:
            page.recv(PATIENCE)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1008
    assert [line["event"] for line in lines] == ["connection closed: it pings too often"]


def test_text_in_pieces_is_whole_again(port: int) -> None:
    """A letter may lie across two frames."""
    with connect(f"ws://127.0.0.1:{port}/echo") as page:
        letter = "ü".encode()
        page.protocol.send_text(letter[:1], fin=False)
        page.protocol.send_continuation(letter[1:], fin=True)
        page.socket.sendall(b"".join(page.protocol.data_to_send()))
        assert page.recv(PATIENCE) == "ü"


def test_empty_parts_of_a_text_take_no_memory() -> None:
    connection = WebSocketConnection.__new__(WebSocketConnection)
    connection.frames = [b"a"]
    for _ in range(1000):
        connection.handle_cont(Frame(Opcode.CONT, b"", fin=False))
    assert connection.frames == [b"a"]


def test_silent_connections_shut_newcomers_out_for_a_moment_only(tmp_path: Path) -> None:
    """A process that may open 160 files, and 200 connections that say nothing."""
    script = (
        "import resource, runpy;"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (160, 160));"
        "import server.process.connections as connections; connections.REQUEST_SECONDS = 3.0;"
        "runpy.run_module('server', run_name='__main__')"
    )
    server = ServerProcess(tmp_path, interpreter=(sys.executable, "-c", script))
    server.start()
    try:
        silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(200)]
        with pytest.raises(httpx2.HTTPError):
            httpx2.get(f"{server.url}/healthz", timeout=1)
        assert all(is_closed(connection) for connection in silent)
        assert httpx2.get(f"{server.url}/healthz", timeout=PATIENCE).status_code == 200
        log = tmp_path / "server.log"
        wait_until(lambda: "silent connections were closed" in log.read_text(), "a line of it in the log")
        assert log.read_text().count("the limit of open files is") == 1
        for connection in silent:
            connection.close()
    finally:
        server.stop()


@app.websocket("/at-once")
async def at_once(socket: WebSocket) -> None:
    await socket.accept()
    write = socket.scope["extensions"][DIRECT]["write"]
    for number in itertools.count():
        if not write(f"{number} ".ljust(60_000).encode()):  # as the peer reads slowly
            await socket.send_text(str(number))
            break
    with suppress(WebSocketDisconnect):
        await socket.receive_text()
    assert not write(b"nobody is there any more")


def test_what_is_written_at_once_comes_in_order_and_waits_for_nobody(port: int) -> None:
    with connect(f"ws://127.0.0.1:{port}/at-once", max_queue=1) as page:
        first = [page.recv()]
        while len(first[-1]) == 60_000:
            first.append(page.recv())
    *lines, count = first
    assert [int(line) for line in lines] == list(range(int(count)))


def frame_of(text: bytes) -> bytes:
    return Frame(Opcode.TEXT, text).serialize(mask=True)


@pytest.mark.parametrize("first", range(1, 16))
def test_a_frame_that_comes_in_two_parts_is_read_whole_wherever_it_is_cut(port: int, first: int) -> None:
    """Also where it is cut behind its head, and what comes second looks like a whole frame: its mask does."""
    mask = bytes((0x81, 0x80 | 8, 0, 0))
    frame = bytes((0x81, 0x80 | 10)) + mask + apply_mask(b"ten signs.", mask)
    assert whole_text(frame[2:]) is not None
    with connect(f"ws://127.0.0.1:{port}/echo") as page:
        page.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        page.socket.sendall(frame[:first])
        assert httpx2.get(f"http://127.0.0.1:{port}/", timeout=PATIENCE).status_code == 405  # it has come
        page.socket.sendall(frame[first:])
        page.send("more")
        assert [page.recv(PATIENCE), page.recv(PATIENCE)] == ["ten signs.", "more"]


def test_several_frames_that_come_at_once_are_several_messages(port: int) -> None:
    with connect(f"ws://127.0.0.1:{port}/echo") as page:
        page.socket.sendall(frame_of(b"one") + frame_of(b"two") + frame_of(b"three"))
        assert [page.recv(PATIENCE) for _ in range(3)] == ["one", "two", "three"]
