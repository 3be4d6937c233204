"""Encode requests and replies for the pipe between a server and its own bot hosts.

They are frames of `host_protocol`. Both ends are of one installation, and nobody else has the pipe between
them: so fields are taken as they are, where validating them took longer than the bots. A frame without the
fields that it should have is a WireError all the same.
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
    """The lines of the latest conversations that were asked about, as both ends of a connection know them.

    Each end keeps what it sends or receives, in the same order, and so both forget the same.
    """

    def __init__(self, most: int = MOST) -> None:
        """Know nothing yet; keep the lines of `most` conversations."""
        self._most = most
        self._lines: OrderedDict[str, tuple[Turn, ...]] = OrderedDict()

    def count(self, chat: Chat) -> int:
        """Return how many lines of `chat`, from the first, are known; never all of them."""
        before = self._lines.get(chat.conversation_id, ())[: len(chat.turns) - 1]
        return len(before) if chat.turns[: len(before)] == before else 0  # mostly the same objects

    def first(self, conversation_id: str, count: int) -> tuple[Turn, ...]:
        """Return the first `count` lines of a conversation. Raises KeyError: they are not known."""
        before = self._lines.get(conversation_id, ())
        if len(before) < count:
            raise KeyError(conversation_id)
        return before[:count]

    def keep(self, chat: Chat) -> None:
        """Know the lines of `chat` from now on."""
        self._lines[chat.conversation_id] = chat.turns
        self._lines.move_to_end(chat.conversation_id)
        if len(self._lines) > self._most:
            self._lines.popitem(last=False)


_ASK, _REPLIED = b'{"type":"ask",', b'{"type":"replied",'
_PROVENANCES = 1_024  # whose times are whole milliseconds, of few bots: mostly the same ones


class PipeAsk(NamedTuple):
    """An `Ask` with its conversation made whole."""

    number: int
    name: str
    chat: Chat
    own: str | None
    trace: str


def read_ask(received: bytes, known: KnownLines) -> PipeAsk | None:
    """Return the ask in a frame, whose first lines are among the `known` ones; None: it is another message.

    Raises:
        WireError: it is broken, or its first lines are not known.
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
    """Return the number of an ask and its reply, which a frame has; None: it is another message.

    Raises:
        WireError: it is broken.
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
    """Writes the frames of one bot's replies, which come from the same place but for their times."""

    def __init__(self, made: Provenance) -> None:
        """Say of replies that they were `made` so."""
        self._made = made
        fields = to_json(made, exclude_none=True).decode()[1:-1]
        self._begun = f"{fields}," if fields else ""

    def frame(self, ask: int, reply: Reply, queued_ms: int, computed_ms: int) -> str:
        """Return the frame of the answer to an ask. Raises WireError: it is too long."""
        if reply.output is not None or reply.changes:
            made = replace(self._made, queued_ms=queued_ms, computed_ms=computed_ms)
            return frame(replied(ask, replace(reply, provenance=made)))
        times = f'"queued_ms":{queued_ms},"computed_ms":{computed_ms}'
        text = encode_basestring_ascii(reply.text)
        line = f'{{"type":"replied","ask":{ask},"text":{text},"provenance":{{{self._begun}{times}}}}}'
        require_size(line)
        return line


def _broken(message: str, error: Exception) -> WireError:
    # Not what `error` says, which may repeat what was sent.
    return WireError(f"the frame is no `{message}`: {type(error).__name__}")


@lru_cache(maxsize=_PROVENANCES)
def _provenance(*known: tuple[str, Any]) -> Provenance:
    return Provenance(**dict(known))
