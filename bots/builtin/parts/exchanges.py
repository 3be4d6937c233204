"""A corpus as pairs of line and reply: their sentences, an index of the replies, and words that go together.

The associations between words are those of IBM Model 1 (Brown et al., 1993).
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bots.builtin.parts.rules import GREETINGS, Act, act, asks
from bots.builtin.parts.terms import (
    Blends,
    Matrix,
    Postings,
    TermSpace,
    Vector,
    direction,
    normalised,
    weighted_rows,
)
from bots.core.chat import Chat
from bots.core.words import content, sentences, stems, words
from bots.corpus import Corpus, Dialogue, read_jsonl
from bots.shown import present

# The weight of each turn, the latest first. The speaker's own turns have low weights: otherwise a system
# would recite the dialogue from which it took its last reply.
_WEIGHTS = (1.0, 0.2, 0.5, 0.1)
# Weights if the latest line has no content ("Yes."): the line that it answers must supply it.
_WEIGHTS_IF_BARE = (0.5, 0.6, 0.5, 0.1)
WINDOW = len(_WEIGHTS)

Stage = Literal["opening", "middle", "closing"]
# Weight of the stage in the fit: a greeting needs a greeting in return.
_MATTERS: dict[Stage, float] = {"opening": 2.0, "middle": 1.0, "closing": 3.0}


@dataclass(frozen=True, slots=True)
class CorpusReply:
    """A reply of the corpus with the turns before it, oldest first, and the replier's persona."""

    context: tuple[str, ...]
    reply: str
    persona: tuple[str, ...]
    stage: Stage


@lru_cache(maxsize=8)
def exchanges(corpus: Corpus) -> tuple[CorpusReply, ...]:
    """Return every reply of `corpus` with its context, with texts formatted for people.

    Some courtesies (replies to a greeting, a bare "yes", a goodbye) are added to every corpus, because
    written dialogues rarely contain them.
    """
    courtesies = resources.files("bots").joinpath("data", "courtesies.jsonl").read_text("utf-8")
    dialogues = (*corpus.dialogues, *read_jsonl("courtesies", courtesies).dialogues)
    return tuple(exchange for dialogue in dialogues for exchange in _exchanges(dialogue))


def _exchanges(dialogue: Dialogue) -> Iterator[CorpusReply]:
    turns = [present(turn) for turn in dialogue.turns]
    for at in range(1, len(turns)):
        speaker = dialogue.speaker(at)
        persona = speaker.sentences if speaker else ()
        yield CorpusReply(tuple(turns[max(0, at - WINDOW) : at]), turns[at], persona, _stage(turns, at))


def _stage(turns: Sequence[str], at: int) -> Stage:
    answered = act(turns[at - 1])
    if answered == "leaves" or at >= max(2, len(turns) - 2):
        return "closing"
    return "opening" if at == 1 and (len(turns) > 2 or answered in GREETINGS) else "middle"


def stage(chat: Chat) -> Stage:
    """Return the stage of the conversation at the next reply."""
    if chat.turns and act(chat.turns[-1].text) == "leaves":
        return "closing"
    return "middle" if chat.replies_given() else "opening"


Codes = NDArray[np.int8]
_ACTS: tuple[Act, ...] = get_args(Act)
_STAGES: tuple[Stage, ...] = get_args(Stage)


def act_codes(acts: Iterable[Act]) -> Codes:
    """Return acts as numbers, which are compared many times as fast as words."""
    return np.array([_ACTS.index(each) for each in acts], dtype=np.int8)


def stage_codes(stages: Iterable[Stage]) -> Codes:
    """Return stages as numbers."""
    return np.array([_STAGES.index(each) for each in stages], dtype=np.int8)


def fitness(chat: Chat, acts: Codes, stages: Codes) -> Vector:
    """Score how well replies fit the latest line: half of a score is for the act, half for the stage.

    A yes-no question needs a yes or no, and nobody says goodbye in the middle. `acts` are the acts of the
    lines that the replies answered, `stages` their stages in their dialogues.
    """
    asked = act(chat.turns[-1].text) if chat.turns else "greets"
    now = stage(chat)
    fits: Vector = 0.5 * (acts == _ACTS.index(asked)) + 0.5 * (stages == _STAGES.index(now))
    return fits * _MATTERS[now]


