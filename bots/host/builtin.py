"""A builtin bot as a model of the host, so that its work keeps no request waiting at the door."""

import asyncio
from collections.abc import Sequence
from functools import lru_cache

from bots.builtin.catalogue import UnknownBotError, open_bot
from bots.core.chat import Bot, Chat
from bots.corpus import CorpusError, load_corpus
from bots.host.model import ModelError

# Bots over one corpus share what they have learned from it, if it is one object.
_corpus = lru_cache(maxsize=8)(load_corpus)


class BuiltinModel:
    """One of the bots that come with Candor."""

    def __init__(self, name: str, corpus: str) -> None:
        """Let the builtin bot `name` learn from `corpus`: a builtin corpus or a path.

        Raises:
            ModelError: there is no such bot, or it cannot work with that corpus.
        """
        self.name = f"builtin:{name}"
        try:
            self._bot: Bot = open_bot(self.name, _corpus(corpus))
        except (UnknownBotError, CorpusError) as error:
            raise ModelError(f"{self.name}: {error}") from error

    def replies(self, chats: Sequence[Chat]) -> list[str]:
        """Return the bot's next line of every chat."""
        return asyncio.run(self._answer(chats))

    async def _answer(self, chats: Sequence[Chat]) -> list[str]:
        return [(await self._bot.reply(chat)).text for chat in chats]
