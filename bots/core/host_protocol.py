"""The dial-in wire: what a bot host and a server say to each other over a WebSocket that the host opened.

The host says `hello`, the server `welcome`. The host `offer`s each model that is ready, the server confirms
(`offered`) and from then on may `ask`; the host answers `replied` or `failed`, and forgets what the server
`cancel`s. A host that wants to leave says `drain`; after the server's `released` nothing more is asked.
Numbers of asks count within one connection: what was asked on a connection can be answered on no other.

Both sides have to speak the same VERSION: a server refuses any other in `hello`, and tells the host to
install the same version of Candor. Since version 2 `failed` holds the kind of the failure. A server of
version 1 would not take that field, and one that took both forms would have to guess the kind from the text.
Since version 3 `replied` has what the model wrote beside what is shown of it; since version 4 `replied` and
`failed` have where an answer came from, and `failed` what the model wrote that is no reply.

A server speaks the same wire with the hosts that it starts itself, over their standard input and output, one
frame a line. Only such a host is told to `hold` a builtin bot, and answers that it does by its `offer`, or
`cannot_hold`; only such a host is told what systems have said `earlier`, for a qc bot that draws from that,
and in an ask the assignment from which this bot may not draw. To such a host lines that were in an earlier
ask of the conversation are not sent again: the ask says how many are `known`. And only such a host answers a
`probe` by `alive`: a WebSocket has its own pings. Both ends read its asks and replies with `pipe_frames`.
"""

import json
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from bots.core.chat import Chat, Provenance, Reply
from bots.core.chat_request import ChatRequest, chat_json
from bots.core.failures import BotError, FailureKind, failure
from bots.core.mistakes import mistakes
from bots.core.visible_text import LONGEST_OUTPUT
from bots.shown import Change

VERSION = 4
PATH = "/api/bots/dial-in"
MOST_BYTES = 1_048_576  # of a frame, either way
MOST_NAMES = 100  # models of one host
LONGEST_TEXT = 20_000
LONGEST_REASON = 500

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
Label = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
Number = Annotated[int, Field(ge=1, lt=2**53)]
Message = TypeVar("Message")


class WireError(ValueError):
    """A frame holds no message of this wire. The message says what is wrong with it."""


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class HostHello(_Message):
    """The host has connected. `label` tells researchers which machine it is."""

    type: Literal["hello"] = "hello"
    version: int
    label: Label


class Offer(_Message):
    """The model `name` is loaded and takes chats."""

    type: Literal["offer"] = "offer"
    name: Name


class Replied(_Message):
    """The answer to an ask: a reply, as `bots.core.chat.Reply` has it."""

    type: Literal["replied"] = "replied"
    ask: Number
    text: Annotated[str, Field(max_length=LONGEST_TEXT)]
    output: Annotated[str, Field(max_length=LONGEST_OUTPUT)] | None = None
    changes: tuple[Change, ...] = ()
    provenance: Provenance | None = None

    def reply(self) -> Reply:
        """Return the reply."""
        return Reply(self.text, self.output, self.changes, self.provenance)


class Failed(_Message):
    """There is no answer to an ask. `kind` says what a program has to know of it, `reason` is for people."""

    type: Literal["failed"] = "failed"
    ask: Number
    kind: FailureKind
    reason: Annotated[str, Field(max_length=LONGEST_REASON)]
    output: Annotated[str, Field(max_length=LONGEST_OUTPUT)] | None = None
    provenance: Provenance | None = None

    def error(self) -> BotError:
        """Return the failure."""
        error = failure(self.kind, self.reason)
        error.output, error.provenance = self.output, self.provenance
        return error


class CannotHold(_Message):
    """The builtin bot that the host was told to hold as `name` cannot be loaded."""

    type: Literal["cannot_hold"] = "cannot_hold"
    name: Name
    reason: Annotated[str, Field(max_length=LONGEST_REASON)]


class Alive(_Message):
    """The answer to a `probe`."""

    type: Literal["alive"] = "alive"


class Drain(_Message):
    """The host wants to leave: nothing more shall be asked."""

    type: Literal["drain"] = "drain"


class Welcome(_Message):
    """The server takes the host's offers."""

    type: Literal["welcome"] = "welcome"


class Offered(_Message):
    """The model is a replica of the bot `name` now."""

    type: Literal["offered"] = "offered"
    name: Name


class Hold(_Message):
    """Load the builtin bot `spec` over `corpus`, a builtin one or a path, and offer it as `name`.

    `draws`: it is the qc bot that draws from what systems have said. `language`: that of the corpus.
    """

    type: Literal["hold"] = "hold"
    name: Name
    spec: str
    corpus: str
    draws: bool = False
    language: str = "en"


class NumberedReply(_Message):
    """What a system said in a conversation of an assignment. No other of the same bot has its number."""

    number: Number
    conversation: str
    assignment: str
    text: str


