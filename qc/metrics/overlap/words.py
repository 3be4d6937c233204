"""Compare two texts word by word: n-grams, subsequences, edits and alignments.

If there are several references, the one with the best score counts. Texts are split into words by `tokens`.
"""

import gzip
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib import resources
from itertools import pairwise
from pathlib import Path

import numpy as np
from snowballstemmer import stemmer

from candor.common.files import read_text
from qc.errors import SourceError

_WORD = re.compile(r"\w+(?:['’]\w+)*")

Tokens = tuple[str, ...]
# The groups of synonyms that each stem is in.
Synonyms = dict[str, frozenset[int]]


def tokens(text: str) -> Tokens:
    """Return the words of `text` in lower case, without punctuation; `don't` is one word."""
    return tuple(_WORD.findall(text.lower()))


def ngrams(words: Sequence[str], n: int) -> Counter[Tokens]:
    """Count each sequence of `n` words."""
    return Counter(zip(*(words[start:] for start in range(n)), strict=False))


# Parameters of METEOR: the weight of precision, the exponent and the weight of the penalty for scattered
# matches.
ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5
LONGEST_NGRAM = 4


@dataclass(frozen=True, slots=True)
class ReferencedReply:
    """A reply and its references, at least one."""

    reply: str
    references: tuple[str, ...]


def rouge_n(n: int, reply: Tokens, reference: Tokens) -> float:
    """Return the F1 of the sequences of `n` words, 0 to 1; 0 if one text has fewer than `n` words.

    Source: Lin, *ROUGE: A Package for Automatic Evaluation of Summaries*, 2004, section 2, equation 1, which
    is the recall. Its F1 is what the author's program prints.

    Caveat: the best of several references counts, so systems must have the same number of them.
    """
    ours, theirs = ngrams(reply, n), ngrams(reference, n)
    both = ours.total() + theirs.total()
    return 2 * (ours & theirs).total() / both if both else 0.0


def rouge_l(reply: Tokens, reference: Tokens) -> float:
    """Return the F1 of the longest common subsequence of words, 0 to 1.

    Source: Lin, *ROUGE: A Package for Automatic Evaluation of Summaries*, 2004, section 3.1, with β = 1.

    Caveat: the best of several references counts, so systems must have the same number of them.
    """
    longest = [0] * (len(reference) + 1)
    for word in reply:
        above = longest
        longest = [0]
        for column, other in enumerate(reference, start=1):
            longest.append(
                above[column - 1] + 1 if word == other else max(above[column], longest[column - 1])
            )
    both = len(reply) + len(reference)
    return 2 * longest[-1] / both if both else 0.0


def gleu(reply: Tokens, reference: Tokens) -> float:
    """Return the smaller of precision and recall of all sequences of 1 to 4 words, 0 to 1.

    Source: Wu et al., *Google's Neural Machine Translation System*, 2016, section 5 (GLEU score).

    Caveat: two other metrics have this name.
    """
    matches, lengths = 0, [0, 0]
    for n in range(1, LONGEST_NGRAM + 1):
        ours, theirs = ngrams(reply, n), ngrams(reference, n)
        matches += (ours & theirs).total()
        lengths = [lengths[0] + ours.total(), lengths[1] + theirs.total()]
    return matches / max(lengths) if max(lengths) else 0.0


def string_edit(reply: Tokens, reference: Tokens) -> float:
    """Return the words to insert, delete or exchange over the words of the longer text, 0 to 1.

    Source: Levenshtein, *Binary codes capable of correcting deletions, insertions, and reversals*, 1966, with
    words in place of letters. An exchange costs 1. If it cost 2, as Belz and Reiter, *Comparing Automatic and
    Human Evaluation of NLG Systems*, 2006, have it, one less the distance over the words of both texts would
    be `rouge_l`.

    Caveat: a phrase that moved counts as taken out and put in again.
    """
    above = list(range(len(reference) + 1))
    for row, word in enumerate(reply, start=1):
        costs = [row]
        for column, other in enumerate(reference, start=1):
            exchanged = above[column - 1] + (word != other)
            costs.append(min(exchanged, above[column] + 1, costs[column - 1] + 1))
        above = costs
    longer = max(len(reply), len(reference))
    return above[-1] / longer if longer else 0.0


def meteor_exact_stem(reply: Tokens, reference: Tokens) -> float:
    """Return METEOR, 0 to 1, with exact and stem matches, without synonyms; see `meteor`."""
    return meteor({}, reply, reference)


