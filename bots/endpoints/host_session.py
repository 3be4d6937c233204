"""The server's side of a connection that a bot host opened. Does no I/O of its own."""

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from pydantic import BaseModel

from bots.core.ask import late
from bots.core.chat import Chat, Reply
from bots.core.failures import BotBusy, BotError, ChatRefused
from bots.core.host_protocol import (
    MOST_NAMES,
    VERSION,
    Alive,
    Cancel,
    CannotHold,
    Drain,
    Earlier,
    Failed,
    Hold,
    HostHello,
    KnownLines,
    Offer,
    Offered,
    Probe,
    Refused,
    Released,
    Replied,
    Welcome,
    WireError,
    Withdrawn,
    ask_frame,
    frame,
    from_host,
    read_reply,
)
from candor.common.telemetry import carrier

MOST_IN_FLIGHT = 1_024


@dataclass(slots=True)
class _Waiting:
    """A pending answer: it has `patience` seconds, until `due` by the event loop's clock."""

    answer: asyncio.Future[Reply]
    due: float
    patience: float


class HostSession:
    """The server's side of a connection that a host opened.

    `send` queues a frame for the host and never waits. The code that reads the connection passes the first
    frame to `greet` and every other one to `receive`, acts on the returned message, and calls `lose` when the
    host is gone.
    """

    def __init__(self, connection: int, send: Callable[[str], None], known: KnownLines | None = None) -> None:
        """Use the connection with this number, which is unique.

        `known`: for a host that this server has started, which keeps earlier lines; they are not sent to it
        again.
        """
        self._known = known
        self._connection = connection
        self._label = ""
        self._send = send
        self._held: set[str] = set()
        self._offered: set[str] = set()
        self._leaving = False
        self._numbers = count(1)
        self._waiting: dict[int, _Waiting] = {}
        self._lost: str | None = None

    @property
    def url(self) -> str:
        """The label of the host and the number of its connection."""
        return f"dial-in:{self._label}/{self._connection}"

    def greet(self, received: str | bytes) -> None:
        """Handle the first frame of a host. Raises WireError."""
        hello = from_host(received)
        if not isinstance(hello, HostHello):
            raise WireError(f"expected `hello` as the first message, got `{hello.type}`")
        if hello.version != VERSION:
            raise WireError(
                f"this server speaks version {VERSION} of dial-in, and the bot host version {hello.version}"
            )
        self._label = hello.label
        self._tell(Welcome())

    @property
    def in_flight(self) -> int:
        """The number of pending answers."""
        return len(self._waiting)

    def receive_line(self, received: bytes) -> Offer | CannotHold | Drain | None:
        """Handle another frame of a host that this server has started. Raises WireError."""
        answered = read_reply(received)
        if answered is None:
            return self.receive(received)
        number, reply = answered
        if (answer := self._awaited(number)) is not None:
            answer.set_result(reply)
        return None

    def receive(self, received: str | bytes) -> Offer | CannotHold | Drain | None:
        """Handle another frame of a host; return a message that the caller must answer, if any.

        `accept` answers an Offer, `release` a Drain. An answer that is not pending is ignored: its ask was
        cancelled, or never made.

        Raises:
            WireError: the frame is invalid, or not allowed now.
        """
        match from_host(received):
            case Replied(ask=number) as replied:
                if (answer := self._awaited(number)) is not None:
                    answer.set_result(replied.reply())
                return None
            case Failed(ask=number) as failed:
                if (answer := self._awaited(number)) is not None:
                    answer.set_exception(failed.error())
                return None
            case Alive() if self._known is not None:
                return None
            case Offer() as offer if not self._leaving and offer.name not in self._offered:
                if len(self._offered) >= MOST_NAMES:
                    raise WireError(f"a host offers at most {MOST_NAMES} models")
                self._offered.add(offer.name)
                return offer
            case CannotHold(name=name) as refusal if name in self._held:
                return refusal
            case Drain() as drain if not self._leaving:
                self._leaving = True
                return drain
            case message:
                raise WireError(f"`{message.type}` makes no sense here")

    def accept(self, name: str) -> "HostReplica":
        """Tell the host that its model `name` is now a replica, and return the replica."""
        self._tell(Offered(name=name))
        return HostReplica(self, name)

    def hold(self, bot: Hold) -> None:
        """Tell a host that this server has started to load a builtin bot."""
        self._held.add(bot.name)
        self._tell(bot)

    def tell_earlier(self, earlier: Earlier) -> None:
        """Send earlier replies to the host, for a bot that draws from them."""
        self._tell(earlier)

    def probe(self) -> None:
        """Ask a host that this server has started whether it is alive."""
        self._tell(Probe())

    def release(self) -> None:
        """Tell the host that it gets no more asks."""
        self._tell(Released())

    def withdraw(self, name: str) -> None:
        """Tell the host, if it is connected and is not leaving, that its model `name` is no longer needed."""
        if self._lost is None and not self._leaving:
            self._tell(Withdrawn(name=name))

    def refuse(self, code: str, message: str, hint: str, retry: bool) -> None:
        """Tell the host why the connection is about to be closed; `retry`: a later attempt may succeed."""
        self._tell(Refused(code=code, message=message, hint=hint, retry=retry))

    def lose(self, reason: str) -> None:
        """Fail every pending and future ask, because the host is gone. Other replicas are asked at once."""
        self._lost = reason
        for waiting in self._waiting.values():
            if not waiting.answer.done():
                waiting.answer.set_exception(BotError(reason))

    def fail_overdue(self, now: float) -> None:
        """Fail asks that are overdue by the event loop's clock, and cancel them at the host."""
        for number, waiting in self._waiting.items():
            if waiting.due <= now and not waiting.answer.done():
                waiting.answer.set_exception(late(waiting.patience))
                self._tell(Cancel(ask=number))

    def require(self) -> None:
        """Raise BotError if the host is gone."""
        if self._lost is not None:
            raise BotError(self._lost)

    async def ask(self, name: str, chat: Chat, own: str | None = None, patience: float = math.inf) -> Reply:
        """Return the next line of `chat` by the model `name`.

        `own` is for a bot that draws from earlier replies: the assignment from which it may not draw.
        `patience`: seconds after which `fail_overdue`, where it is called, fails this ask.

        Raises:
            BotBusy, ChatRefused: the host cannot take this ask now, or at all.
            BotTimeout: the answer was overdue.
            BotError: the host is gone or went away, or its model raised this error.
        """
        self.require()
        if len(self._waiting) >= MOST_IN_FLIGHT:
            raise BotBusy(f"busy: {len(self._waiting)} replies are under way")
        number = next(self._numbers)
        try:
            known = 0 if self._known is None else self._known.count(chat)
            question = ask_frame(number, name, chat, own, known, carrier())
        except ValueError as error:
            raise ChatRefused("the conversation is too long to be sent to a bot host") from error
        if self._known is not None:
            self._known.keep(chat)
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Reply] = loop.create_future()
        self._waiting[number] = _Waiting(answer, loop.time() + patience, patience)
        try:
            self._send(question)
            return await answer
        finally:
            del self._waiting[number]
            if answer.cancelled() and self._lost is None:
                self._tell(Cancel(ask=number))

    def _awaited(self, number: int) -> asyncio.Future[Reply] | None:
        waiting = self._waiting.get(number)
        return None if waiting is None or waiting.answer.done() else waiting.answer

    def _tell(self, message: BaseModel) -> None:
        self._send(frame(message))


class HostReplica:
    """A model of a host that has dialled in."""

    def __init__(self, host: HostSession, name: str) -> None:
        """Ask the model `name` of `host`."""
        self._host = host
        self._name = name

    @property
    def url(self) -> str:
        """The label of the host and the number of its connection."""
        return self._host.url

    async def reply(self, chat: Chat) -> Reply:
        """Return the next line of `chat` by the model. Raises BotError."""
        return await self._host.ask(self._name, chat)

    async def probe(self) -> None:
        """Check that the host is connected; its WebSocket finds that out by pings. Raises BotError."""
        self._host.require()

    async def close(self) -> None:
        """Tell the host, unless it has gone by itself."""
        self._host.withdraw(self._name)