class Earlier(_Message):
    """The bot `name` may draw from `new` replies too, and no longer from those whose numbers are `gone`."""

    type: Literal["earlier"] = "earlier"
    name: Name
    new: tuple[NumberedReply, ...] = ()
    gone: tuple[Number, ...] = ()


class Ask(_Message):
    """The model `name` shall say the next line of `chat`.

    `own`: the assignment that the chat belongs to, told to a bot that draws from earlier replies only.
    `known`: how many lines are left out at the beginning of `chat`; see `bots.core.pipe_frames`.
    `trace`: the span that asks, where spans are made; see `bots.core.telemetry`.
    """

    type: Literal["ask"] = "ask"
    ask: Number
    name: Name
    chat: ChatRequest
    own: str | None = None
    known: Annotated[int, Field(ge=0)] = 0
    trace: Annotated[str, Field(max_length=100)] = ""


class Probe(_Message):
    """The host shall say that it is alive."""

    type: Literal["probe"] = "probe"


class Cancel(_Message):
    """Nobody waits for the answer to this ask any more."""

    type: Literal["cancel"] = "cancel"
    ask: Number


class Withdrawn(_Message):
    """The server has no use for the model `name` any more: its bot was deleted."""

    type: Literal["withdrawn"] = "withdrawn"
    name: Name


class Released(_Message):
    """Nothing more is asked; what was asked before is still waited for."""

    type: Literal["released"] = "released"


class Refused(_Message):
    """The server closes the connection. `retry`: it may go better later."""

    type: Literal["refused"] = "refused"
    code: str
    message: str
    hint: str
    retry: bool = False


HostMessage = Annotated[
    HostHello | Offer | CannotHold | Replied | Failed | Alive | Drain, Field(discriminator="type")
]
ServerMessage = Annotated[
    Welcome | Offered | Hold | Earlier | Ask | Probe | Cancel | Withdrawn | Released | Refused,
    Field(discriminator="type"),
]
_HOST: TypeAdapter[HostMessage] = TypeAdapter(HostMessage)
_SERVER: TypeAdapter[ServerMessage] = TypeAdapter(ServerMessage)


def from_host(received: str | bytes) -> HostMessage:
    """Return the message that a host sent. Raises WireError."""
    return _read(_HOST, received)


def from_server(received: str | bytes) -> ServerMessage:
    """Return the message that a server sent. Raises WireError."""
    return _read(_SERVER, received)


def frame(message: BaseModel) -> str:
    """Return `message` as it is sent. Raises WireError: it is too long for that."""
    text = message.model_dump_json(exclude_none=True)
    require_size(text)
    return text


def ask_frame(
    number: int, name: str, chat: Chat, own: str | None = None, known: int = 0, trace: str = ""
) -> str:
    """Return the frame of an `Ask`, written without building one. `chat` is given whole.

    Raises:
        ValueError: the conversation is too long to be sent.
    """
    more = "" if own is None else f',"own":{json.dumps(own)}'
    if known:
        more += f',"known":{known}'
    if trace:
        more += f',"trace":{json.dumps(trace)}'
    text = f'{{"type":"ask","ask":{number},"name":"{name}"{more},"chat":{chat_json(chat, known)}}}'
    if len(text) > MOST_BYTES:  # it is all ASCII
        raise ValueError(f"a frame holds at most {MOST_BYTES} bytes, and this one has {len(text)}")
    return text


def replied(ask: int, reply: Reply) -> Replied:
    """Return what to answer to an ask that `reply` answers."""
    return Replied(
        ask=ask,
        text=reply.text,
        output=reply.output,
        changes=reply.changes,
        provenance=reply.provenance,
    )


def failed(ask: int, error: BotError) -> Failed:
    """Return what to answer to an ask that failed with `error`."""
    return Failed(
        ask=ask,
        kind=error.kind,
        reason=sendable(str(error)),
        output=error.output,
        provenance=error.provenance,
    )


def sendable(reason: str) -> str:
    """Return a reason, which may be any text, as a frame can have it."""
    return reason[:LONGEST_REASON].encode("utf-8", "replace").decode()


def require_size(text: str | bytes) -> None:
    """Check that a frame is not too long. Raises WireError."""
    size = len(text.encode("utf-8", "replace") if isinstance(text, str) and not text.isascii() else text)
    if size > MOST_BYTES:
        raise WireError(f"a frame holds at most {MOST_BYTES} bytes, and this one has {size}")


def _read(adapter: TypeAdapter[Message], received: str | bytes) -> Message:
    require_size(received)
    try:
        return adapter.validate_json(received)
    except ValidationError as error:
        # Not from `error`, whose text repeats what was sent.
        raise WireError(mistakes(error, "the frame")[:LONGEST_REASON]) from None
