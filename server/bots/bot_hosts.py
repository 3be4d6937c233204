"""Run builtin bots in child processes (bot hosts), so that they do not compute in this process."""

import asyncio
import math
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Mapping

import structlog
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type

from bots import BotError, Chat, Reply
from bots.serving import (
    BotGone,
    CannotHold,
    Earlier,
    Hold,
    HostSession,
    KnownLines,
    NumberedReply,
    Offer,
    PunctualBot,
    WireError,
    within,
)
from candor.common.network import backoff
from server.bots.earlier_replies import EarlierReplies

COMMAND = (sys.executable, "-m", "bots.host.child")
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
LOOK_SECONDS = 5.0
SWEEP_SECONDS = 0.1  # between sweeps for overdue calls: a time-out may be late by as much
MOST_SILENT = 3  # consecutive silent intervals after which a host counts as hanging
MOST_SILENT_AT_FIRST = 24  # before its first frame: on a busy machine its imports take long
_REPLIES_PER_FRAME = 100  # of at most 2,000 characters each, so that a frame is never too long
_ENDED = "the bot host has ended"
log = structlog.get_logger()


class HostEnded(Exception):
    """A bot host has ended. The message says why."""


class HostedBot(PunctualBot):
    """A builtin bot that runs in this server's bot hosts."""

    def __init__(self, hosts: "BotHosts", name: str) -> None:
        self._hosts = hosts
        self._name = name

    async def reply(self, chat: Chat) -> Reply:
        """Return the bot's reply; wait while the bot is being loaded, or its host restarted.

        Raises:
            BotGone: the bot cannot be loaded.
            BotError: the host ended during the call, or the bot raised an error.
        """
        return await (await self._hosts.ready(self._name)).ask(self._name, chat)

    async def reply_within(self, chat: Chat, patience: float) -> Reply:
        """Return the bot's reply, which the host has checked. Raises as `reply`, and BotTimeout.

        A host that is ready keeps the time-outs of all its calls, so no timer is needed for each call.
        """
        process = self._hosts.least_busy(self._name)
        if process is None:
            return await within(patience, self.reply(chat))
        return await process.ask(self._name, chat, patience=patience)


class DrawingBot:
    """The QC bot that draws from earlier replies of systems, running in this server's bot hosts."""

    def __init__(self, hosts: "BotHosts", name: str, earlier: EarlierReplies) -> None:
        self._hosts = hosts
        self._name = name
        self._earlier = earlier

    async def reply(self, chat: Chat) -> Reply:
        """Return the bot's reply, after refreshing the earlier replies. Raises as `HostedBot.reply`."""
        await self._earlier.refresh()
        process = await self._hosts.ready(self._name)
        process.tell_earlier(self._name, self._earlier.replies)
        return await process.ask(self._name, chat, self._earlier.assignment_of(chat.conversation_id))


class BotHosts:
    """Keeps `processes` bot hosts running, each with every builtin bot that was opened.

    Bots may be opened at any time. Hosts run from `start` to `close`, in the event loop that called `start`,
    but only once there is a bot. After `close`, `start` can be called again, also in another event loop.
    """

    def __init__(self, processes: int) -> None:
        """Create it without starting any process."""
        self._processes = processes
        self._holds: dict[str, Hold] = {}
        self._shared: dict[tuple[str, str, str], HostedBot] = {}
        self._running: list[HostProcess] = []
        self._news: asyncio.Event | None = None  # of the loop in which hosts run; None: none do

    def open(
        self, spec: str, corpus: str, earlier: EarlierReplies | None = None, language: str = "en"
    ) -> HostedBot | DrawingBot:
        """Return the builtin bot `spec` over `corpus`. Both must have been checked.

        `earlier`: earlier replies of systems, for a QC bot that draws from them. `language`: of the corpus.
        """
        shared = spec, corpus, language
        if earlier is None and shared in self._shared:
            return self._shared[shared]
        name, draws = f"bot{len(self._holds) + 1}", earlier is not None
        hold = Hold(name=name, spec=spec, corpus=corpus, draws=draws, language=language)
        self._holds[hold.name] = hold
        for process in self._running:
            process.hold(hold)
        self._start_processes()
        if earlier is not None:
            return DrawingBot(self, name, earlier)
        bot = self._shared[shared] = HostedBot(self, name)
        return bot

    def start(self) -> None:
        """Keep hosts running from now on."""
        self._news = asyncio.Event()
        self._start_processes()

    async def close(self) -> None:
        """End the hosts. Their open calls fail."""
        news, self._news = self._news, None
        if news is not None:
            news.set()
        await asyncio.gather(*(process.close() for process in self._running))
        self._running.clear()

    def least_busy(self, name: str) -> "HostProcess | None":
        """Return the least busy host that has loaded the bot `name`; None if there is none now."""
        able = [process for process in self._running if name in process.ready]
        return min(able, key=_in_flight) if len(able) > 1 else next(iter(able), None)

    async def ready(self, name: str) -> "HostProcess":
        """Wait for a host that has loaded the bot `name`, and return the least busy one.

        Raises:
            BotGone: the bot cannot be loaded.
            BotError: this server runs no hosts.
        """
        while True:
            able = self.least_busy(name)
            if able is not None:
                return able
            for process in self._running:
                if name in process.refused:
                    raise BotGone(process.refused[name])
            if self._news is None:
                raise BotError("this server runs no bot hosts now")
            await self._news.wait()

    def _start_processes(self) -> None:
        if self._news is None or not self._holds:
            return
        for number in range(len(self._running) + 1, self._processes + 1):
            self._running.append(HostProcess(number, self._holds, self._tell))

    def _tell(self) -> None:
        """Wake all calls that wait for a host."""
        if self._news is not None:
            self._news.set()
            self._news = asyncio.Event()


