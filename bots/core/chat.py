"""The contract of every kind of bot: the chat that it is asked about, and the reply that it returns.

A bot is stateless from the outside. Each call carries the whole conversation, so any call can be
repeated, or sent to another replica, and means the same.
"""

from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b, sha256
from typing import Literal, Protocol

from bots.shown import Change

_CONVERSATIONS = 4_096  # whose names are kept: each is asked for at every turn


@lru_cache(maxsize=_CONVERSATIONS)
def opaque_id(seed: int, conversation: str) -> str:
    """Return another name for `conversation`, always the same for the same `seed`, which no bot may know."""
    return blake2b(conversation.encode(), key=str(seed).encode(), digest_size=12).hexdigest()


@dataclass(frozen=True, slots=True)
class Provenance:
    """What is known of the making of a reply, or of a try that failed. What nobody told is None.

    `model`: as the server names it, which may be another than was asked for. `revision`: what tells
    versions of it apart: a fingerprint, a commit, a hash of weights. `prompt_hash`: of the instructions,
    without the persona. `sampling`: JSON of the options of the request. `cost`: by the bot's prices.
    `finish_reason`: in the server's own word. `replica`: which server or host answered. `queued_ms`,
    `computed_ms`: how long the chat waited for the model, and how long that took.
    """

    model: str | None = None
    revision: str | None = None
    prompt_hash: str | None = None
    sampling: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    finish_reason: str | None = None
    replica: str | None = None
    queued_ms: int | None = None
    computed_ms: int | None = None


def prompt_hash(*parts: str) -> str:
    """Return 16 digits that tell instructions apart."""
    return sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


Author = Literal["worker", "bot"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One line of a conversation."""

    author: Author
    text: str


@dataclass(frozen=True, slots=True)
class Chat:
    """A conversation as a bot sees it.

    `conversation_id` is stable over the conversation's life, `seed` is its source of randomness,
    `persona` holds the sentences the bot speaks as (empty: none), `turns` is the history, oldest
    first, ending with the worker's latest line. `prompt` is what this conversation asks of a bot that takes
    instructions (empty: nothing); others pass it over.
    """

    conversation_id: str
    seed: int
    persona: tuple[str, ...]
    turns: tuple[Turn, ...]
    prompt: str = ""

    def replies_given(self) -> int:
        """Return how many replies the bot has given so far: the index of the one it is asked for."""
        return [turn.author for turn in self.turns].count("bot")


@dataclass(frozen=True, slots=True)
class Reply:
    """What a bot says next.

    `output`: what the model wrote, thoughts and all, where that is not what is shown; for analysts only.
    `changes`: in what the two differ. `provenance`: where it came from, as far as the bot tells.
    """

    text: str
    output: str | None = None
    changes: tuple[Change, ...] = ()
    provenance: Provenance | None = None


class Bot(Protocol):
    """Anything that can answer a worker."""

    async def reply(self, chat: Chat) -> Reply:
        """Return the next line of `chat`.

        Raises:
            BotGone: there will be none; do not try again.
            BotError: no reply could be made; the same call may be tried again.
        """
        ...
