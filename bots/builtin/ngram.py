"""The n-gram language model: makes its sentences up, word by word."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bots.builtin.acts import act
from bots.builtin.associations import associations
from bots.builtin.choice import freshest
from bots.builtin.exchanges import exchanges, fading, recent
from bots.builtin.language_model import END, MARK, STOP, LanguageModel, tokens
from bots.builtin.terms import Vector
from bots.core.chat import Chat, Reply
from bots.core.words import STOP_WORDS, stem
from bots.corpus import Corpus
from bots.shown.prose import present

_DRAFTS = 6
_SHORTEST, _LONGEST = 5, 26  # tokens, the two that open a line included
_ADAPTATION = 0.5
_FULL, _TERSENESS = 10, 0.1  # what each token short of a full line costs
_AGAIN = 0.1  # a meaningful word that the line already has
_UNSEEN = 0.02  # a token never seen after the one before it
_SHARPNESS = 2.0  # above 1, likely words are drawn more often still


@dataclass(frozen=True, slots=True)
class _Draft:
    """A line that could be said, and how good it is."""

    text: str
    merit: float


class Ngram:
    """A trigram model of the corpus whose words are made likelier by the conversation and the persona.

    Every probability is multiplied by a power of p(w | conversation) / p(w): unigram rescaling
    (Kneser, Peters & Klakow, 1997), with learned word associations for p(w | conversation). How a line
    begins depends on what the line it answers was doing. The best of several drafts is said.
    """

    def __init__(self, corpus: Corpus) -> None:
        """Count the replies and the personas of `corpus`."""
        self._associations = associations(corpus)
        lines = [(_opening(each.context[-1]), *tokens(each.reply)) for each in exchanges(corpus)]
        told = [("<tells>", *tokens(text)) for persona in corpus.personas for text in persona.sentences]
        self._model = LanguageModel([*lines, *told])
        known = self._associations.index
        stems = [
            -1 if word.lower() in STOP_WORDS else known.get(stem(word.lower()), -1)
            for word in self._model.words
        ]
        self._stems = np.array(stems)
        self._end = self._model.index[END]
        self._marks = np.array([bool(MARK.fullmatch(word)) for word in self._model.words])

    async def reply(self, chat: Chat) -> Reply:
        """Return the best of a few drafts that repeats nothing."""
        rng = random.Random(f"ngram {chat.seed} {chat.replies_given()}")
        pull = self._pull(chat)
        drafts = sorted((self._draft(chat, pull, rng) for _ in range(_DRAFTS)), key=lambda each: -each.merit)
        return Reply(freshest((each.text for each in drafts), chat))

    def scores(self, chat: Chat, candidates: Sequence[str]) -> Vector:
        """Return by how much, per token, the conversation raises each candidate's log probability."""
        pull = self._pull(chat)
        opening = _opening(chat.turns[-1].text) if chat.turns else "<greets>"
        return np.array(
            [self._raised(self._model.encode((opening, *tokens(line))), pull) for line in candidates]
        )

    def _pull(self, chat: Chat) -> Vector:
        """Return the factor that the conversation puts on every token."""
        evidence = self._associations.evidence(fading(recent(chat)), chat.persona)
        pull = np.where(self._stems >= 0, np.exp(_ADAPTATION * evidence[self._stems]), 1.0)
        return np.asarray(pull * self._model.spoken, dtype=np.float64)

    def _raised(self, line: Sequence[int], pull: Vector) -> float:
        gains = [
            np.log(pull[third] / (self._model.after(first, second) @ pull))
            for first, second, third in zip(line[1:], line[2:], line[3:], strict=False)
        ]
        return float(np.mean(gains)) if gains else 0.0

    def _draft(self, chat: Chat, pull: Vector, rng: random.Random) -> _Draft:
        """Return a line drawn token by token."""
        opening = _opening(chat.turns[-1].text) if chat.turns else "<greets>"
        line = self._model.encode((opening,))[:-1]
        factor, merit = pull.copy(), 0.0
        while len(line) < _LONGEST:
            likely = self._likely(line, factor)
            total = np.cumsum(likely)
            token = int(np.searchsorted(total, rng.random() * total[-1], side="right"))
            if token == self._end:
                break
            merit += float(np.log(likely[token] / total[-1]) + np.log(pull[token]))
            factor[token] *= _AGAIN if self._stems[token] >= 0 else 1.0
            line.append(token)
        return _Draft(self._written(line[2:]), merit / len(line) - _TERSENESS * max(0, _FULL - len(line)))

    def _likely(self, line: Sequence[int], factor: Vector) -> Vector:
        """Return how likely each token comes next, up to a constant."""
        seen = np.full(factor.size, _UNSEEN)
        seen[self._model.followers(line[-1])] = 1.0
        likely: Vector = (self._model.after(line[-2], line[-1]) * factor * seen) ** _SHARPNESS
        if len(line) < _SHORTEST:
            likely[self._end] = 0.0
        if len(line) == 2 or self._marks[line[-1]]:
            likely[self._marks] = 0.0
        return likely

    def _written(self, line: Sequence[int]) -> str:
        """Return tokens as text: words spaced, sentences begun with a capital and the last one ended."""
        words = [self._model.words[token] for token in line]
        for at, word in enumerate(words):
            if at == 0 or STOP.fullmatch(words[at - 1]):
                words[at] = word[:1].upper() + word[1:]
        if not STOP.fullmatch(words[-1]):
            words = [*words[:-1], "."] if MARK.fullmatch(words[-1]) else [*words, "."]
        return present(" ".join(words))


def _opening(answered: str) -> str:
    """Return the symbol that opens a line which answers `answered`."""
    return f"<{act(answered)}>"