class HostProcess:
    """One bot host process, restarted whenever it ends.

    `ready`: the names of the bots that it has loaded. `refused`: why it cannot load others, by name.
    """

    def __init__(self, number: int, holds: Mapping[str, Hold], on_news: Callable[[], None]) -> None:
        """Start the process. `holds` may grow, see `hold`. `on_news` is called when `ready` has changed."""
        self.ready: set[str] = set()
        self.refused: dict[str, str] = {}
        self._number = number
        self._holds = holds
        self._on_news = on_news
        self._session: HostSession | None = None
        self._greeted = False
        self._frames = 0  # received from it
        self._told: dict[str, Mapping[int, NumberedReply]] = {}
        self._began = 0.0
        self._running = asyncio.get_running_loop().create_task(self._run())

    @property
    def in_flight(self) -> int:
        """The number of open calls."""
        return 0 if self._session is None else self._session.in_flight

    def hold(self, hold: Hold) -> None:
        """Load one more bot, which was added to `holds` before."""
        if self._session is not None and self._greeted:
            self._session.hold(hold)

    def ask(
        self, name: str, chat: Chat, own: str | None = None, patience: float = math.inf
    ) -> Coroutine[None, None, Reply]:
        """Return a coroutine of the next reply in `chat` by a bot that is `ready`.

        `own` and `patience` as in `HostSession.ask`.

        Raises:
            BotTimeout: there was no reply after `patience` seconds (up to SWEEP_SECONDS later).
            BotError: the host ended meanwhile, or the bot raised an error.
        """
        if self._session is None:
            raise BotError(_ENDED)
        return self._session.ask(name, chat, own, patience)

    def tell_earlier(self, name: str, replies: Mapping[int, NumberedReply]) -> None:
        """Send a bot the changes in systems' earlier replies since the last call.

        `replies`: all of them by number, a new mapping whenever they have changed.
        """
        told = self._told.get(name, {})
        if told is replies or self._session is None:
            return
        gone = tuple(told.keys() - replies.keys())
        new = [reply for number, reply in replies.items() if number not in told]
        self._session.tell_earlier(Earlier(name=name, gone=gone))
        for first in range(0, len(new), _REPLIES_PER_FRAME):
            some = tuple(new[first : first + _REPLIES_PER_FRAME])
            self._session.tell_earlier(Earlier(name=name, new=some))
        self._told[name] = replies

    def receive(self, line: bytes) -> None:
        """Process a frame from the host. Raises WireError."""
        if self._session is None:
            return
        self._frames += 1
        if not self._greeted:
            self._session.greet(line)
            self._greeted = True
            for hold in self._holds.values():
                self._session.hold(hold)
            return
        match self._session.receive_line(line):
            case Offer(name=name):
                self.ready.add(name)
                self._on_news()
            case CannotHold(name=name, reason=reason):
                log.error("bot cannot be loaded", host=self._number, reason=reason)
                self.refused[name] = reason
                self._on_news()

    async def close(self) -> None:
        """End the process and wait for its end."""
        self._running.cancel()
        await asyncio.gather(self._running, return_exceptions=True)

    async def _run(self) -> None:
        tries = AsyncRetrying(
            retry=retry_if_exception_type(HostEnded),
            wait=backoff(FIRST_PAUSE, longest=LONGEST_PAUSE, growth=2.0),
            after=self._report_end,
        )
        await tries(self._run_once)

    def _report_end(self, tried: RetryCallState) -> None:
        """Log why the process ended. Reset the pause between restarts if it ran well for a while."""
        log.error(
            "bot host ended", host=self._number, reason=str(tried.outcome and tried.outcome.exception())
        )
        if time.monotonic() - self._began > LONGEST_PAUSE:
            tried.attempt_number = 1

    async def _run_once(self) -> None:
        """Run one process until it ends. Raises HostEnded."""
        self._began = time.monotonic()
        try:
            process = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: ASYNC220, S603
            try:
                reason = await self._converse(process)
            finally:
                process.kill()  # it has no state to save
                status = await asyncio.to_thread(process.wait)
        except OSError as error:  # of the system: no memory, no more open files
            raise HostEnded(f"it cannot be run: {error}") from error
        raise HostEnded(f"{reason}; status {status}")

    async def _converse(self, process: subprocess.Popen[bytes]) -> str:
        """Exchange frames with a host until it ends; return the reason."""
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[str] = loop.create_future()
        writing, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, process.stdin)
        self._session = HostSession(self._number, _LineSender(writing).send, KnownLines())
        reading, _ = await loop.connect_read_pipe(lambda: _Output(self, ended), process.stdout)
        watching = (
            loop.create_task(self._wait_for_silence(self._session, ended)),
            loop.create_task(_fail_overdue(self._session)),
        )
        try:
            return await ended
        finally:
            for task in watching:
                task.cancel()
            self._session.lose(_ENDED)
            self._session, self._greeted = None, False
            for held in (self.ready, self.refused, self._told):
                held.clear()
            if not writing.is_closing():  # asyncio's transport fails if it is aborted after its end
                writing.abort()
            reading.close()

    async def _wait_for_silence(self, session: HostSession, ended: asyncio.Future[str]) -> None:
        """Set the result of `ended` when the running host has been silent for several intervals.

        Intervals are counted instead of seconds, so that hosts have time to answer after the whole machine
        was suspended.
        """
        silent = 0
        while silent < (MOST_SILENT if self._greeted else MOST_SILENT_AT_FIRST):
            before = self._frames
            if self._greeted:
                session.probe()
            await asyncio.sleep(LOOK_SECONDS)
            silent = silent + 1 if self._frames == before else 0
        if not ended.done():
            ended.set_result("it hangs: it does not answer any more")


