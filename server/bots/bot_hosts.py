"""The builtin bots, which never compute in this process: bot hosts that it starts for itself hold them."""

import asyncio
import math
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Mapping

import structlog
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type

from bots import (
    BotError,
    BotGone,
    CannotHold,
    Chat,
    Earlier,
    Hold,
    HostSession,
    KnownLines,
    NumberedReply,
    Offer,
    PunctualBot,
    Reply,
    WireError,
    backoff,
    within,
)
from server.bots.earlier_replies import EarlierReplies

COMMAND = (sys.executable, "-m", "bots.host.child")
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
LOOK_SECONDS = 5.0
SWEEP_SECONDS = 0.1  # between two looks for asks whose time is over: by so much they may be late
MOST_SILENT = 3  # looks in a row after which a host hangs
MOST_SILENT_AT_FIRST = 24  # for one that has not begun to speak: on a busy machine its imports take long
_REPLIES_PER_FRAME = 100  # each of 2,000 characters at most, so that a frame is never too long
_ENDED = "the bot host has ended"
log = structlog.get_logger()


class HostEnded(Exception):
    """A bot host is no longer there. The message says why."""


class HostedBot(PunctualBot):
    """A builtin bot that bot hosts of this server hold."""

    def __init__(self, hosts: "BotHosts", name: str) -> None:
        self._hosts = hosts
        self._name = name

    async def reply(self, chat: Chat) -> Reply:
        """Return what the bot says; wait while it is being loaded, or its host started again.

        Raises:
            BotGone: it cannot be loaded.
            BotError: its host ended while it was thinking, or what the bot raised.
        """
        return await (await self._hosts.ready(self._name)).ask(self._name, chat)

    async def reply_within(self, chat: Chat, patience: float) -> Reply:
        """Return what `reply` does, which the host has checked. Raises BotTimeout too.

        A host that is ready needs no timer for each ask: it keeps all their times.
        """
        process = self._hosts.least_busy(self._name)
        if process is None:
            return await within(patience, self.reply(chat))
        return await process.ask(self._name, chat, patience=patience)


class DrawingBot:
    """The qc bot that draws from what systems have said, which bot hosts of this server hold."""

    def __init__(self, hosts: "BotHosts", name: str, earlier: EarlierReplies) -> None:
        self._hosts = hosts
        self._name = name
        self._earlier = earlier

    async def reply(self, chat: Chat) -> Reply:
        """Return what the bot says, and raise what `HostedBot.reply` does; `earlier` may be read before."""
        await self._earlier.refresh()
        process = await self._hosts.ready(self._name)
        process.tell_earlier(self._name, self._earlier.replies)
        return await process.ask(self._name, chat, self._earlier.assignment_of(chat.conversation_id))


class BotHosts:
    """Keeps `processes` bot hosts running, each holding every builtin bot that was opened.

    Bots may be opened at any time. Hosts run from `start`, in the event loop that calls it, to `close`; none
    is started before there is a bot to hold. After `close` it can be started again, in another loop too.
    """

    def __init__(self, processes: int) -> None:
        """Start nothing yet."""
        self._processes = processes
        self._holds: dict[str, Hold] = {}
        self._shared: dict[tuple[str, str, str], HostedBot] = {}
        self._running: list[HostProcess] = []
        self._news: asyncio.Event | None = None  # of the loop in which hosts run; None: none do

    def open(
        self, spec: str, corpus: str, earlier: EarlierReplies | None = None, language: str = "en"
    ) -> HostedBot | DrawingBot:
        """Return the builtin bot `spec` over `corpus`, both of which must have been found to be good.

        `earlier`: what systems have said, for the qc bot that draws from that. `language`: the corpus's.
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
        """End the hosts; what they were asked fails."""
        news, self._news = self._news, None
        if news is not None:
            news.set()
        await asyncio.gather(*(process.close() for process in self._running))
        self._running.clear()

    def least_busy(self, name: str) -> "HostProcess | None":
        """Return the least busy host that holds the bot `name`; None: none does now."""
        able = [process for process in self._running if name in process.ready]
        return min(able, key=_in_flight) if len(able) > 1 else next(iter(able), None)

    async def ready(self, name: str) -> "HostProcess":
        """Return the least busy host that holds the bot `name`, as soon as there is one.

        Raises:
            BotGone: it cannot be loaded.
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
        """Have everybody who waits for a host look again."""
        if self._news is not None:
            self._news.set()
            self._news = asyncio.Event()


