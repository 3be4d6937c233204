"""Several processes on one listening socket: started, watched, started again, replaced without a gap.

uvicorn has a supervisor too. Its rolling restart lets the pages of a process that ends come back to one
that will end next, so that a page may lose its connection as many times as there are processes. Here all
the old processes stop taking newcomers before the first of them hangs up on anybody.

Between a process and its supervisor is a pair of sockets with a line of text a message:

    supervisor → process   the settings, as JSON; then `close` (take no newcomers)
    process → supervisor   `ready` (serves); `closed` (takes no newcomers)

A process is ended by SIGTERM, and ends by itself when its supervisor is gone.
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

_READY_SECONDS = 180.0  # for a process to start, on a machine that is busy with other things
_ANSWER_SECONDS = 15.0
_GRACE_SECONDS = 15.0  # beyond its time to drain, until a process is killed
_CALM_SECONDS = 20.0  # a process that lived as long may be started again at once
_LONGEST_PAUSE = 30.0
_MODULE = "server.cli.web_process"
log = structlog.get_logger()


class Word(StrEnum):
    """What is said between a process and its supervisor, besides the settings."""

    READY = "ready"
    CLOSE = "close"
    CLOSED = "closed"


class NotStarted(Exception):
    """A process ended, or was not ready in time, when it was started; it has said why in the log."""


@dataclass(eq=False)
class _WebProcess:
    process: asyncio.subprocess.Process
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    started: float
    retired: bool = False

    async def hear(self, word: Word, seconds: float) -> bool:
        """Return whether the process says `word` within so many seconds, and while it lives."""
        try:
            async with asyncio.timeout(seconds):
                while line := await self.reader.readline():
                    if line.decode().strip() == word:
                        return True
        except (TimeoutError, ConnectionError):
            pass
        return False

    def tell(self, line: str) -> None:
        """Say something; a process that is gone does not hear it."""
        with contextlib.suppress(ConnectionError):
            self.writer.write(f"{line}\n".encode())

    def signal(self, number: signal.Signals) -> None:
        """Send a signal; nothing happens where the process has ended."""
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)


class Supervisor:
    """Runs so many web processes until it is told to stop.

    SIGTERM and SIGINT end them all, each after what is under way; a second SIGINT does not wait. SIGHUP
    replaces them all: the new ones are ready before the old ones begin to end.

    Args:
        listener: the listening socket that the processes share.
        settings: what each is told at its start, as one line.
        processes: how many there are.
        drain_seconds: how long each may take to finish what is under way.
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
            NotStarted: one of them did not, and the others were ended.
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
        """Keep the processes running; return when all have ended, after a signal to stop."""
        await self._stopping.wait()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._end(self._serving + self._leaving)

    async def replace_all(self) -> None:
        """Replace every process. Where a new one does not start, the old ones are kept."""
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
                # Ctrl+C in a terminal is for the supervisor, which passes it on in its own way.
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
        """Start another process when this one ends without having been told to."""
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
        """End processes, each after what is under way; kill those that take too long."""
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
    """Tell the supervisor when `server` serves, do what it says, and end the server when it is gone."""
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
