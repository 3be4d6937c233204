"""The reflecting listener: turns what was said back to the one who said it (Weizenbaum, 1966)."""

import random
from collections.abc import Iterator

from bots.builtin.acts import GREETINGS, act
from bots.builtin.facts import answered_before, asked_fact
from bots.builtin.rules import answers, mentions, script
from bots.builtin.said import freshest
from bots.core.chat import Chat, Reply
from bots.core.words import content
from bots.corpus import Corpus
from bots.shown.prose import present


class Reflect:
    """Keyword rules with gaps, each with several answers used in turn, and a memory for when none fits.

    As in ELIZA, the first rule in order of importance decides, its answers take turns within a
    conversation, and where no rule fits, something said earlier is brought up again. With a persona, a
    question about the listener is answered from it before it is given back.
    """

    def __init__(self, corpus: Corpus) -> None:
        """Take any corpus; nothing is learned from it."""
        self._script = script("reflect")

    async def reply(self, chat: Chat) -> Reply:
        """Return the worker's words turned round, or a question that keeps them talking."""
        again = answered_before(chat) if chat.persona else None
        return Reply(present(again or freshest(self._ways(chat), chat)))

    def _ways(self, chat: Chat) -> Iterator[str]:
        """Yield what could be said, the best first."""
        line = chat.turns[-1].text if chat.turns else ""
        doing = act(line) if line else "greets"
        if doing == "leaves":
            yield from self._turned("farewells", chat)
        if (doing in GREETINGS and not chat.replies_given()) or not line:
            yield from self._turned("greetings", chat)
        fact = asked_fact(chat)
        if fact:
            yield from (way.format(fact) for way in self._turned("share", chat))
            yield fact  # there are more facts than ways to end on
        ways = self._turned("remember", chat)
        remembered = [way.format(thing) for thing in mentions(chat, 2) for way in ways]
        if doing == "tells" and not content(line):
            yield from remembered
        for filled in answers(self._script["rules"], line):
            yield from _rotated(filled, chat)
        if doing.startswith("asks"):
            yield from self._turned("about_me", chat)
        yield from remembered
        yield from self._turned("nothing", chat)

    def _turned(self, name: str, chat: Chat) -> list[str]:
        return _rotated(list(self._script[name]), chat)


def _rotated(lines: list[str], chat: Chat) -> list[str]:
    """Return `lines` from a place that moves on with the conversation and differs between conversations."""
    first = (random.Random(f"reflect {chat.seed}").randrange(len(lines)) + chat.replies_given()) % len(lines)
    return lines[first:] + lines[:first]
