"""The bot host that a server starts for itself: `python -m bots.host.child`.

It uses the protocol of bot hosts over standard input and output, one frame a line, and writes its log to
standard error. It ends when its input ends, so that it never outlives its server.
"""

import asyncio
import gc
import logging
import os
import signal
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import BinaryIO

import structlog
from pydantic import BaseModel
from uvicorn.loops.auto import auto_loop_factory

from bots.builtin import open_bot
from bots.core.ask import ask
from bots.core.chat import Bot, Chat, Reply
from bots.core.failures import BotError, ChatRefused
from bots.core.host_protocol import (
    VERSION,
    Alive,
    Cancel,
    CannotHold,
    Earlier,
    Hold,
    HostHello,
    KnownLines,
    NumberedReply,
    Offer,
    PipeAsk,
    Probe,
    ReplyWriter,
    failed,
    frame,
    from_server,
    read_ask,
    sendable,
)
from bots.corpus import Corpus, load_corpus
from bots.host.model import made_by
from bots.qc_bots.distorted import EarlierReply, FittedQcBot
from candor.common.telemetry import span, start_tracing

LABEL = f"builtin_{os.getpid()}"
# Seconds for which finished replies are collected, while asks are pending, to be written together; and after
# which new input is read.
_TOGETHER = 0.001
log = structlog.get_logger()


class EarlierPool:
    """The earlier replies of systems that a server has sent for one bot."""

    def __init__(self) -> None:
        self._replies: dict[int, NumberedReply] = {}

    def take(self, earlier: Earlier) -> None:
        """Add new replies, and remove those that are gone."""
        self._replies.update((reply.number, reply) for reply in earlier.new)
        for number in earlier.gone:
            self._replies.pop(number, None)

    def of_others(self, assignment: str | None) -> list[EarlierReply]:
        """Return the replies from assignments other than this one."""
        others = (reply for reply in self._replies.values() if reply.assignment != assignment)
        return [EarlierReply(reply.conversation, reply.text) for reply in others]


@dataclass(frozen=True, slots=True)
class _Drawing:
    """The QC bot that draws from earlier replies, bound to the replies for one ask."""

    bot: FittedQcBot
    replies: Sequence[EarlierReply]

    async def reply(self, chat: Chat) -> Reply:
        return Reply(self.bot.line(chat, self.replies))


@dataclass(slots=True)
class _LoadedBot:
    """A builtin bot, which never waits, and the writer of its replies."""

    bot: Bot | FittedQcBot
    writer: ReplyWriter

    def to_ask(self, pool: EarlierPool, own: str | None) -> Bot:
        """Return the bot to ask."""
        return _Drawing(self.bot, pool.of_others(own)) if isinstance(self.bot, FittedQcBot) else self.bot


@dataclass(slots=True)
class _HeldBot:
    """A builtin bot (None until it is loaded), and the earlier replies that it may draw from."""

    loaded: _LoadedBot | None = None
    pool: EarlierPool = field(default_factory=EarlierPool)