def recent(chat: Chat) -> tuple[str, ...]:
    """Return the texts of the last turns of `chat`, oldest first: the context of a reply."""
    return tuple(turn.text for turn in chat.turns[-WINDOW:])


def fading(context: tuple[str, ...]) -> list[tuple[float, str]]:
    """Return each text of `context`, latest first, with its weight."""
    bare = bool(context) and not content(context[-1])
    return list(zip(_WEIGHTS_IF_BARE if bare else _WEIGHTS, reversed(context), strict=False))


_SHORTEST, _LONGEST = 3, 18  # words


class Sayings:
    """The distinct sentences of the corpus's replies, and the dialogue act of the line that each answered."""

    def __init__(self, corpus: Corpus) -> None:
        """Take the sentences of `corpus`; only the first sentence of a reply counts as an answer."""
        found: dict[str, tuple[Act, Stage]] = {}
        for each in exchanges(corpus):
            parts = [part for part in sentences(each.reply) if _SHORTEST <= len(words(part)) <= _LONGEST]
            for at, part in enumerate(parts):
                found.setdefault(part, (act(each.context[-1]) if at == 0 else "tells", each.stage))
        self.lines = tuple(found)
        self.questions = np.array([asks(line) for line in self.lines])
        self._acts = act_codes(doing for doing, _ in found.values())
        self._stages = stage_codes(stage for _, stage in found.values())

    def fitness(self, chat: Chat) -> Vector:
        """Return how well each sentence fits the latest line."""
        return fitness(chat, self._acts, self._stages)


@lru_cache(maxsize=8)
def sayings(corpus: Corpus) -> Sayings:
    """Return the sayings of `corpus`, collected once and shared."""
    return Sayings(corpus)


_FIRST_PERSON = re.compile(r"\b(i|i'm|i've|i'd|i'll|my|mine|we|our)\b", re.IGNORECASE)


_RARE = 3  # a word that occurs in at most this many replies makes them specific to their dialogues


class Stock:
    """A corpus's replies, with one row of each matrix per reply, all over one term space.

    `contexts` has the lines before a reply, `replies` its own words, `personas` its speaker's persona;
    `by_context` and `by_reply` are the same, indexed by terms. `claims` is 1 if the reply speaks about the
    speaker, else 0. `ease` is how well it fits anywhere.
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
        """Return how well each reply fits the latest line."""
        return fitness(chat, self._acts, self._stages)

    def persona(self, sentences: Sequence[str]) -> Vector:
        """Return the direction of a persona."""
        return direction(self.space.vector((1.0, sentence) for sentence in sentences))

    def persona_similarity(self, sentences: Sequence[str]) -> Vector:
        """Return the similarity of each reply's speaker to a persona; 0 if the reply is not about them."""
        return self.claims * self._by_persona.products(self.persona(sentences))

    def conversation(self, chat: Chat) -> Vector:
        """Return the direction of the last turns of `chat`, comparable to `contexts`."""
        return direction(self.space.vector(fading(recent(chat))))

    def _ease(self) -> Vector:
        """Return how easily each reply fits anywhere: 1 without a rare word, lower with more of them."""
        frequency = Counter(word for line in self.lines for word in set(content(line)))
        rare = [sum(frequency[word] <= _RARE for word in set(content(line))) for line in self.lines]
        return 1 / (1 + np.array(rare, dtype=np.float64))

    def _blend(self, rows: Sequence[Sequence[tuple[float, str]]]) -> Blends:
        """Return the direction of each row's weighted texts; each distinct text is processed once."""
        at: dict[str, int] = {}
        blend = [[(at.setdefault(text, len(at)), weight) for weight, text in texts] for texts in rows]
        return Blends(weighted_rows(blend, len(at)), self.space.matrix(list(at)))


@lru_cache(maxsize=8)
def stock(corpus: Corpus) -> Stock:
    """Return the stock of `corpus`, made once and shared by all systems that use it."""
    return Stock(corpus)


_ROUNDS = 5
_CALLED, _COPIED, _PERSONAL, _FREQUENT = 0.5, 0.15, 0.15, 0.2
_PRIOR = 4.0  # prior count of each source word, because the replies to a rare word are weak evidence


@dataclass(frozen=True, slots=True)
class _Links:
    """All pairs of a word of a line and a word of its reply."""

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
        """Return how content words are distributed in weighted texts; if they have none, in the corpus."""
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
        """Return the learned part of t as a matrix, and what each source word leaves to the prior."""
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
