"""Generate sentences word by word with an n-gram language model."""

import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bots.builtin.parts.exchanges import associations, exchanges, fading, recent
from bots.builtin.parts.rules import act
from bots.builtin.parts.said import freshest
from bots.builtin.parts.terms import Vector
from bots.core.chat import Chat, Reply
from bots.core.words import STOP_WORDS, stem
from bots.corpus import Corpus
from bots.shown import present

_TOKEN = re.compile(r"[ap]\.m\.|[^\W_]+(?:['’-][^\W_]+)*|[.,;:!?…]+")
MARK = re.compile(r"[.,;:!?…]+")  # any punctuation
STOP = re.compile(r"[.!?…]+")  # punctuation that ends a sentence
START, END = "<start>", "<end>"


def tokens(text: str) -> list[str]:
    """Return the words and punctuation marks of `text`, as written."""
    return _TOKEN.findall(text)


@dataclass(frozen=True, slots=True)
class _Order:
    """The words that follow each history, with their discounted probabilities and the mass left over."""

    words: NDArray[np.intp]
    probabilities: Vector
    rows: dict[int, tuple[int, int, float]]  # history: start, end, mass left

    def onto(self, shorter: Vector, history: int) -> Vector:
        """Return the distribution after `history`, with its left-over mass distributed as in `shorter`."""
        row = self.rows.get(history)
        if row is None:
            return shorter
        start, end, left = row
        found = left * shorter
        found[self.words[start:end]] += self.probabilities[start:end]
        return found


class LanguageModel:
    """P(token | the two tokens before), over the tokens of some lines.

    Words are compared without case; each is written in its most common form inside a sentence. After an
    unknown history, the shorter history decides, so every known word has a probability.
    """

    def __init__(self, lines: Iterable[Sequence[str]]) -> None:
        """Count `lines`, each of which opens with a symbol for its kind (such as "<tells>")."""
        kept = [tuple(line) for line in lines]
        spelling = _spelling(kept)
        self.words = (START, END, *spelling.values())
        self.index = {START: 0, END: 1} | {word: at for at, word in enumerate(spelling, start=2)}
        coded = [self.encode(line) for line in kept]
        triples = Counter(triple for line in coded for triple in zip(line, line[1:], line[2:], strict=False))
        self._size = len(self.words)
        # Shorter histories count the distinct words before a word, not its occurrences (Kneser & Ney, 1995).
        pairs = Counter((second, third) for _, second, third in triples)
        self._triples = _order({(a * self._size + b, c): n for (a, b, c), n in triples.items()})
        self._pairs = _order(pairs)
        single = np.bincount([third for _, third in pairs], minlength=self._size).astype(np.float64)
        single[2:] += 1.0  # add-one smoothing, for words that only open lines
        self._single: Vector = single / single.sum()
        self.spoken = np.array(
            [not word.startswith("<") or word == END for word in self.words], dtype=np.float64
        )

    def encode(self, line: Sequence[str]) -> list[int]:
        """Return the numbers of a line's tokens between start and end, without unknown tokens."""
        known = [self.index[token.lower()] for token in line if token.lower() in self.index]
        return [self.index[START], *known, self.index[END]]

    def after(self, first: int, second: int) -> Vector:
        """Return the probability of every token after two given tokens."""
        return self._triples.onto(self._pairs.onto(self._single, second), first * self._size + second)

    def followers(self, token: int) -> NDArray[np.intp]:
        """Return the tokens that have been seen right after `token`."""
        start, end, _ = self._pairs.rows.get(token, (0, 0, 1.0))
        return self._pairs.words[start:end]


def _order(counts: "dict[tuple[int, int], int] | Counter[tuple[int, int]]") -> _Order:
    """Return one order of the model; its discount is n1 / (n1 + 2 n2) (Ney, Essen & Kneser, 1994)."""
    keys = np.array(list(counts), dtype=np.intp)
    values = np.array(list(counts.values()), dtype=np.float64)
    once, twice = float((values == 1).sum()), float((values == 2).sum())
    discount = min(max(once / (once + 2 * twice or 1.0), 0.1), 0.9)
    sequence = np.lexsort((keys[:, 1], keys[:, 0]))
    histories, words, values = keys[sequence, 0], keys[sequence, 1], values[sequence]
    distinct, starts = np.unique(histories, return_index=True)
    ends = np.append(starts[1:], len(histories))
    totals = np.add.reduceat(values, starts)
    probabilities = (values - discount) / np.repeat(totals, ends - starts)
    left = discount * (ends - starts) / totals
    rows = zip(starts.tolist(), ends.tolist(), left.tolist(), strict=True)
    return _Order(words, probabilities, dict(zip(distinct.tolist(), rows, strict=True)))


def _spelling(lines: Sequence[Sequence[str]]) -> dict[str, str]:
    """Return the spelling of each word inside a sentence, by its lower-case form."""
    seen: dict[str, Counter[str]] = {}
    for line in lines:
        for before, token in zip(("", *line), line, strict=False):
            inside = not (before.startswith("<") or STOP.fullmatch(before))
            form, weight = (token, 100) if inside else (token.lower(), 1)
            seen.setdefault(token.lower(), Counter())[form] += weight
    return {word: forms.most_common(1)[0][0] for word, forms in seen.items()}


_DRAFTS = 6
_SHORTEST, _LONGEST = 5, 26  # tokens, including the two that open a line
_ADAPTATION = 0.5
_FULL, _TERSENESS = 10, 0.1  # tokens of a full line, and the penalty for each missing token
_AGAIN = 0.1  # factor for a content word that the line already contains
_UNSEEN = 0.02  # factor for a token never seen after the previous one
_SHARPNESS = 2.0  # above 1, likely words are drawn even more often


@dataclass(frozen=True, slots=True)
class _Draft:
    """A candidate line and its score."""

    text: str
    merit: float


class Ngram:
    """A trigram model of the corpus, adapted to the conversation and the persona.

    Every probability is multiplied by a power of p(w | conversation) / p(w): unigram rescaling (Kneser,
    Peters & Klakow, 1997), with learned word associations for p(w | conversation). The beginning of a line
    depends on the dialogue act of the line that it answers. The best of several drafts is used.
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
        """Return the conversation's factor for every token."""
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
        """Return the unnormalised probability of each token as the next one."""
        seen = np.full(factor.size, _UNSEEN)
        seen[self._model.followers(line[-1])] = 1.0
        likely: Vector = (self._model.after(line[-2], line[-1]) * factor * seen) ** _SHARPNESS
        if len(line) < _SHORTEST:
            likely[self._end] = 0.0
        if len(line) == 2 or self._marks[line[-1]]:
            likely[self._marks] = 0.0
        return likely

    def _written(self, line: Sequence[int]) -> str:
        """Return tokens as text with spaces, capitals at sentence starts, and final punctuation."""
        words = [self._model.words[token] for token in line]
        for at, word in enumerate(words):
            if at == 0 or STOP.fullmatch(words[at - 1]):
                words[at] = word[:1].upper() + word[1:]
        if not STOP.fullmatch(words[-1]):
            words = [*words[:-1], "."] if MARK.fullmatch(words[-1]) else [*words, "."]
        return present(" ".join(words))


def _opening(answered: str) -> str:
    """Return the opening symbol of a line that answers `answered`."""
    return f"<{act(answered)}>"
