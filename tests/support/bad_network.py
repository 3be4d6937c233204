"""A network that is bad when a test says so: ports that lead to others; cut, stalled, delayed."""

import asyncio
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from tests.support.waiting import PATIENCE

_PIECE = 65_536


@dataclass(eq=False)
class _Connection:
    """What has come in, and what was opened for it."""

    near: asyncio.StreamWriter
    far: asyncio.StreamWriter

    def cut(self) -> None:
        """End both ends without a word: what is on its way is lost."""
        for writer in (self.near, self.far):
            writer.transport.abort()

    def half_close(self) -> None:
        """Tell the far end that nothing more will come; what it says still comes through."""
        with suppress(OSError):
            self.far.write_eof()


@dataclass(eq=False)
class Link:
    """A port that leads to the port `target` of this machine. Its methods may be called from any thread."""

    target: int
    port: int = 0
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    _connections: set[_Connection] = field(default_factory=set)
    _flowing: asyncio.Event = field(default_factory=asyncio.Event)
    _stopped: asyncio.Event = field(default_factory=asyncio.Event)
    _longest_delay: float = 0.0
    _refuses: bool = False
    _rng: random.Random = field(default_factory=lambda: random.Random(1))

    def cut(self) -> None:
        """Cut every connection that there is."""
        self._each(_Connection.cut)

    def half_close(self) -> None:
        """Close one direction of every connection, that towards the target."""
        self._each(_Connection.half_close)

    def stall(self) -> None:
        """Let nothing pass; connections stay."""
        self._loop.call_soon_threadsafe(self._flowing.clear)

    def delay(self, longest: float) -> None:
        """Let every piece wait so many seconds at most, drawn anew for each.

        Pieces of a connection stay in their order, as TCP has it; those of different connections do not.
        """
        self._longest_delay = longest

    def refuse(self) -> None:
        """Cut every connection, and every new one at once."""
        self._refuses = True
        self.cut()

    def recover(self) -> None:
        """Be a good network again."""
        self._longest_delay = 0.0
        self._refuses = False
        self._loop.call_soon_threadsafe(self._flowing.set)

    def _each(self, what: Callable[[_Connection], None]) -> None:
        self._loop.call_soon_threadsafe(lambda: [what(each) for each in tuple(self._connections)])

    def run(self, ready: threading.Event) -> None:
        """Serve until `stop`; `ready` is set when it does."""
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._run(ready))

    def stop(self) -> None:
        """End every connection, and `run`."""
        self.cut()
        self._loop.call_soon_threadsafe(self._stopped.set)

    async def _run(self, ready: threading.Event) -> None:
        self._flowing.set()
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        await self._stopped.wait()
        server.close()

    async def _serve(self, reader: asyncio.StreamReader, near: asyncio.StreamWriter) -> None:
        if self._refuses:
            near.transport.abort()
            return
        try:
            far_reader, far = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            near.transport.abort()
            return
        connection = _Connection(near, far)
        self._connections.add(connection)
        try:
            with suppress(OSError, RuntimeError):  # an end was cut: the other one hears of it by that, too
                await asyncio.gather(self._pump(reader, far), self._pump(far_reader, near))
        finally:
            self._connections.discard(connection)
            connection.cut()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(_PIECE):
            await asyncio.sleep(self._rng.uniform(0.0, self._longest_delay))
            await self._flowing.wait()
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof() and not writer.is_closing():
            writer.write_eof()


@contextmanager
def link(target: int) -> Iterator[Link]:
    """Give a port that leads to another, for as long as the context lasts."""
    made, ready = Link(target), threading.Event()
    thread = threading.Thread(target=made.run, args=(ready,), name=f"link to {target}")
    thread.start()
    assert ready.wait(PATIENCE)
    try:
        yield made
    finally:
        made.stop()
        thread.join(PATIENCE)
