"""Semantic: match lines and replies in a latent space of meaning (Deerwester et al., 1990)."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from bots.builtin.parts.exchanges import stock
from bots.builtin.parts.said import freshest, ranked
from bots.builtin.parts.terms import Matrix, Places, Vector, along, dots, principal, shift, unit
from bots.core.chat import Chat, Reply
from bots.corpus import Corpus

_DIMENSIONS = 128
_RIDGE = 5.0
_WARMTH = 0.03


class Semantic:
    """Ranks replies by their closeness to the conversation in a latent space, as a dual encoder does.

    Latent semantic analysis places the texts. A linear map, learned by ridge regression towards the identity
    from the corpus's exchanges, moves a conversation to the place of its replies. With a persona, the target
    is moved towards the persona's place.
    """

    def __init__(self, corpus: Corpus) -> None:
        """Learn the space and the map from `corpus`."""
        self._stock = stock(corpus)
        texts = sparse.csr_array(
            sparse.vstack([self._stock.contexts, self._stock.replies, self._stock.personas])
        )
        self._basis = principal(texts, _DIMENSIONS)
        self._replies = self._places(self._stock.replies)
        said = self._places(self._stock.contexts)
        self._shift = shift(said, self._replies, _RIDGE)

    async def reply(self, chat: Chat) -> Reply:
        """Return the reply of the corpus nearest to the target."""
        ratings = dots(self._replies, self._target(chat)) + 0.4 * self._stock.fitness(chat)
        if chat.persona:
            ratings += 0.3 * self._stock.persona_similarity(chat.persona)
        return Reply(freshest(ranked(self._stock.lines, ratings, chat, _WARMTH), chat))

    def scores(self, chat: Chat, candidates: Sequence[str]) -> Vector:
        """Return how near each candidate is to the target."""
        return dots(self._places(self._stock.space.matrix(candidates)), self._target(chat))

    def _target(self, chat: Chat) -> Vector:
        """Return the expected place of a reply."""
        said = unit(along(self._stock.conversation(chat), self._basis))
        target = dots(self._shift.T, said)
        if chat.persona:
            target = target + 0.5 * unit(along(self._stock.persona(chat.persona), self._basis))
        return unit(target)

    def _places(self, texts: Matrix) -> Places:
        return unit(np.asarray(texts.dot(self._basis)))
