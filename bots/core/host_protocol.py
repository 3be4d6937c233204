"""The dial-in protocol between a bot host and a server, over a WebSocket that the host opens.

The host sends `hello`, the server `welcome`. The host sends an `offer` for each model that is ready. The
server confirms it (`offered`), and from then on may send `ask`. The host answers with `replied` or `failed`,
and drops any ask that the server `cancel`s. A host that wants to leave sends `drain`; after the server's
`released` it gets no more asks. Numbers of asks are unique within one connection: an ask must be answered on
the connection on which it came.

Both sides must use the same VERSION. A server refuses any other version in `hello`, and tells the host to
install the same version of Candor. Since version 2, `failed` contains the kind of the failure; a server of
version 1 would reject that field, and a server that accepted both forms would have to guess the kind from the
text. Since version 3, `replied` contains the model's raw output beside the text that is shown. Since version
4, `replied` and `failed` contain the provenance of an answer, and `failed` contains the model's output that
is no reply.

A server uses the same protocol with the hosts that it starts itself, over their standard input and output,
one frame a line. Some messages are for such hosts only:
- `hold` makes the host load a builtin bot; it answers with `offer` or `cannot_hold`.
- `earlier` contains systems' earlier replies, for a QC bot that draws from them. An ask to this bot names the
  assignment (`own`) from which it may not draw.
- An ask does not repeat lines that were in an earlier ask of the same conversation; `known` is their number.
- `probe` is answered with `alive`; a WebSocket has its own pings.
Both ends read these asks and replies with `pipe_frames`.
"""

import json
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from bots.core.chat import Chat, ChatRequest, Provenance, Reply, chat_json
from bots.core.failures import BotError, FailureKind, failure
from bots.core.visible_text import LONGEST_OUTPUT
from bots.shown import Change
from candor.common.files import mistakes

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
    """A frame contains no valid message. The exception's message says what is wrong with it."""


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class HostHello(_Message):
    """The host has connected. `label` tells researchers which machine it is on."""

    type: Literal["hello"] = "hello"
    version: int
    label: Label


class Offer(_Message):
    """The model `name` is loaded and accepts chats."""

    type: Literal["offer"] = "offer"
    name: Name


class Replied(_Message):
    """The answer to an ask, with the fields of `bots.core.chat.Reply`."""

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
    """An ask failed. `kind` is for programs, `reason` is for people."""

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
    """The builtin bot `name`, which the host was told to load, cannot be loaded."""

    type: Literal["cannot_hold"] = "cannot_hold"
    name: Name
    reason: Annotated[str, Field(max_length=LONGEST_REASON)]


class Alive(_Message):
    """The answer to a `probe`."""

    type: Literal["alive"] = "alive"


class Drain(_Message):
    """The host wants to leave: send no more asks."""

    type: Literal["drain"] = "drain"


class Welcome(_Message):
    """The server accepts the host."""

    type: Literal["welcome"] = "welcome"


class Offered(_Message):
    """The model is now a replica of the bot `name`."""

    type: Literal["offered"] = "offered"
    name: Name


class Hold(_Message):
    """Load the builtin bot `spec` with `corpus` (a builtin corpus or a path), and offer it as `name`.

    `draws`: it is the QC bot that draws from systems' earlier replies. `language`: of the corpus.
    """

    type: Literal["hold"] = "hold"
    name: Name
    spec: str
    corpus: str
    draws: bool = False
    language: str = "en"


class NumberedReply(_Message):
    """A system's reply in a conversation of an assignment. No other reply for the same bot has its number."""

    number: Number
    conversation: str
    assignment: str
    text: str


class Earlier(_Message):
    """Update the replies that the bot `name` may draw from: add `new`, remove those numbered `gone`."""

    type: Literal["earlier"] = "earlier"
    name: Name
    new: tuple[NumberedReply, ...] = ()
    gone: tuple[Number, ...] = ()


class Ask(_Message):
    """Ask the model `name` for the next line of `chat`.

    `own`: the assignment of the chat, sent only to a bot that draws from earlier replies. `known`: the number
    of lines left out at the beginning of `chat`; see `bots.core.pipe_frames`. `trace`: the calling span,
    where traces are made; see `candor.common.telemetry`.
    """

    type: Literal["ask"] = "ask"
    ask: Number
    name: Name
    chat: ChatRequest
    own: str | None = None
    known: Annotated[int, Field(ge=0)] = 0
    trace: Annotated[str, Field(max_length=100)] = ""


class Probe(_Message):
    """Ask the host whether it is alive."""

    type: Literal["probe"] = "probe"


class Cancel(_Message):
    """The answer to this ask is no longer needed."""

    type: Literal["cancel"] = "cancel"
    ask: Number


class Withdrawn(_Message):
    """The server no longer needs the model `name`: its bot was deleted."""

    type: Literal["withdrawn"] = "withdrawn"
    name: Name


class Released(_Message):
    """The server will send no more asks, but still waits for the answers to earlier ones."""

    type: Literal["released"] = "released"


class Refused(_Message):
    """The server closes the connection. `retry`: a later attempt may succeed."""

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
    """Return `message` as JSON. Raises WireError if it is too long."""
    text = message.model_dump_json(exclude_none=True)
    require_size(text)
    return text


def ask_frame(
    number: int, name: str, chat: Chat, own: str | None = None, known: int = 0, trace: str = ""
) -> str:
    """Return the JSON of an `Ask`, written without building the model. `chat` is the whole conversation.

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
    """Return the answer to an ask, with a reply."""
    return Replied(
        ask=ask,
        text=reply.text,
        output=reply.output,
        changes=reply.changes,
        provenance=reply.provenance,
    )


def failed(ask: int, error: BotError) -> Failed:
    """Return the answer to an ask that failed with `error`."""
    return Failed(
        ask=ask,
        kind=error.kind,
        reason=sendable(str(error)),
        output=error.output,
        provenance=error.provenance,
    )


def sendable(reason: str) -> str:
    """Return a reason, which may be any text, shortened and cleaned to fit into a frame."""
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
