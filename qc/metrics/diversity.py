"""Metrics of what a system said, without a reference and without a model: variety, length, repetition."""

from collections.abc import Callable, Sequence
from itertools import chain

from qc.metrics.tokens import Tokens, ngrams, tokens

NAN = float("nan")


def distinct(replies: Sequence[Tokens], n: int) -> float:
    """Return the share of different ones among all runs of `n` words in the replies; NaN without one.

    It falls with length by itself: compare only conversations of about the same number of words.

    Source: Li et al., *A Diversity-Promoting Objective Function for Neural Conversation Models*, 2016.
    """
    counts = [ngrams(reply, n) for reply in replies]
    total = sum(each.total() for each in counts)
    return len(set(chain.from_iterable(counts))) / total if total else NAN


def words_per_reply(replies: Sequence[Tokens]) -> float:
    """Return the mean number of words in a reply; NaN without one."""
    return sum(map(len, replies)) / len(replies) if replies else NAN


def repeated_replies(replies: Sequence[Tokens]) -> float:
    """Return the share of replies, from the second on, that the system gave before in the conversation."""
    later = len(replies) - 1
    return (len(replies) - len(set(replies))) / later if later > 0 else NAN


def repeated_trigrams(replies: Sequence[Tokens]) -> float:
    """Return the share of the runs of three words, from the second reply on, that stood in an earlier one.

    Source: after See et al., *What Makes a Good Conversation?*, 2019, section 4 (external repetition).
    """
    seen = set(ngrams(replies[0], 3)) if replies else set()
    total = repeated = 0
    for reply in replies[1:]:
        runs = ngrams(reply, 3)
        total += runs.total()
        repeated += sum(count for run, count in runs.items() if run in seen)
        seen |= runs.keys()
    return repeated / total if total else NAN


# Each metric of replies, and whether more of it is meant to be better.
METRICS: dict[str, tuple[Callable[[Sequence[Tokens]], float], bool]] = {
    "distinct_1": (lambda replies: distinct(replies, 1), True),
    "distinct_2": (lambda replies: distinct(replies, 2), True),
    "words_per_reply": (words_per_reply, True),
    "repeated_replies": (repeated_replies, False),
    "repeated_trigrams": (repeated_trigrams, False),
}


def diversity(name: str, replies: Sequence[str]) -> float:
    """Return the score of a conversation by a metric of METRICS; NaN where it has none."""
    metric, _ = METRICS[name]
    return metric([tokens(reply) for reply in replies])
