"""The reflecting listener: returns the worker's own statements to them (Weizenbaum, 1966)."""

import random
from collections.abc import Iterator

from bots.builtin.parts.facts import answered_before, asked_fact
from bots.builtin.parts.rules import GREETINGS, act, answers, mentions, script
from bots.builtin.parts.said import freshest
from bots.core.chat import Chat, Reply
from bots.core.words import content
from bots.corpus import Corpus
from bots.shown import present


class Reflect:
    """Keyword rules with gaps, each with several answers used in turn, and a memory for when none fits.

    As in ELIZA, the most important matching rule decides, its answers take turns within a conversation, and
    if no rule matches, an earlier statement is mentioned again. With a persona, questions about the listener
    are answered from it before they are returned.
    """

    def __init__(self, corpus: Corpus) -> None:
        """Accept any corpus; nothing is learned from it."""
        self._script = script("reflect")

    async def reply(self, chat: Chat) -> Reply:
        """Return the worker's words in the second person, or a question that keeps them talking."""
        again = answered_before(chat) if chat.persona else None
        return Reply(present(again or freshest(self._ways(chat), chat)))

    def _ways(self, chat: Chat) -> Iterator[str]:
        """Yield candidate replies, the best first."""
        line = chat.turns[-1].text if chat.turns else ""
        doing = act(line) if line else "greets"
        if doing == "leaves":
            yield from self._turned("farewells", chat)
        if (doing in GREETINGS and not chat.replies_given()) or not line:
            yield from self._turned("greetings", chat)
        fact = asked_fact(chat)
        if fact:
            yield from (way.format(fact) for way in self._turned("share", chat))
            yield fact  # used when all forms of the sentence have been used
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
    """Return `lines` rotated by an offset that differs between conversations and grows with each reply."""
    first = (random.Random(f"reflect {chat.seed}").randrange(len(lines)) + chat.replies_given()) % len(lines)
    return lines[first:] + lines[:first]
