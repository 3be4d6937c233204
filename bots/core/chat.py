"""The contract of every kind of bot: the chat that it is asked about, and the reply that it returns.

A bot is stateless from the outside. Each call carries the whole conversation, so any call can be
repeated, or sent to another replica, and means the same.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

from bots.core.provenance import Provenance
from bots.shown import Change

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
