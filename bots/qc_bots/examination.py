"""Examine a QC bot: its lines must be worse than systems' lines when read, but look the same."""

import math
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bots.core.chat import Chat
from bots.corpus import Corpus
from bots.qc_bots import run_length
from bots.qc_bots.distorted import QcBot, distort
from candor.common.segmentation import split_words

CONVERSATIONS, LINES = 20, 10  # the size of the sample
ENOUGH_REPLIES = 20  # replies of the systems that are needed to compare the looks of lines
ENOUGH_PAIRS = 200  # responses with distortions that are needed: then the standard error is 0.035 at most
_FOLDS = 5
_FEWEST_WORDS = 3  # of a line that is searched for within longer ones: shorter ones occur anywhere
_OF_PAIRS = 0.8  # the weight of word pairs in a word's likelihood


@dataclass(frozen=True, slots=True)
class Examination:
    """Measurements of a QC bot.

    `lines`: the number of its lines examined. `whole`: the share of them that are in the corpus unchanged.
    `preferred`: the share of responses that a language model of the rest of the corpus finds more coherent
    before distortion than after; 0.5 by chance, None if the corpus is too small. `looks`: the AUC with which
    a line's looks alone tell the bot from the systems; None if there are too few replies of the systems.
    """

    lines: int
    whole: float
    preferred: float | None
    looks: float | None


def examine(corpus: Corpus, replies: Sequence[str] = ()) -> Examination:
    """Examine the published QC bot with `corpus`, and compare it with systems' `replies`.

    Raises:
        CorpusError: the bot cannot use this corpus.
    """
    bot = QcBot(corpus)
    lines = [
        bot.line(Chat("examined", seed, (), ()), number)
        for seed in range(CONVERSATIONS)
        for number in range(LINES)
    ]
    looks = looks_auc(lines, replies) if len(replies) >= ENOUGH_REPLIES else None
    return Examination(len(lines), _share_whole(lines, corpus), _share_preferred(corpus), looks)


def _share_whole(lines: Sequence[str], corpus: Corpus) -> float:
    turns = [_plain(turn) for dialogue in corpus.dialogues for turn in dialogue.turns]
    known, text = set(turns), "\n".join(turns)
    whole = 0
    for line in lines:
        plain = _plain(line)
        long = len(split_words(line, corpus.language)) >= _FEWEST_WORDS
        whole += plain in known or (long and plain in text)
    return whole / len(lines)


def _plain(text: str) -> str:
    return "".join(mark for mark in text.casefold() if mark.isalnum())


def _share_preferred(corpus: Corpus) -> float | None:
    """Return how often a language model of half of the dialogues prefers the rest's undistorted responses."""
    halves = [
        [[split_words(turn.casefold(), corpus.language) for turn in d.turns] for d in corpus.dialogues[at::2]]
        for at in range(2)
    ]
    model = _LanguageModel(turn for dialogue in halves[0] for turn in dialogue)
    # Donors are dialogues that the model does not know either, because it would prefer words that it knows.
    donors = [[word for turn in dialogue for word in turn] for dialogue in halves[1]]
    rng = random.Random("examine")
    wins = []
    for at, response in ((at, turn) for at, dialogue in enumerate(halves[1]) for turn in dialogue[1:]):
        donor = donors[at - 1]  # its own, if there is only one dialogue
        if not response or len(donor) < run_length(len(response)):
            continue
        worse = distort(response, donor, rng)
        if worse != response:
            gain = model.coherence(response) - model.coherence(worse)
            wins.append(0.5 if gain == 0 else float(gain > 0))
    return sum(wins) / len(wins) if len(wins) >= ENOUGH_PAIRS else None


class _LanguageModel:
    """A bigram model that backs off to unigrams."""

    def __init__(self, lines: Iterable[Sequence[str]]) -> None:
        self._words: Counter[str] = Counter()
        self._pairs: Counter[tuple[str, str]] = Counter()
        self._before: Counter[str] = Counter()
        for line in lines:
            self._words.update([*line, ""])
            for before, word in zip(["", *line], [*line, ""], strict=True):
                self._pairs[before, word] += 1
                self._before[before] += 1
        self._total = self._words.total() + len(self._words) + 1

    def coherence(self, line: Sequence[str]) -> float:
        """Return how much more probable words are after the previous word than alone: a sum of log ratios.

        The frequency of the words by themselves does not count, because the replacements are random.
        """
        pairs = zip(["", *line], [*line, ""], strict=True)
        return sum(math.log(self._probability_after(*pair) / self._probability(pair[1])) for pair in pairs)

    def _probability_after(self, before: str, word: str) -> float:
        seen = self._before[before]
        if not seen:
            return self._probability(word)
        return _OF_PAIRS * self._pairs[before, word] / seen + (1 - _OF_PAIRS) * self._probability(word)

    def _probability(self, word: str) -> float:
        return (self._words[word] + 1) / self._total


def looks_auc(lines: Sequence[str], others: Sequence[str]) -> float:
    """Return the cross-validated AUC with which a classifier of looks tells `lines` from `others`.

    It is Fisher's linear discriminant over lengths, punctuation, capitals and digits; it sees no words.
    """
    looks = np.array([_looks(line) for line in (*lines, *others)])
    looks = (looks - looks.mean(axis=0)) / (looks.std(axis=0) + 1e-9)
    is_line = np.arange(len(looks)) < len(lines)
    fold = np.random.default_rng(1).permutation(len(looks)) % _FOLDS
    scores = np.zeros(len(looks))
    for held_out in range(_FOLDS):
        kept = fold != held_out
        scores[~kept] = looks[~kept] @ _direction(looks[kept & is_line], looks[kept & ~is_line])
    return _auc(scores[is_line], scores[~is_line])


def _direction(ones: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    spread = np.cov(ones.T) + np.cov(others.T) + 0.1 * np.eye(ones.shape[1])
    found: NDArray[np.float64] = np.linalg.solve(spread, ones.mean(axis=0) - others.mean(axis=0))
    return found


def _auc(ones: NDArray[np.float64], others: NDArray[np.float64]) -> float:
    less = np.searchsorted(np.sort(others), ones, side="left").sum()
    no_more = np.searchsorted(np.sort(others), ones, side="right").sum()
    return float((less + no_more) / 2 / (len(ones) * len(others)))


def _looks(line: str) -> list[float]:
    size = max(len(line), 1)
    words = line.split()
    return [
        math.log(size),
        len(line) / max(len(words), 1),
        sum(mark.isupper() for mark in line) / size,
        sum(word[:1].isupper() for word in words) / max(len(words), 1),
        sum(not (mark.isalnum() or mark.isspace()) for mark in line) / size,
        float(line[:1].isupper()),
        *(float(line.endswith(mark)) for mark in ".!?"),
        float(line[-1:].isalnum()),
        *(line.count(mark) / size for mark in ",'’"),
        float(any(mark.isdigit() for mark in line)),
        float(any(ord(mark) > 0x2600 for mark in line)),
    ]