def meteor(synonyms: Synonyms, reply: Tokens, reference: Tokens) -> float:
    """Return METEOR, 0 to 1, with exact, stem and synonym matches.

    Synonyms are those of WordNet 3.0, in English, or of `--synonyms FILE`. Words are matched from the left,
    first equal words, then words with the same stem, then synonyms. If a word can match several, it takes
    the one that follows the previous match, else the first.

    Source: Banerjee and Lavie, *METEOR*, 2005, section 2; parameters of Lavie and Agarwal, 2007
    (α = 0.9, β = 3, γ = 0.5).

    Caveat: words are aligned from the left, so numbers differ from METEOR's own program.
    """
    pairs = _aligned(synonyms, reply, reference)
    if not pairs:
        return 0.0
    precision, recall = len(pairs) / len(reply), len(pairs) / len(reference)
    mean = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall)
    follows = sum((b[0] - a[0], b[1] - a[1]) == (1, 1) for a, b in pairwise(pairs))
    chunks = len(pairs) - follows
    return float(mean * (1 - GAMMA * (chunks / len(pairs)) ** BETA))


def _aligned(synonyms: Synonyms, reply: Tokens, reference: Tokens) -> list[tuple[int, int]]:
    """Return pairs of matching words of the reply and the reference, in the order of the reply."""
    matched: dict[int, int] = {}
    stems = tuple(map(_stem, reply)), tuple(map(_stem, reference))
    groups = tuple([synonyms.get(word, frozenset()) for word in each] for each in stems)
    matches: tuple[Callable[[int, int], bool], ...] = (
        lambda ours, theirs: reply[ours] == reference[theirs],
        lambda ours, theirs: stems[0][ours] == stems[1][theirs],
        lambda ours, theirs: not groups[0][ours].isdisjoint(groups[1][theirs]),
    )
    for match in matches if synonyms else matches[:2]:
        free = [place for place in range(len(reference)) if place not in matched.values()]
        for place in range(len(reply)):
            found = [other for other in free if match(place, other)] if place not in matched else []
            if not found:
                continue
            after = matched.get(place - 1, -1) + 1
            matched[place] = after if after in found else found[0]
            free.remove(matched[place])
    return sorted(matched.items())


@cache
def _stem(word: str) -> str:
    return str(stemmer("porter").stemWord(word))


def read_synonyms(path: Path | None) -> Synonyms:
    """Return the groups of synonyms of each stem.

    Args:
        path: a text with a group of words in each line; None for the English groups of WordNet 3.0 (Fellbaum,
            *WordNet: An Electronic Lexical Database*, 1998; its licence is beside the file).

    Raises:
        SourceError: the file cannot be read.
    """
    if path is None:
        packed = resources.files("qc.metrics.overlap").joinpath("synonyms.txt.gz").read_bytes()
        text = gzip.decompress(packed).decode()
    else:
        try:
            text = read_text(path)
        except (OSError, UnicodeDecodeError) as error:
            raise SourceError(
                f"{path}: the synonyms cannot be read ({error}). Give a text in UTF-8 with a group of words "
                "in each line."
            ) from None
    found: dict[str, set[int]] = defaultdict(set)
    for number, line in enumerate(text.splitlines()):
        for word in line.lower().split():
            found[_stem(word)].add(number)
    return {stem: frozenset(groups) for stem, groups in found.items()}


WordMetric = Callable[[Tokens, Tokens], float]
# Metrics of a reply and one reference, and whether higher is better.
BY_WORDS: dict[str, tuple[WordMetric, bool]] = {
    "rouge_1": (partial(rouge_n, 1), True),
    "rouge_2": (partial(rouge_n, 2), True),
    "rouge_4": (partial(rouge_n, 4), True),
    "rouge_l": (rouge_l, True),
    "meteor_exact_stem": (meteor_exact_stem, True),
    "gleu": (gleu, True),
    "string_edit": (string_edit, False),
}
METEOR = "meteor"


def mean_overlap(metric: WordMetric, higher_is_better: bool, replies: Sequence[ReferencedReply]) -> float:
    """Return the mean over `replies` of a metric; NaN without replies."""
    best = max if higher_is_better else min
    scores = [
        best(metric(tokens(each.reply), tokens(reference)) for reference in each.references)
        for each in replies
    ]
    return float(np.mean(scores)) if scores else float("nan")
