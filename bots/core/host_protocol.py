"""The protocol between a bot host and a server: over a WebSocket that the host opens, or over a pipe.

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
Both ends of a pipe belong to one installation, and nobody else can write to it, so fields of its asks and
replies are not validated: validation took longer than the bots. A frame without its required fields is still
a WireError.
"""

import json
from collections import OrderedDict
from dataclasses import replace
from functools import lru_cache
from json.encoder import encode_basestring_ascii
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError
from pydantic_core import from_json, to_json

from bots.core.ask import LONGEST_OUTPUT
from bots.core.chat import Chat, ChatRequest, Provenance, Reply, Turn, chat_json
from bots.core.failures import BotError, FailureKind, failure
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
    of lines left out at the beginning of `chat`; see `bots.core.host_protocol`. `trace`: the calling span,
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


MOST = 4_096  # conversations


class KnownLines:
    """The lines of the latest conversations, as known to both ends of a connection.

    Each end keeps the lines that it sends or receives, in the same order, so both forget the same ones.
    """

    def __init__(self, most: int = MOST) -> None:
        """Start empty; keep the lines of `most` conversations."""
        self._most = most
        self._lines: OrderedDict[str, tuple[Turn, ...]] = OrderedDict()

    def count(self, chat: Chat) -> int:
        """Return how many of the first lines of `chat` are known; never all of them."""
        before = self._lines.get(chat.conversation_id, ())[: len(chat.turns) - 1]
        return len(before) if chat.turns[: len(before)] == before else 0  # mostly the same objects

    def first(self, conversation_id: str, count: int) -> tuple[Turn, ...]:
        """Return the first `count` lines of a conversation. Raises KeyError if they are not known."""
        before = self._lines.get(conversation_id, ())
        if len(before) < count:
            raise KeyError(conversation_id)
        return before[:count]

    def keep(self, chat: Chat) -> None:
        """Keep the lines of `chat`."""
        self._lines[chat.conversation_id] = chat.turns
        self._lines.move_to_end(chat.conversation_id)
        if len(self._lines) > self._most:
            self._lines.popitem(last=False)


_ASK, _REPLIED = b'{"type":"ask",', b'{"type":"replied",'
_PROVENANCES = 1_024  # cached: times are whole milliseconds and bots are few, so most repeat


class PipeAsk(NamedTuple):
    """An `Ask` with its complete conversation."""

    number: int
    name: str
    chat: Chat
    own: str | None
    trace: str


def read_ask(received: bytes, known: KnownLines) -> PipeAsk | None:
    """Return the ask in a frame, completed with its `known` first lines; None if it is another message.

    Raises:
        WireError: the frame is invalid, or its first lines are not known.
    """
    if not received.startswith(_ASK):
        return None
    require_size(received)
    try:
        ask = from_json(received)
        sent = ask["chat"]
        conversation = sent["conversation_id"]
        turns = tuple([Turn(turn["author"], turn["text"]) for turn in sent["turns"]])
        if "known" in ask:
            turns = known.first(conversation, ask["known"]) + turns
        chat = Chat(conversation, sent["seed"], tuple(sent["persona"]), turns, sent.get("prompt", ""))
        return PipeAsk(ask["ask"], ask["name"], chat, ask.get("own"), ask.get("trace", ""))
    except (KeyError, TypeError, ValueError) as error:
        raise _broken("ask", error) from None


def read_reply(received: bytes) -> tuple[int, Reply] | None:
    """Return the number of an ask and its reply from a frame; None if it is another message.

    Raises:
        WireError: the frame is invalid.
    """
    if not received.startswith(_REPLIED):
        return None
    require_size(received)
    try:
        answer = from_json(received)
        made = answer.get("provenance")
        provenance = None if made is None else _provenance(*made.items())
        changes = tuple(answer.get("changes", ()))
        return answer["ask"], Reply(answer["text"], answer.get("output"), changes, provenance)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _broken("replied", error) from None


class ReplyWriter:
    """Writes the frames of one bot's replies, whose provenance differs only in its times."""

    def __init__(self, made: Provenance) -> None:
        """Write replies with the provenance `made`."""
        self._made = made
        fields = to_json(made, exclude_none=True).decode()[1:-1]
        self._begun = f"{fields}," if fields else ""

    def frame(self, ask: int, reply: Reply, queued_ms: int, computed_ms: int) -> str:
        """Return the frame of the answer to an ask. Raises WireError if it is too long."""
        if reply.output is not None or reply.changes:
            made = replace(self._made, queued_ms=queued_ms, computed_ms=computed_ms)
            return frame(replied(ask, replace(reply, provenance=made)))
        times = f'"queued_ms":{queued_ms},"computed_ms":{computed_ms}'
        text = encode_basestring_ascii(reply.text)
        line = f'{{"type":"replied","ask":{ask},"text":{text},"provenance":{{{self._begun}{times}}}}}'
        require_size(line)
        return line


def _broken(message: str, error: Exception) -> WireError:
    # Not the text of `error`, which may quote the frame.
    return WireError(f"the frame is not a valid `{message}`: {type(error).__name__}")


@lru_cache(maxsize=_PROVENANCES)
def _provenance(*known: tuple[str, Any]) -> Provenance:
    return Provenance(**dict(known))