class HostProcess:
    """One bot host: started, told what to hold, and started again whenever it ends.

    `ready` has the names of the bots that it holds now, `refused` why it cannot hold others.
    """

    def __init__(self, number: int, holds: Mapping[str, Hold], on_news: Callable[[], None]) -> None:
        """Run from now on. `holds` may grow, as `hold` says; `on_news` is called when `ready` has changed."""
        self.ready: set[str] = set()
        self.refused: dict[str, str] = {}
        self._number = number
        self._holds = holds
        self._on_news = on_news
        self._session: HostSession | None = None
        self._greeted = False
        self._frames = 0  # heard of it
        self._told: dict[str, Mapping[int, NumberedReply]] = {}
        self._began = 0.0
        self._running = asyncio.get_running_loop().create_task(self._run())

    @property
    def in_flight(self) -> int:
        """How many answers are waited for."""
        return 0 if self._session is None else self._session.in_flight

    def hold(self, hold: Hold) -> None:
        """Hold one more bot, which is among `holds` by now."""
        if self._session is not None and self._greeted:
            self._session.hold(hold)

    def ask(
        self, name: str, chat: Chat, own: str | None = None, patience: float = math.inf
    ) -> Coroutine[None, None, Reply]:
        """Return the next line of `chat` by a bot that is `ready`, once awaited.

        `own` and `patience` as in `HostSession.ask`.

        Raises:
            BotTimeout: there was none after `patience` seconds, and SWEEP_SECONDS at the most.
            BotError: the host ended meanwhile, or what the bot raised.
        """
        if self._session is None:
            raise BotError(_ENDED)
        return self._session.ask(name, chat, own, patience)

    def tell_earlier(self, name: str, replies: Mapping[int, NumberedReply]) -> None:
        """Tell a bot what systems have said, as far as it has not been told.

        `replies`, by their numbers, are never changed, but another mapping is given.
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
        """Take a frame of the host's. Raises WireError."""
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
        """End it; return when it is gone."""
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
        """Log why it ended; begin with the shortest pause again if it went well for a while."""
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
                process.kill()  # there is nothing that it could lose
                status = await asyncio.to_thread(process.wait)
        except OSError as error:  # of the system: no memory, no more open files
            raise HostEnded(f"it cannot be run: {error}") from error
        raise HostEnded(f"{reason}; status {status}")

    async def _converse(self, process: subprocess.Popen[bytes]) -> str:
        """Speak with a host until it says nothing more; return why."""
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
            if not writing.is_closing():  # asyncio's own does not bear to be aborted after its end
                writing.abort()
            reading.close()

    async def _wait_for_silence(self, session: HostSession, ended: asyncio.Future[str]) -> None:
        """Let `ended` have a reason when the host, which is there, has said nothing for several looks.

        Looks are counted, not seconds: where the whole machine stood still, hosts have time to answer.
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
    """Fail the asks whose time is over, one sweep for all: a timer for each took as long as asking did."""
    while True:
        await asyncio.sleep(SWEEP_SECONDS)
        session.fail_overdue(asyncio.get_running_loop().time())


def _in_flight(process: HostProcess) -> int:
    return process.in_flight


class _LineSender:
    """Writes frames to a host, one a line: all those of one turn of the event loop together."""

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
    """Reads a host's frames, one a line; `ended` gets the reason when there will be no more."""

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
            self._end(f"it wrote what is no frame: {error}")

    def connection_lost(self, exc: Exception | None) -> None:
        self._end("it stopped by itself")

    def _end(self, reason: str) -> None:
        if not self._ended.done():
            self._ended.set_result(reason)
