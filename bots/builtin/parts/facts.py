"""Find a persona's answer to a question, and recognise repeated questions."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from bots.builtin.parts.rules import Act, act, asks
from bots.builtin.parts.said import said_in
from bots.builtin.parts.terms import TOPICS, topics_of
from bots.core.chat import Chat
from bots.core.words import LINES, content, sentences, stem, words
from bots.shown import present

_SAME = 0.6  # share of common words from which two questions ask for the same
_FILLING = frozenset(map(stem, ["type", "favourite", "favorite", "enjoy", "love", "currently", "lately"]))
_NO = re.compile(r"(?:As I said: )?(?:no|nope|never|not really|hardly ever|I wish I could)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PersonaQuestion:
    """A question: its content stems, its topic if any, and whether it asks about the topic as a whole.

    "Do you have pets?" asks about a topic as a whole, "Do you have a cat?" about a part of it.
    """

    doing: Act
    words: frozenset[str]
    topic: str | None
    whole: bool

    def is_answered_by(self, before: "PersonaQuestion", answer: str) -> bool:
        """Return whether `answer`, given to the question `before`, also answers this question.

        That is so if most words are the same. It is also so if both have the same topic and one of them asks
        about all of it: a speaker without pets has no cat. If one asks what and the other whether, the answer
        must have been no.
        """
        if self.words and len(self.words & before.words) >= _SAME * len(self.words | before.words):
            return True
        if self.topic is None or self.topic != before.topic or not (self.whole or before.whole):
            return False
        return self.doing == before.doing or denies(answer)


def denies(answer: str) -> bool:
    """Return whether an answer says no."""
    return bool(_NO.match(answer))


@lru_cache(maxsize=LINES)
def question(text: str) -> PersonaQuestion:
    """Return the question in `text`."""
    meant = frozenset(content(text)) - _FILLING
    topic = next(iter(topics_of(text)), None)
    return PersonaQuestion(act(text), meant, topic, topic is not None and _whole(text, topic, meant))


def _whole(text: str, topic: str, meant: frozenset[str]) -> bool:
    plain, known = " ".join(words(text)), TOPICS[topic]
    return meant <= known.general or any(phrase in plain for phrase in known.phrases)


def answered(chat: Chat) -> list[tuple[PersonaQuestion, str]]:
    """Return each question of the worker that the bot has answered, with the whole answer, oldest first."""
    found = []
    for asked, answer in pairwise(chat.turns):
        if asked.author == "worker" and answer.author == "bot":
            put = put_in(asked.text)
            if put is not None:
                found.append((question(put), answer.text))
    return found


@lru_cache(maxsize=LINES)
def put_in(line: str) -> str | None:
    """Return the sentence of `line` that is a question, if there is one."""
    doing = act(line)
    if doing not in ("asks what", "asks whether"):
        return None
    return next(part for part in reversed(sentences(line)) if act(part) == doing)


_AGAIN = "As I said: "
_NEAR = 1.0  # the nearness from which a fact answers a question
_PRECEDENCE = (1.0, 0.6, 0.3)  # weights of a question's topics, the main topic first
_TOLD = 1.0  # bonus of a fact that was already told: "I live in Canada" stays before "I live in a van"
_ANOTHER = frozenset({"another", "else", "more", "other", "others"})


def fact_about(text: str, chat: Chat, least: float = _NEAR) -> str | None:
    """Return the unsaid sentence of the chat's persona nearest to `text`, if any is near.

    Facts that would contradict an earlier one are left out: a speaker who lives in Canada does not live in a
    van.
    """
    new = untold(chat)
    told = [fact for fact in own_lines(chat) if fact not in new]
    return _nearest(text, {fact: 0.0 for fact in new if not any(_rivals(fact, each) for each in told)}, least)


def asked_fact(chat: Chat) -> str | None:
    """Return the persona's answer to the worker's latest line, if that is a question.

    A fact that was already told is repeated, rather than replaced by another one about the same subject,
    unless the worker asks for something else.
    """
    asked = question_in(chat)
    if not asked:
        return None
    new = untold(chat)
    if _ANOTHER & set(words(asked)):
        return _nearest(asked, dict.fromkeys(new, 0.0), _NEAR)
    topics = topics_of(asked)[:1]
    gains = dict.fromkeys(new, 0.0)
    for told in own_lines(chat):
        if told not in new and _nearness(asked, topics, told) >= _NEAR:
            gains[told] = _TOLD * any(_answers(told, topic) for topic in topics)
    found = _nearest(asked, gains, _NEAR)
    return found if found is None or found in new else f"{_AGAIN}{found}"


def answered_before(chat: Chat) -> str | None:
    """Return the bot's earlier answer to the worker's question, marked as a repetition, if there is one."""
    asked = question_in(chat)
    if not asked:
        return None
    now = question(asked)
    found = (answer for before, answer in reversed(answered(chat)) if now.is_answered_by(before, answer))
    answer = next(found, "")
    said = next((part for part in sentences(answer) if not asks(part)), None)
    return said and f"{_AGAIN}{said.removeprefix(_AGAIN)}"


def denied_topics(chat: Chat) -> frozenset[str]:
    """Return the topics to which the bot has answered no."""
    return frozenset(before.topic for before, answer in answered(chat) if before.topic and denies(answer))


def untold(chat: Chat) -> list[str]:
    """Return the persona's sentences that the bot has not said yet, formatted for people."""
    said = said_in(chat)
    return [sentence for sentence in own_lines(chat) if said.staleness(sentence) < 1]


def own_lines(chat: Chat) -> list[str]:
    """Return the sentences of the chat's persona that contain words, formatted for people."""
    return [present(sentence) for sentence in chat.persona if words(sentence)]


def question_in(chat: Chat) -> str | None:
    """Return the question in the worker's latest line; "and you?" takes its subject from the line before."""
    if not chat.turns:
        return None
    last = chat.turns[-1].text
    if act(last) == "asks back":
        return " ".join([*(turn.text for turn in chat.turns[-2:-1]), last])
    return put_in(last)


def _nearest(text: str, gains: Mapping[str, float], least: float) -> str | None:
    """Return the fact nearest to `text`, with each fact's bonus added, if any reaches `least`."""
    topics = topics_of(text)
    rated = [(_nearness(text, topics, fact) + gains[fact], -at, fact) for at, fact in enumerate(gains)]
    score, _, fact = max(rated, default=(0.0, 0, ""))
    return fact if score >= least else None


def _nearness(text: str, topics: Sequence[str], fact: str) -> float:
    """Return how near a fact is to a question, by common words, its topics, and its beginning."""
    nearness = 1.5 * len(set(content(text)) & set(content(fact)))
    touched = set(topics_of(fact))
    for weight, name in zip(_PRECEDENCE, topics, strict=False):
        nearness += weight * bool({name, *TOPICS[name].includes} & touched)
        nearness += weight * _answers(fact, name)
    return nearness


def _answers(fact: str, topic: str) -> bool:
    """Return whether a fact begins like an answer to a question about `topic`."""
    pattern = TOPICS[topic].answer
    return pattern is not None and pattern.search(fact.lower()) is not None


def _rivals(one: str, other: str) -> bool:
    """Return whether two facts answer the same question, so that they would seem to contradict each other."""
    shared = set(topics_of(one)) & set(topics_of(other))
    return any(_answers(one, topic) and _answers(other, topic) for topic in shared)
