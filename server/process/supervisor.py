"""Supervise several web processes on one listening socket: start, restart, and replace them without a gap.

uvicorn has a supervisor, too. In its rolling restart, pages of an ending process may reconnect to a process
that ends next, so a page may lose its connection as often as there are processes. Here all old processes stop
accepting connections before the first of them closes any.

A process and its supervisor exchange lines of text over a pair of sockets:

    supervisor → process   the settings, as JSON; then `close` (accept no new connections)
    process → supervisor   `ready` (serving); `closed` (accepting no new connections)

SIGTERM ends a process. It also ends by itself when its supervisor is gone.
"""

import asyncio
import contextlib
import os
import signal
import socket
import sys
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from enum import StrEnum

import structlog

from server.process.server import Server

_READY_SECONDS = 180.0  # for a process to start, on a busy machine
_ANSWER_SECONDS = 15.0
_GRACE_SECONDS = 15.0  # after the time to drain, before a process is killed
_CALM_SECONDS = 20.0  # a process that ran at least as long is restarted at once
_LONGEST_PAUSE = 30.0
_MODULE = "server.cli.web_process"
log = structlog.get_logger()


class Word(StrEnum):
    """The messages between a process and its supervisor, other than the settings."""

    READY = "ready"
    CLOSE = "close"
    CLOSED = "closed"


class NotStarted(Exception):
    """A process ended or was not ready in time when it was started. The log has the reason."""


@dataclass(eq=False)
class _WebProcess:
    process: asyncio.subprocess.Process
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    started: float
    retired: bool = False

    async def hear(self, word: Word, seconds: float) -> bool:
        """Wait for the message `word`; return whether it came within `seconds` and while the process ran."""
        try:
            async with asyncio.timeout(seconds):
                while line := await self.reader.readline():
                    if line.decode().strip() == word:
                        return True
        except (TimeoutError, ConnectionError):
            pass
        return False

    def tell(self, line: str) -> None:
        """Send a line. It is lost if the process is gone."""
        with contextlib.suppress(ConnectionError):
            self.writer.write(f"{line}\n".encode())

    def signal(self, number: signal.Signals) -> None:
        """Send a signal, unless the process has ended."""
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)


