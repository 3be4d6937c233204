"""The interviewer: reacts to the worker's line and asks the next question."""

import random
from collections.abc import Iterator, Sequence
from functools import lru_cache

from bots.builtin.parts.facts import answered_before, asked_fact, denied_topics, fact_about
from bots.builtin.parts.rules import GREETINGS, Act, act, answers, mentions, script
from bots.builtin.parts.said import freshest
from bots.builtin.parts.terms import TOPICS, topics_of
from bots.core.chat import Chat, Reply
from bots.core.words import LINES, content, stem, stems
from bots.corpus import Corpus
from bots.shown import present

_LINK_EVERY = 3  # replies
_LOOKS_BACK = 20  # lines of the worker: older ones were asked about already, or bore them
_IN_COMMON = 1.5  # nearness from which a fact is worth mentioning unasked


class Interviewer:
    """Reacts, answers questions, and asks further ones: rules and a list of topics, no learning.

    It returns the worker's question. Otherwise its question comes, in this order, from the worker's latest
    line, its topics, their earlier lines, and a list of openers. No question is asked twice, and a repeated
    question of the worker gets the same answer again. With a persona it answers questions from it, and
    sometimes says what it has in common with the worker.
    """

    def __init__(self, corpus: Corpus) -> None:
        """Accept any corpus; nothing is learned from it."""
        self._script = script("interviewer")
        self._follow_ups = lru_cache(maxsize=LINES)(self._find_follow_ups)

    async def reply(self, chat: Chat) -> Reply:
        """Return a reaction and a question."""
        rng = random.Random(f"interviewer {chat.seed} {chat.replies_given()}")
        doing = act(chat.turns[-1].text) if chat.turns else "greets"
        if doing == "leaves":
            return Reply(self._pick("farewells", chat, rng))
        if doing in GREETINGS and not chat.replies_given():
            return Reply(f"{self._pick('greetings', chat, rng)} {self._pick('openers', chat, rng)}")
        before = self._answer(doing, chat, rng) or self._reaction(chat, rng)
        return Reply(present(f"{before} {self._question(chat, rng)}"))

    def _answer(self, doing: Act, chat: Chat, rng: random.Random) -> str | None:
        """Return an answer to a question; None if there was none."""
        if doing == "asks how you are":
            return self._pick("greetings", chat, rng)
        if not doing.startswith("asks"):
            return None
        return (
            answered_before(chat)
            or asked_fact(chat)
            or self._pick("whether" if doing == "asks whether" else "deflections", chat, rng)
        )

    def _reaction(self, chat: Chat, rng: random.Random) -> str:
        """Return a short reaction to a statement, or a fact of the persona that is close to it."""
        said = chat.turns[-1].text if chat.turns else ""
        common = fact_about(said, chat, least=_IN_COMMON)
        if common and rng.random() < 0.5 and not denied_topics(chat) & set(topics_of(common)):
            return common
        felt = stems(said)
        joy, grief = (
            sum(felt.count(stem(word)) for word in self._script[f"{mood}_words"])
            for mood in ("glad", "sorry")
        )
        return self._pick("glad" if joy > grief else "sorry" if grief > joy else "heard", chat, rng)

    def _question(self, chat: Chat, rng: random.Random) -> str:
        """Return the nearest question that repeats nothing."""
        return freshest((line for tier in self._tiers(chat) for line in _shuffled(tier, rng)), chat)

    def _tiers(self, chat: Chat) -> Iterator[Sequence[str]]:
        """Yield lists of questions, those nearest to the worker's latest line first."""
        said = [turn.text for turn in chat.turns if turn.author == "worker"]
        links = [link.format(thing) for thing in mentions(chat, 1) for link in self._script["links"]]
        if said and act(said[-1]) in ("asks what", "asks whether"):
            yield self._script["returns"]
        if (chat.seed + chat.replies_given()) % _LINK_EVERY == 0:
            yield links
        if said and content(said[-1]):
            yield from self._follow_ups(said[-1])
        yield links
        for line in reversed(said[-_LOOKS_BACK:-1]):
            yield from self._follow_ups(line)
        yield from answers(self._script["rules"], said[-1] if said else "")
        yield self._script["openers"]

    def _find_follow_ups(self, line: str) -> tuple[Sequence[str], ...]:
        asking_on = answers(self._script["rules"], line)
        return (*asking_on, *(TOPICS[topic].questions for topic in topics_of(line)[:2]))

    def _pick(self, name: str, chat: Chat, rng: random.Random) -> str:
        return freshest(_shuffled(self._script[name], rng), chat)


def _shuffled(lines: Sequence[str], rng: random.Random) -> list[str]:
    return rng.sample(lines, len(lines))