async def _fail_overdue(session: HostSession) -> None:
    """Fail overdue calls in periodic sweeps: a timer for each call took as long as the call itself."""
    while True:
        await asyncio.sleep(SWEEP_SECONDS)
        session.fail_overdue(asyncio.get_running_loop().time())


def _in_flight(process: HostProcess) -> int:
    return process.in_flight


class _LineSender:
    """Writes frames to a host, one per line, batched per iteration of the event loop."""

    def __init__(self, pipe: asyncio.WriteTransport) -> None:
        self._pipe = pipe
        self._lines: list[str] = []

    def send(self, frame: str) -> None:
        if not self._lines:
            asyncio.get_running_loop().call_soon(self._flush)
        self._lines.append(frame)

    def _flush(self) -> None:
        if not self._pipe.is_closing():  # the host may have ended since
            self._pipe.write("\n".join([*self._lines, ""]).encode())
        self._lines.clear()


class _Output(asyncio.Protocol):
    """Reads a host's frames, one per line. Sets the result of `ended` to the reason when the output ends."""

    def __init__(self, process: HostProcess, ended: asyncio.Future[str]) -> None:
        self._process = process
        self._ended = ended
        self._rest = b""

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        try:
            for line in lines:
                self._process.receive(line)
        except WireError as error:
            self._end(f"it wrote an invalid frame: {error}")

    def connection_lost(self, exc: Exception | None) -> None:
        self._end("it stopped by itself")

    def _end(self, reason: str) -> None:
        if not self._ended.done():
            self._ended.set_result(reason)