class Supervisor:
    """Runs several web processes until it is stopped.

    SIGTERM and SIGINT end all processes after they have finished their work; a second SIGINT does not wait.
    SIGHUP replaces all of them: new processes are ready before the old ones begin to end.

    Args:
        listener: the listening socket, shared by the processes.
        settings: sent to each process at its start, as one line.
        processes: their number.
        drain_seconds: how long each may take to finish its work.
    """

    def __init__(self, listener: socket.socket, settings: str, processes: int, drain_seconds: float) -> None:
        self._listener = listener
        self._settings = settings
        self._count = processes
        self._patience = drain_seconds + _GRACE_SECONDS
        self._serving: list[_WebProcess] = []
        self._leaving: list[_WebProcess] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping = asyncio.Event()
        self._rolling = asyncio.Lock()

    async def start(self) -> None:
        """Start the processes; return when all of them serve.

        Raises:
            NotStarted: a process did not start; the others were ended.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop)
        loop.add_signal_handler(signal.SIGHUP, lambda: self._keep(self.replace_all()))
        async with self._rolling:
            adding = (self._add() for _ in range(self._count))
            if any(
                isinstance(each, NotStarted) for each in await asyncio.gather(*adding, return_exceptions=True)
            ):
                await self._end(self._serving)
                raise NotStarted

    async def run(self) -> None:
        """Keep the processes running until a signal to stop; return when all have ended."""
        await self._stopping.wait()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._end(self._serving + self._leaving)

    async def replace_all(self) -> None:
        """Replace all processes. If a new one does not start, keep the old ones."""
        async with self._rolling:
            self._leaving, self._serving = self._serving, []
            log.info("replacing the processes", processes=[each.process.pid for each in self._leaving])
            try:
                for _ in range(self._count):
                    await self._add()
            except NotStarted:
                await self._keep_old()
                return
            await asyncio.gather(*(self._close(each) for each in self._leaving))
            while self._leaving:
                await self._end(self._leaving[:1])
                del self._leaving[:1]
            log.info("the processes were replaced", processes=[each.process.pid for each in self._serving])

    async def _keep_old(self) -> None:
        new, self._serving, self._leaving = self._serving, self._leaving, []
        log.error("the processes were not replaced: a new one did not start")
        await self._end(new)
        for each in self._serving:
            if each.process.returncode is not None:
                self._keep(self._watch(each))  # it ended while it was to be replaced

    def _stop(self) -> None:
        if self._stopping.is_set():
            for each in self._serving + self._leaving:
                each.signal(signal.SIGKILL)
        self._stopping.set()

    async def _add(self) -> None:
        added = await self._start_one()
        self._serving.append(added)
        self._keep(self._watch(added))

    def _keep(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _start_one(self) -> _WebProcess:
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", _MODULE, str(self._listener.fileno()), str(theirs.fileno())]
            process = await asyncio.create_subprocess_exec(
                *command,
                pass_fds=(self._listener.fileno(), theirs.fileno()),
                # Ctrl+C in a terminal must reach the supervisor only, which then ends the processes.
                start_new_session=True,
            )
        reader, writer = await asyncio.open_connection(sock=ours)
        started = _WebProcess(process, reader, writer, time.monotonic())
        try:
            started.tell(self._settings)
            if not await started.hear(Word.READY, _READY_SECONDS):
                raise NotStarted
        except BaseException:
            started.signal(signal.SIGKILL)
            await process.wait()
            writer.close()
            raise
        return started

    async def _watch(self, watched: _WebProcess) -> None:
        """Start another process when this one ends unexpectedly."""
        status = await watched.process.wait()
        watched.writer.close()
        if watched.retired:
            return
        lived = time.monotonic() - watched.started
        log.error("a process ended by itself; another is started", pid=watched.process.pid, status=status)
        pause = 0.0 if lived >= _CALM_SECONDS else 0.5
        while True:
            await asyncio.sleep(pause)
            if watched not in self._serving:
                return  # all of them were replaced meanwhile
            try:
                successor = await self._start_one()
            except NotStarted:
                pause = min(max(2 * pause, 1.0), _LONGEST_PAUSE)
                log.error("a process did not start; it is tried again", seconds=pause)
                continue
            if watched not in self._serving:
                await self._end([successor])
                return
            self._serving[self._serving.index(watched)] = successor
            self._keep(self._watch(successor))
            return

    async def _close(self, old: _WebProcess) -> None:
        old.tell(Word.CLOSE)
        await old.hear(Word.CLOSED, _ANSWER_SECONDS)

    async def _end(self, processes: list[_WebProcess]) -> None:
        """End processes after they have finished their work; kill those that take too long."""
        for each in processes:
            each.retired = True
            each.signal(signal.SIGTERM)
        waits = [asyncio.ensure_future(each.process.wait()) for each in processes]
        if waits and (await asyncio.wait(waits, timeout=self._patience))[1]:
            for each in processes:
                if each.process.returncode is None:
                    log.error("a process did not end in time and was killed", pid=each.process.pid)
                    each.signal(signal.SIGKILL)
            await asyncio.wait(waits)


async def serve_supervised(control: socket.socket, server: Server) -> None:
    """Notify the supervisor when `server` serves, obey its messages, and end the server when it is gone."""
    reader, writer = await asyncio.open_connection(sock=control)
    while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
        await asyncio.sleep(0.02)
    writer.write(f"{Word.READY}\n".encode())
    with contextlib.suppress(ConnectionError):
        while line := await reader.readline():
            if line.decode().strip() == Word.CLOSE:
                server.refuse_newcomers()
                writer.write(f"{Word.CLOSED}\n".encode())
    if not server.should_exit:
        log.error("the supervisor is gone; this process ends")
        os.kill(os.getpid(), signal.SIGTERM)
