"""Bots that answer workers: the contract, and the functions that open and call builtin bots.

Public, for authors of Python bots and for scripts that use one: `Bot`, the contract, with `Chat`, `Turn` and
`Reply`; `BotError`, which a bot raises (its kinds are in `bots.core.failures`); `open_bot` and `load_corpus`,
which open the builtin bots and corpora. `bots.serving` has what the server uses besides.
"""

from bots.builtin import open_bot
from bots.core.chat import Bot, Chat, Provenance, Reply, Turn
from bots.core.failures import BotError
from bots.corpus import load_corpus

__all__ = [
    "Bot",
    "BotError",
    "Chat",
    "Provenance",
    "Reply",
    "Turn",
    "load_corpus",
    "open_bot",
]
