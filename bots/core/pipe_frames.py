"""Asks and replies as a server and the bot hosts that it starts itself read and write them at every turn.

They are frames of `host_protocol`. Both ends are of one installation, and nobody else has the pipe between
them: so fields are taken as they are, where validating them took longer than the bots. A frame without the
fields that it should have is a WireError all the same.
"""

from dataclasses import replace
from functools import lru_cache
from json.encoder import encode_basestring_ascii
from typing import Any, NamedTuple

from pydantic_core import from_json, to_json

from bots.core.chat import Chat, Reply, Turn
from bots.core.host_protocol import WireError, frame, replied, require_size
from bots.core.known_lines import KnownLines
from bots.core.provenance import Provenance

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
