"""The lines of a corpus as a system can use them: what each one answered, says, and who says it."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from bots.builtin.acts import act
from bots.builtin.exchanges import act_codes, exchanges, fading, fitness, recent, stage_codes
from bots.builtin.terms import Blends, Postings, TermSpace, Vector, direction, normalised, weighted_rows
from bots.core.chat import Chat
from bots.core.words import content
from bots.corpus import Corpus

_FIRST_PERSON = re.compile(r"\b(i|i'm|i've|i'd|i'll|my|mine|we|our)\b", re.IGNORECASE)


_RARE = 3  # a word in no more replies than this ties a reply to its own dialogue


class Stock:
    """A corpus's replies, with one row of each matrix per reply, all over one term space.

    `contexts` holds what was said before it, `replies` what it says, `personas` who says it; `by_context`
    and `by_reply` are the same by their terms. `claims` is 1 where it speaks of the speaker, else 0; `ease`
    is how well it fits anywhere.
    """

    def __init__(self, corpus: Corpus) -> None:
        """Index `corpus`."""
        self.exchanges = exchanges(corpus)
        self.lines = tuple(each.reply for each in self.exchanges)
        said = dict.fromkeys(text for each in self.exchanges for text in (*each.context, each.reply))
        self.space = TermSpace([*said, *(text for persona in corpus.personas for text in persona.sentences)])
        self.by_context = self._blend([fading(each.context) for each in self.exchanges])
        self.contexts = self.by_context.matrix
        self.replies = normalised(self.space.matrix(self.lines))
        self.by_reply = Postings(self.replies)
        self._by_persona = self._blend(
            [[(1.0, sentence) for sentence in each.persona] for each in self.exchanges]
        )
        self.personas = self._by_persona.matrix
        self.claims = np.array([float(bool(_FIRST_PERSON.search(line))) for line in self.lines])
        self.ease = self._ease()
        self._stages = stage_codes(each.stage for each in self.exchanges)
        self._acts = act_codes(act(each.context[-1]) for each in self.exchanges)

    def fitness(self, chat: Chat) -> Vector:
        """Return how each reply fits what the latest line does."""
        return fitness(chat, self._acts, self._stages)

    def persona(self, sentences: Sequence[str]) -> Vector:
        """Return the direction of a persona."""
        return direction(self.space.vector((1.0, sentence) for sentence in sentences))

    def kinship(self, sentences: Sequence[str]) -> Vector:
        """Return how like a persona the speaker of each reply is, 0 where it is not of themselves."""
        return self.claims * self._by_persona.products(self.persona(sentences))

    def conversation(self, chat: Chat) -> Vector:
        """Return the direction of the last turns of `chat`, as `contexts` has those of the corpus."""
        return direction(self.space.vector(fading(recent(chat))))

    def _ease(self) -> Vector:
        """Return how easily each reply fits anywhere: 1 without a rare word, less the more it has."""
        frequency = Counter(word for line in self.lines for word in set(content(line)))
        rare = [sum(frequency[word] <= _RARE for word in set(content(line))) for line in self.lines]
        return 1 / (1 + np.array(rare, dtype=np.float64))

    def _blend(self, rows: Sequence[Sequence[tuple[float, str]]]) -> Blends:
        """Return the direction of each row's weighted texts, every distinct text looked at once."""
        at: dict[str, int] = {}
        blend = [[(at.setdefault(text, len(at)), weight) for weight, text in texts] for texts in rows]
        return Blends(weighted_rows(blend, len(at)), self.space.matrix(list(at)))


@lru_cache(maxsize=8)
def stock(corpus: Corpus) -> Stock:
    """Return the stock of `corpus`, made once and shared by every system that draws on it."""
    return Stock(corpus)
