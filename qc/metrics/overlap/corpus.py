"""BLEU, chrF, TER and NIST: counts are summed over all replies of a conversation or a system.

They use all references of a reply at once.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from math import exp, log, log2
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from qc.metrics.overlap.words import ReferencedReply, Tokens, ngrams, tokens

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric

# Metrics of sacreBLEU, and whether higher is better.
OF_SACREBLEU = {"bleu": True, "chrf": True, "ter": False}
NIST = "nist"


class CorpusMetric(Protocol):
    """A metric of many replies together."""

    def score(self, replies: Sequence[ReferencedReply]) -> float:
        """Return the score of all `replies` together; NaN without replies."""
        ...


class CorpusOverlap:
    """BLEU (with effective order), chrF and TER (edits per hundred words) of sacreBLEU, over all references.

    Sources: Papineni et al., *BLEU*, 2002; Popović, *chrF*, 2015; Snover et al., *A Study of Translation Edit
    Rate*, 2006; Post, *A Call for Clarity in Reporting BLEU Scores*, 2018, whose package computes them.

    Caveat: made for translations, where the reference limits what can be said.
    """

    def __init__(self, name: str) -> None:
        """Prepare `name`, one of OF_SACREBLEU."""
        # These imports take 0.2 s, and only runs with references need them.
        from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415
        from sacrebleu.metrics.chrf import CHRF  # noqa: PLC0415
        from sacrebleu.metrics.ter import TER  # noqa: PLC0415

        # Replies are short: without effective order, a reply of three words would have no BLEU.
        metrics: dict[str, Callable[[], Metric]] = {
            "bleu": lambda: BLEU(effective_order=True),
            "chrf": CHRF,
            "ter": TER,
        }
        self._metric = metrics[name]()

    def score(self, replies: Sequence[ReferencedReply]) -> float:
        """Return the score of all `replies` together, 0 to 100 (TER may exceed 100); NaN without replies."""
        if not replies:
            return float("nan")
        most = max(len(each.references) for each in replies)
        # sacreBLEU accepts None for a missing reference.
        streams = [
            [each.references[number] if number < len(each.references) else None for each in replies]
            for number in range(most)
        ]
        return float(self._metric.corpus_score([each.reply for each in replies], cast(Any, streams)).score)

    @property
    def signature(self) -> str:
        """sacreBLEU's signature of the scores so far."""
        return str(self._metric.get_signature())


class Nist:
    """NIST: matching sequences of 1 to 5 words, each weighted by its information in the references.

    Source: Doddington, *Automatic Evaluation of Machine Translation Quality Using N-gram Co-Occurrence
    Statistics*, HLT 2002: the information of w1 … wn is log2(count of w1 … w(n−1) / count of w1 … wn), and
    the score is the sum over n of the information of the matches per sequence of the replies. It is
    multiplied by exp(β ln² min(L_replies / L_references, 1)), with β such that this is .5 at a ratio of 2/3.

    Caveat: the weights are from your references, so do not compare numbers of other references.
    """

    LONGEST = 5
    BETA = log(0.5) / log(1.5) ** 2

    def __init__(self, replies: Sequence[ReferencedReply]) -> None:
        """Count the words of all references of the `replies`, from which information is computed."""
        texts = [tokens(reference) for each in replies for reference in each.references]
        counts: Counter[Tokens] = Counter()
        for text in texts:
            for n in range(1, self.LONGEST + 1):
                counts.update(ngrams(text, n))
        words = sum(map(len, texts))
        self._information = {
            run: log2((counts[run[:-1]] if len(run) > 1 else words) / count) for run, count in counts.items()
        }

    def score(self, replies: Sequence[ReferencedReply]) -> float:
        """Return the score of all `replies` together, at least 0; NaN without replies."""
        if not replies:
            return float("nan")
        information, found = [0.0] * self.LONGEST, [0] * self.LONGEST
        ours, theirs = 0, 0.0
        for each in replies:
            reply, references = tokens(each.reply), [tokens(text) for text in each.references]
            ours += len(reply)
            theirs += sum(map(len, references)) / len(references)
            for n in range(1, self.LONGEST + 1):
                runs, most = ngrams(reply, n), Counter[Tokens]()
                for reference in references:
                    most |= ngrams(reference, n)
                found[n - 1] += runs.total()
                information[n - 1] += sum(
                    count * self._information[run] for run, count in (runs & most).items()
                )
        total = sum(each / count for each, count in zip(information, found, strict=True) if count)
        ratio = min(ours / theirs, 1.0) if theirs else 1.0
        return total * exp(self.BETA * log(ratio) ** 2) if ratio else 0.0


def by_group(
    metric: CorpusMetric,
    replies: Sequence[Sequence[ReferencedReply]],
    groups: NDArray[np.intp],
    count: int,
    taken: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return the score of each group of conversations, (count,); NaN for a group without references.

    Args:
        metric: the metric.
        replies: the replies of each conversation.
        groups: (C,), codes.
        count: number of groups.
        taken: (C,), whether the conversation counts.
    """
    gathered: list[list[ReferencedReply]] = [[] for _ in range(count)]
    for conversation in np.flatnonzero(taken).tolist():
        gathered[groups[conversation]] += replies[conversation]
    return np.array([metric.score(each) for each in gathered])