class BuiltinHost:
    """Holds builtin bots and answers asks one after the other; loads further bots meanwhile, in a thread.

    Pass the server's frames to `receive`. Its own frames go to `write`, one a line.
    """

    def __init__(self, write: "LineWriter") -> None:
        """Start without bots. Call this in the event loop that runs `answer_all`."""
        self._write = write
        self._held: dict[str, _HeldBot] = {}
        self._corpora: dict[tuple[str, str], Corpus] = {}
        self._known = KnownLines()
        self._asks: dict[int, tuple[PipeAsk, float]] = {}
        self._asked = asyncio.Event()
        self._loading: set[asyncio.Task[None]] = set()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="loading")

    def receive(self, received: bytes) -> None:
        """Handle a frame from the server. Raises WireError."""
        asked = read_ask(received, self._known)
        if asked is not None:
            self._known.keep(asked.chat)
            self._asks[asked.number] = asked, time.monotonic()
            self._asked.set()
            return
        match from_server(received):
            case Cancel(ask=number):
                self._asks.pop(number, None)
            case Probe():
                self._write.add(frame(Alive()))
                self._write.flush()
            case Hold() as hold:
                held = self._held[hold.name] = _HeldBot()
                task = asyncio.get_running_loop().create_task(self._load_into(held, hold))
                self._loading.add(task)
                task.add_done_callback(self._loading.discard)
            case Earlier(name=name) as earlier:
                self._held[name].pool.take(earlier)
            case _:
                pass  # `welcome` and `offered`: nothing depends on them here

    async def answer_all(self) -> None:
        """Answer asks in the order in which they came. Those cancelled before their turn are skipped."""
        while True:
            await self._asked.wait()
            self._asked.clear()
            read = time.monotonic()
            while self._asks:
                self._write.add(await self._answer(*self._asks.pop(next(iter(self._asks)))))
                if self._asks and time.monotonic() - read >= _TOGETHER:
                    await asyncio.sleep(0)  # read new input
                    read = time.monotonic()
            self._write.flush()

    async def _answer(self, asked: PipeAsk, came: float) -> str:
        """Return the frame that answers an ask."""
        begun = time.monotonic()
        try:
            with span("reply", parent=asked.trace):
                held = self._held.get(asked.name)
                if held is None or held.loaded is None:
                    raise ChatRefused("this bot is not loaded")
                reply = await ask(held.loaded.to_ask(held.pool, asked.own), asked.chat, None)
        except BotError as error:
            return frame(failed(asked.number, error))
        queued, computed = begun - came, time.monotonic() - begun
        return held.loaded.writer.frame(asked.number, reply, round(queued * 1000), round(computed * 1000))

    async def _load_into(self, held: _HeldBot, hold: Hold) -> None:
        try:
            loop = asyncio.get_running_loop()
            held.loaded = await loop.run_in_executor(self._thread, self._load, hold)
            answer: BaseModel = Offer(name=hold.name)
        except Exception as error:  # a file can make a bot raise anything: report it, and keep the other bots
            log.exception("bot not loaded", bot=hold.spec, corpus=hold.corpus)
            reason = f"{hold.spec} over {hold.corpus}: {error or type(error).__name__}"
            answer = CannotHold(name=hold.name, reason=sendable(reason))
        self._write.add(frame(answer))
        self._write.flush()

    def _load(self, hold: Hold) -> _LoadedBot:
        read_as = hold.corpus, hold.language
        corpus = self._corpora.get(read_as) or load_corpus(*read_as)
        self._corpora[read_as] = corpus  # bots with the same corpus object share what they learn from it
        made = replace(made_by(hold.spec, corpus), replica=LABEL)
        bot = FittedQcBot(corpus) if hold.draws else open_bot(hold.spec, corpus)
        gc.freeze()  # keeps the garbage collector from scanning what was learned again and again
        return _LoadedBot(bot, ReplyWriter(made))


class LineWriter:
    """Writes frames to a pipe, one a line; writes several at once if they come in quick succession."""

    def __init__(self, pipe: BinaryIO) -> None:
        self._pipe = pipe
        self._lines: list[str] = []
        self._since = 0.0  # when the first of these lines was added, by the monotonic clock

    def add(self, line: str) -> None:
        """Write a frame, now or together with the next ones. Call `flush` after the last."""
        now = time.monotonic()
        if not self._lines:
            self._since = now
        self._lines.append(line)
        if now - self._since >= _TOGETHER:
            self.flush()

    def flush(self) -> None:
        """Write all pending frames."""
        if self._lines:
            self._pipe.write("\n".join([*self._lines, ""]).encode())
            self._pipe.flush()
            self._lines.clear()


class _Input(asyncio.Protocol):
    """Reads frames, one a line; completes `ended` at the end of the input."""

    def __init__(self, host: BuiltinHost, ended: asyncio.Future[None]) -> None:
        self._host = host
        self._ended = ended
        self._rest = b""

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._host.receive(line)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._ended.done():
            self._ended.set_result(None)


async def _serve(output: BinaryIO) -> None:
    loop = asyncio.get_running_loop()
    writer = LineWriter(output)
    writer.add(frame(HostHello(version=VERSION, label=LABEL)))
    writer.flush()
    host = BuiltinHost(writer)
    ended: asyncio.Future[None] = loop.create_future()

    def give_up(_loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        error = context.get("exception")
        if not isinstance(error, BrokenPipeError):  # a broken pipe means that the server has ended
            log.error("bot host fails", exc_info=error, reason=context["message"])
        os._exit(1)  # the server, if it is there, starts another one

    loop.set_exception_handler(give_up)
    answering = loop.create_task(host.answer_all())
    answering.add_done_callback(lambda done: done.cancelled() or done.result())
    await loop.connect_read_pipe(lambda: _Input(host, ended), sys.stdin)
    await ended


def main() -> None:
    """Serve until the input ends."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)  # the server handles it, and finishes the replies under way first
    # Anything that a library prints goes to the log: the output is for frames only.
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    end_tracing = start_tracing()
    # A broken pipe: the server ended before this process had started.
    with suppress(BrokenPipeError), asyncio.Runner(loop_factory=auto_loop_factory()) as runner:
        runner.run(_serve(output))
    end_tracing()
    os._exit(0)  # without waiting for bots that are still loading


if __name__ == "__main__":
    main()
