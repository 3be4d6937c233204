"""Translation: the reply as a translation of the line before it (Ritter, Cherry & Dolan, 2011)."""

from collections.abc import Sequence

import numpy as np

from bots.builtin.parts.exchanges import associations, fading, recent, sayings
from bots.builtin.parts.facts import own_lines
from bots.builtin.parts.said import freshest, ranked
from bots.builtin.parts.terms import Matrix, Vector, products, weighted_rows
from bots.core.chat import Chat, Reply
from bots.corpus import Corpus

_WARMTH = 0.2
_OWN = 2.5  # bonus of the persona's own sentences over others


class Translation:
    """Says single sentences of the corpus, ranked by how strongly the conversation predicts their words.

    A sentence scores the sum of log p(w | conversation, persona) / p(w), divided by a power of its length, so
    that a sentence that fits everywhere has no advantage.
    """

    def __init__(self, corpus: Corpus) -> None:
        """Learn from `corpus`."""
        self._model = associations(corpus)
        self._sayings = sayings(corpus)
        self._words = self._counts(self._sayings.lines)

    async def reply(self, chat: Chat) -> Reply:
        """Return the best sentence, of the corpus or of the persona, that repeats nothing."""
        ratings = products(self._words, self._evidence(chat)) + 0.4 * self._sayings.fitness(chat)
        lines = self._sayings.lines
        own = tuple(own_lines(chat))
        if own:
            # Copying from the persona would favour all of its sentences alike, whatever was said.
            evidence = self._model.evidence(fading(recent(chat)), ())
            ratings = np.append(ratings, products(self._counts(own), evidence) + _OWN)
            lines += own
        return Reply(freshest(ranked(lines, ratings, chat, _WARMTH), chat))

    def scores(self, chat: Chat, candidates: Sequence[str]) -> Vector:
        """Return the mean log likelihood ratio of each candidate's words."""
        return products(self._counts(candidates), self._evidence(chat))

    def _counts(self, lines: Sequence[str]) -> Matrix:
        """Return the count of each word in each line, divided by a power of the line's length."""
        known = [self._model.ids(line) for line in lines]
        rows = [[(word, len(words) ** -0.6) for word in words] for words in known]
        return weighted_rows(rows, len(self._model.index))

    def _evidence(self, chat: Chat) -> Vector:
        return self._model.evidence(fading(recent(chat)), chat.persona)
