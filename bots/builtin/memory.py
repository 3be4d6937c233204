"""Memory: reads its memories in two hops, and returns to earlier subjects (Miller et al., 2016)."""

from collections.abc import Iterator, Sequence

import numpy as np

from bots.builtin.parts.exchanges import sayings, stock
from bots.builtin.parts.facts import asked_fact, fact_about
from bots.builtin.parts.rules import act, mentions
from bots.builtin.parts.said import freshest, ranked
from bots.builtin.parts.terms import Matrix, Vector, direction, normalised, products
from bots.core.chat import Chat, Reply
from bots.corpus import Corpus
from bots.shown import present

_HOPS = 2
_FOCUS = 12.0  # the larger, the more a reading comes from the best-matching key alone
_READ = 0.5  # weight of a reading that is added to the query
_PERSONAL = 1.0
_WARMTH = 0.04
_RECALLS = (
    "You told me about {0}.",
    "I keep thinking of {0}.",
    "I haven't forgotten {0}.",
    "That takes me back to {0}.",
    "You got me curious about {0}.",
)


class MemoryNetwork:
    """A key-value memory: keys are contexts in the corpus's dialogues, values the replies there.

    The conversation is the query. Each hop reads the values whose keys match the query, and adds them to it;
    a persona is read in the same way. A reply has two parts. The first is a persona's fact, something that
    the worker mentioned before, or a statement near the query. The second is a question near the query.
    """

    def __init__(self, corpus: Corpus) -> None:
        """Store the exchanges of `corpus`."""
        self._stock = stock(corpus)
        self._sayings = sayings(corpus)
        self._spoken = normalised(self._stock.space.matrix(self._sayings.lines))

    async def reply(self, chat: Chat) -> Reply:
        """Return a remark and a question; one sentence for a goodbye."""
        ratings = products(self._spoken, self._query(chat)) + 0.5 * self._sayings.fitness(chat)
        if chat.turns and act(chat.turns[-1].text) == "leaves":
            return Reply(self._best(ratings, chat))
        remark = freshest(self._remarks(chat, ratings), chat)
        question = self._best(np.where(self._sayings.questions, ratings, ratings - 10), chat)
        return Reply(present(f"{remark} {question}"))

    def scores(self, chat: Chat, candidates: Sequence[str]) -> Vector:
        """Return how near each candidate is to the query after reading."""
        return products(normalised(self._stock.space.matrix(candidates)), self._query(chat))

    def _query(self, chat: Chat) -> Vector:
        """Return the query: the conversation plus the readings from memory."""
        query = self._stock.conversation(chat)
        facts = normalised(self._stock.space.matrix(chat.persona)) if chat.persona else None
        for _ in range(_HOPS):
            read = direction(_read(query, self._stock.contexts, self._stock.replies))
            if facts is not None:
                read = read + _PERSONAL * _read(query, facts, facts)
            query = direction(query + _READ * read)
        return query

    def _remarks(self, chat: Chat, ratings: Vector) -> Iterator[str]:
        """Yield candidates for the first sentence, the best first."""
        said = chat.turns[-1].text if chat.turns else ""
        fact = asked_fact(chat) or fact_about(said, chat)
        if fact:
            yield fact
        if chat.replies_given() % 2 and not act(said).startswith("asks"):
            for thing in mentions(chat, 2):
                yield _RECALLS[(chat.seed + chat.replies_given()) % len(_RECALLS)].format(thing)
        statements = np.where(self._sayings.questions, ratings - 10, ratings)
        yield from ranked(self._sayings.lines, statements, chat, _WARMTH)

    def _best(self, ratings: Vector, chat: Chat) -> str:
        return freshest(ranked(self._sayings.lines, ratings, chat, _WARMTH), chat)


def _read(query: Vector, keys: Matrix, values: Matrix) -> Vector:
    """Return the sum of the values, each weighted by how well its key matches the query."""
    address = np.exp(_FOCUS * np.round(products(keys, query), 9))
    return np.asarray(values.T.dot(address / address.sum()), dtype=np.float64)
