"""Word associations between a line and its reply: IBM Model 1 (Brown et al., 1993)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bots.builtin.parts.exchanges import exchanges
from bots.builtin.parts.terms import Matrix, Vector
from bots.core.words import content, stems
from bots.corpus import Corpus

_ROUNDS = 5
_CALLED, _COPIED, _PERSONAL, _FREQUENT = 0.5, 0.15, 0.15, 0.2
_PRIOR = 4.0  # occurrences added to every source word: the replies to a rare word are weak evidence


@dataclass(frozen=True, slots=True)
class _Links:
    """All pairs of a word that was said and a word of the reply that it may explain."""

    pair: NDArray[np.intp]  # which distinct (said, answered) pair
    slot: NDArray[np.intp]  # which answered word of which exchange
    said: NDArray[np.intp]  # of each distinct pair
    answered: NDArray[np.intp]  # of each distinct pair


class Associations:
    """t(w | c): the probability that a word c of a line makes w a word of the reply.

    Learned by expectation maximisation as for machine translation, with the line as the foreign sentence,
    stems as words, and a prior that draws t towards the words' frequency.
    """

    def __init__(self, corpus: Corpus) -> None:
        """Learn from every exchange of `corpus`; its personas' words are included in the vocabulary."""
        pairs = [(stems(each.context[-1]), stems(each.reply)) for each in exchanges(corpus)]
        described = (
            word for persona in corpus.personas for text in persona.sentences for word in stems(text)
        )
        known = dict.fromkeys([word for said, reply in pairs for word in (*said, *reply)])
        self.index = {word: at for at, word in enumerate(known | dict.fromkeys(described))}
        counts = np.bincount(
            [self.index[word] for _, reply in pairs for word in reply], minlength=len(self.index)
        )
        self.frequency: Vector = (counts + 0.5) / (counts + 0.5).sum()
        self._calls, self._unsure = self._learn(self._links(pairs))

    def ids(self, text: str) -> list[int]:
        """Return the known words of `text` as numbers."""
        return [self.index[word] for word in stems(text) if word in self.index]

    def called_for(self, weighted: Iterable[tuple[float, str]]) -> Vector:
        """Return the probability of each reply word given weighted texts."""
        total = np.zeros(len(self.index))
        mass = 0.0
        for weight, text in weighted:
            known = self.ids(text)
            for word in known:
                start, end = self._calls.indptr[word : word + 2]
                total[self._calls.indices[start:end]] += weight / len(known) * self._calls.data[start:end]
                total += weight / len(known) * self._unsure[word] * self.frequency
            mass += weight if known else 0.0
        return total / mass if mass else self.frequency

    def evidence(self, said: Sequence[tuple[float, str]], persona: Sequence[str]) -> Vector:
        """Return log p(w | conversation, persona) / p(w) for every word w.

        p is a mixture of the translation probability, copying from the conversation (the translation language
        model of Xue, Jeon & Croft, 2008) or from the persona, and frequency.
        """
        mixture = _CALLED * self.called_for(said) + _FREQUENT * self.frequency
        mixture += _COPIED * self._copied(said)
        mixture += _PERSONAL * self._copied([(1.0, text) for text in persona])
        return np.log(mixture / self.frequency)

    def _copied(self, weighted: Sequence[tuple[float, str]]) -> Vector:
        """Return the distribution of the content words of weighted texts; frequency if there are none."""
        total = np.zeros(len(self.index))
        for weight, text in weighted:
            for word in content(text):
                if word in self.index:
                    total[self.index[word]] += weight
        return total / total.sum() if total.any() else self.frequency

    def _links(self, pairs: Sequence[tuple[list[str], list[str]]]) -> _Links:
        size, slots = len(self.index), 0
        pair: list[int] = []
        slot: list[int] = []
        for said, reply in pairs:
            sources = [self.index[word] for word in said]
            for word in reply:
                pair += [source * size + self.index[word] for source in sources]
                slot += [slots] * len(sources)
                slots += 1
        distinct, inverse = np.unique(np.array(pair), return_inverse=True)
        return _Links(inverse, np.array(slot), distinct // size, distinct % size)

    def _learn(self, links: _Links) -> tuple[Matrix, Vector]:
        """Return the learned part of t as a matrix, and for each source word the mass left to frequency."""
        size = len(self.index)
        t = self.frequency[links.answered]
        for _ in range(_ROUNDS):
            explained = t[links.pair]
            explained /= np.bincount(links.slot, weights=explained)[links.slot]
            expected = np.bincount(links.pair, weights=explained)
            of_source = np.bincount(links.said, weights=expected, minlength=size) + _PRIOR
            learned = expected / of_source[links.said]
            unsure = np.asarray(_PRIOR / of_source, dtype=np.float64)
            t = learned + unsure[links.said] * self.frequency[links.answered]
        return sparse.csr_array((learned, (links.said, links.answered)), shape=(size, size)), unsure


@lru_cache(maxsize=8)
def associations(corpus: Corpus) -> Associations:
    """Return the associations of `corpus`, learned once and shared."""
    return Associations(corpus)
