"""Recognise questions that ask for the same thing, so that a bot does not answer in two ways."""

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from bots.builtin.acts import Act, act
from bots.builtin.topics import TOPICS, topics_of
from bots.core.chat import Chat
from bots.core.words import LINES, content, sentences, stem, words

_SAME = 0.6  # of the words of two questions that ask for the same
_FILLING = frozenset(map(stem, ["type", "favourite", "favorite", "enjoy", "love", "currently", "lately"]))
_NO = re.compile(r"(?:As I said: )?(?:no|nope|never|not really|hardly ever|I wish I could)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Question:
    """A question: the stems that carry meaning, its topic if any, and whether it asks for that as a whole.

    "Do you have pets?" asks for a topic as a whole, "Do you have a cat?" for something in it.
    """

    doing: Act
    words: frozenset[str]
    topic: str | None
    whole: bool

    def is_answered_by(self, before: "Question", answer: str) -> bool:
        """Return whether whoever gave `answer` to `before` has answered this too.

        That is so if most words are the same. It is also so if both have one topic and one of them asks for
        all of it, as who has no pets has no cat; where one asks what and the other whether, only if the
        answer was no.
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
def question(text: str) -> Question:
    """Return the question that `text` puts."""
    meant = frozenset(content(text)) - _FILLING
    topic = next(iter(topics_of(text)), None)
    return Question(act(text), meant, topic, topic is not None and _whole(text, topic, meant))


def _whole(text: str, topic: str, meant: frozenset[str]) -> bool:
    plain, known = " ".join(words(text)), TOPICS[topic]
    return meant <= known.general or any(phrase in plain for phrase in known.phrases)


def answered(chat: Chat) -> list[tuple[Question, str]]:
    """Return each question of the worker's that the bot has answered, with its whole answer, oldest first."""
    found = []
    for asked, answer in pairwise(chat.turns):
        if asked.author == "worker" and answer.author == "bot":
            put = put_in(asked.text)
            if put is not None:
                found.append((question(put), answer.text))
    return found


@lru_cache(maxsize=LINES)
def put_in(line: str) -> str | None:
    """Return the sentence of `line` that puts a question, if one does."""
    doing = act(line)
    if doing not in ("asks what", "asks whether"):
        return None
    return next(part for part in reversed(sentences(line)) if act(part) == doing)
