"""Retrieval: find the contexts in the corpus most like this conversation, and use the replies there."""

from collections.abc import Sequence

import numpy as np

from bots.builtin.parts.exchanges import stock
from bots.builtin.parts.facts import asked_fact
from bots.builtin.parts.said import freshest, ranked
from bots.builtin.parts.terms import Vector, direction, normalised, products
from bots.core.chat import Chat, Reply
from bots.corpus import Corpus

_NEIGHBOURS = 20
_WARMTH = 0.03


class Retrieval:
    """Ranks the corpus's replies by tf-idf cosine (Salton, Wong & Yang, 1975).

    A reply scores high if its context is similar to this conversation, if it is similar to the replies in
    such contexts, and if it shares words with the conversation itself. With a persona, a question that the
    persona answers gets that answer; other replies score higher if they share words with the persona, and, if
    they speak about their speaker, if that speaker's persona is similar.
    """

    def __init__(self, corpus: Corpus) -> None:
        """Index `corpus`."""
        self._stock = stock(corpus)

    async def reply(self, chat: Chat) -> Reply:
        """Return the persona's answer, or the best reply of the corpus that repeats nothing."""
        fact = asked_fact(chat)
        return Reply(fact or freshest(ranked(self._stock.lines, self._ratings(chat), chat, _WARMTH), chat))

    def scores(self, chat: Chat, candidates: Sequence[str]) -> Vector:
        """Return how well each candidate fits, without the features that need its context in the corpus."""
        now = self._stock.conversation(chat)
        wanted = self._wanted(chat, now, self._stock.by_context.products(now))
        return products(normalised(self._stock.space.matrix(candidates)), wanted)

    def _ratings(self, chat: Chat) -> Vector:
        now = self._stock.conversation(chat)
        near = self._stock.by_context.products(now)
        ratings = near + self._stock.by_reply.products(self._wanted(chat, now, near))
        ratings += 0.3 * self._stock.fitness(chat) + 0.3 * self._stock.ease
        if chat.persona:
            ratings += 0.4 * self._stock.persona_similarity(chat.persona)
        return ratings

    def _wanted(self, chat: Chat, now: Vector, near: Vector) -> Vector:
        """Return the direction that a reply should have."""
        wanted = 0.6 * now + 0.4 * self._expected(near)
        return wanted + 0.6 * self._stock.persona(chat.persona) if chat.persona else wanted

    def _expected(self, near: Vector) -> Vector:
        """Return the mean direction of the replies in the contexts most similar to this one."""
        count = min(_NEIGHBOURS, near.size)
        best = np.sort(np.argpartition(-np.round(near, 9), count - 1)[:count])
        return direction(np.asarray(self._stock.replies[best].T.dot(near[best])))
