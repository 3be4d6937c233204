"""Encode requests and replies for the pipe between a server and its own bot hosts.

They are frames of `host_protocol`. Both ends belong to one installation, and nobody else can write to the
pipe, so fields are not validated: validation took longer than the bots. A frame without its required fields
is still a WireError.
"""

from collections import OrderedDict
from dataclasses import replace
from functools import lru_cache
from json.encoder import encode_basestring_ascii
from typing import Any, NamedTuple

from pydantic_core import from_json, to_json

from bots.core.chat import Chat, Provenance, Reply, Turn
from bots.core.host_protocol import WireError, frame, replied, require_size

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
