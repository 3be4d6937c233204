"""A builtin bot as a model of the host: it runs in the model's thread, and delays no request."""

import asyncio
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import version

from bots.builtin.catalogue import UnknownBotError, open_bot
from bots.core.chat import Bot, Chat, Provenance
from bots.corpus import Corpus, CorpusError, load_corpus
from bots.host.model import HostModelError, Output

# Bots with the same corpus object share what they have learned from it.
_corpus = lru_cache(maxsize=8)(load_corpus)


class BuiltinModel:
    """A bot that comes with Candor."""

    def __init__(self, name: str, corpus: str) -> None:
        """Open the builtin bot `name` with `corpus`: a builtin corpus or a path.

        Raises:
            ModelError: there is no such bot, or it cannot use that corpus.
        """
        self.name = f"builtin:{name}"
        try:
            learned = _corpus(corpus)
            self._bot: Bot = open_bot(self.name, learned)
        except (UnknownBotError, CorpusError) as error:
            raise HostModelError(f"{self.name}: {error}") from error

        self._made = made_by(self.name, learned)

    def replies(self, chats: Sequence[Chat]) -> list[Output]:
        """Return the bot's next line of every chat."""
        return asyncio.run(self._answer(chats))

    async def _answer(self, chats: Sequence[Chat]) -> list[Output]:
        return [Output((await self._bot.reply(chat)).text, provenance=self._made) for chat in chats]


def made_by(spec: str, corpus: Corpus) -> Provenance:
    """Return the provenance of the builtin bot `spec`: its version, and the fingerprint of its corpus."""
    return Provenance(model=spec, revision=f"{version('candor-eval')}-{corpus.fingerprint()}")
