"""Answerability and Q-BLEU of generated questions, against reference questions.

Source: Nema and Khapra, *Towards a Better Metric for Evaluating Question Generation Systems*, EMNLP 2018. A
question has relevant words, named entities, a question type and function words. With weight w of a kind, c
the words of that kind in both questions, and n those in one of them, precision is Σ w c / n over the
question, recall the same over the reference, and answerability their F1. Q-BLEU is δ · answerability +
(1 − δ) · BLEU.

The weights and δ are the ones that the authors recommend for SQuAD with their program. The program adds up
the F1 of each kind, and so differs from the paper. A name is a word with a capital letter that does not begin
the question; the type is the question word, of *what* and *which* with the word after it.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib import resources

import numpy as np

from qc.metrics.overlap.corpus import CorpusOverlap
from qc.metrics.overlap.words import ReferencedReply

NAMES, TYPE, RELEVANT, FUNCTION = "names", "type", "relevant", "function"
WEIGHTS = {NAMES: 0.6, TYPE: 0.2, RELEVANT: 0.1, FUNCTION: 0.1}
DELTA = 0.7
TYPES = frozenset(["what", "which", "why", "who", "whom", "whose", "where", "when", "how"])
_WITH_NEXT = frozenset(("what", "which"))
_WORD = re.compile(r"\w+(?:['’]\w+)*")

Kinds = dict[str, Counter[str]]


def kinds_of(question: str) -> Kinds:
    """Return the words of each kind in `question`, in lower case."""
    words = _WORD.findall(question)
    found: Kinds = {kind: Counter() for kind in WEIGHTS}
    after_type = False
    for number, word in enumerate(words):
        lower = word.lower()
        if lower in TYPES or after_type:
            kind = TYPE
        elif word[0].isupper() and number:
            kind = NAMES
        else:
            kind = FUNCTION if lower in _function_words() else RELEVANT
        after_type = lower in _WITH_NEXT
        found[kind][lower] += 1
    return found


def answerability(question: str, reference: str) -> float:
    """Return the answerability of a question, 0 to 1, by how far it has the words of its reference.

    Names, the question word, other words and function words weigh .6, .2, .1 and .1.

    Source: Nema and Khapra, *Towards a Better Metric for Evaluating Question Generation Systems*, 2018, with
    the weights for SQuAD.

    Caveat: English only; a name is any capitalised word but the first. It is the paper's formula, which its
    program does not follow exactly.
    """
    ours, theirs = kinds_of(question), kinds_of(reference)
    precision, recall = _weighted(ours, theirs, ours), _weighted(ours, theirs, theirs)
    both = precision + recall
    return 2 * precision * recall / both if both else 0.0


def _weighted(ours: Kinds, theirs: Kinds, lengths: Kinds) -> float:
    return sum(
        weight * (ours[kind] & theirs[kind]).total() / lengths[kind].total()
        for kind, weight in WEIGHTS.items()
        if lengths[kind]
    )


def mean_answerability(questions: Sequence[ReferencedReply]) -> float:
    """Return the mean answerability of `questions`, each by its best reference; NaN without questions."""
    scores = [max(answerability(each.reply, one) for one in each.references) for each in questions]
    return float(np.mean(scores)) if scores else float("nan")


def mean_q_bleu(questions: Sequence[ReferencedReply]) -> float:
    """Return the mean Q-BLEU of `questions`, 0 to 1: .7 answerability with .3 BLEU; NaN without questions.

    Source: Nema and Khapra, 2018.

    Caveat: as for answerability.
    """
    bleu = CorpusOverlap("bleu")
    scores = [
        DELTA * mean_answerability([each]) + (1 - DELTA) * bleu.score([each]) / 100 for each in questions
    ]
    return float(np.mean(scores)) if scores else float("nan")


@cache
def _function_words() -> frozenset[str]:
    words = resources.files("qc.method").joinpath("stop_words.txt").read_text("utf-8")
    return frozenset(words.split())


# Metrics of questions, of which higher is better.
OF_QUESTIONS = {"answerability": mean_answerability, "q_bleu": mean_q_bleu}
