"""Score conversations with a local model.

Of an embedding metric the two texts are a reply and what the person said just before; where there are
references, also a reply and its reference.

Sources: Mehri and Eskenazi, *USR*, 2020, section 4.1 (likelihood of masked tokens), and *Unsupervised
Evaluation of Interactive Dialog with DialoGPT*, 2020 (FED: likelihood of set replies; these are our own);
Ji, PhD thesis, section 4.5 (QAScore as printed: the passage is the conversation so far, the question the
person's last input, the answer the reply).
"""

import tomllib
from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources
from itertools import chain, islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from qc.metrics.overlap import ReferencedReply
from qc.metrics.transcripts import Transcript

if TYPE_CHECKING:
    from qc.metrics.local_model import LocalModel, Pair

# Sources: Liu et al., *How NOT To Evaluate Your Dialogue System*, 2016, section 3.2 (average, extrema,
# greedy); Zhang et al., *BERTScore*, 2020, section 3 (F1, neither weighted by idf nor rescaled).
Vectors = NDArray[np.float64]


def average(one: Vectors, other: Vectors) -> float:
    """Return the cosine of the two means; arguments and NaN as for `greedy_f1`."""
    return _cosine(one.mean(axis=0), other.mean(axis=0)) if len(one) and len(other) else float("nan")


def extrema(one: Vectors, other: Vectors) -> float:
    """Return the cosine of the two vectors that have, of each dimension, the value farthest from 0."""
    return _cosine(_farthest(one), _farthest(other)) if len(one) and len(other) else float("nan")


def greedy(one: Vectors, other: Vectors) -> float:
    """Return the mean of both directions: each token with the most similar one of the other text."""
    similar = _cosines(one, other)
    return float((similar.max(axis=1).mean() + similar.max(axis=0).mean()) / 2) if similar.size else np.nan


def greedy_f1(one: Vectors, other: Vectors) -> float:
    """Return the F1 of precision and recall, each the mean of the best cosines in one direction.

    Args:
        one: (tokens, dimensions), of a text.
        other: (tokens, dimensions), of the other.

    Returns:
        NaN if one of them has no token.
    """
    similar = _cosines(one, other)
    if not similar.size:
        return float("nan")
    precision, recall = float(similar.max(axis=1).mean()), float(similar.max(axis=0).mean())
    both = precision + recall
    return 2 * precision * recall / both if both else 0.0


# Of the vectors that a model starts from, one a token wherever it stands.
OF_WORDS: dict[str, Callable[[Vectors, Vectors], float]] = {
    "embedding_average": average,
    "embedding_extrema": extrema,
    "embedding_greedy": greedy,
}


def _farthest(vectors: Vectors) -> Vectors:
    rows = np.abs(vectors).argmax(axis=0)
    return np.asarray(vectors[rows, np.arange(vectors.shape[1])])


def _cosine(one: Vectors, other: Vectors) -> float:
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / lengths if lengths else 0.0


def _cosines(one: Vectors, other: Vectors) -> Vectors:
    a, b = (
        each / np.maximum(np.linalg.norm(each, axis=1, keepdims=True), np.finfo(float).tiny)
        for each in (one, other)
    )
    return np.asarray(a @ b.T)


NAN = float("nan")
BERTSCORE = "bertscore"
FOLLOW_UP = "follow_up_likelihood"
ALIKE = (*OF_WORDS, BERTSCORE)

# A text and what it is compared with; of several the most alike counts.
Compared = tuple[str, tuple[str, ...]]
# Scores of conversations, asked for several at once so that a model computes in batches.
Likelihood = Callable[["LocalModel", Sequence[Transcript]], list[float]]


def to_inputs(spoken: Transcript) -> list[Compared]:
    """Return each reply with what the person said just before."""
    return [(each.reply, (each.input,)) for each in spoken.exchanges if each.reply is not None]


def to_references(replies: Sequence[ReferencedReply]) -> list[Compared]:
    """Return each reply with its references."""
    return [(each.reply, each.references) for each in replies]


def likeness(model: "LocalModel", compared: Sequence[Sequence[Compared]]) -> list[dict[str, float]]:
    """Return the metrics of ALIKE for each conversation, each the mean over what is compared there.

    NaN where there is nothing to compare.
    """
    texts = list(dict.fromkeys(text for each in compared for one, others in each for text in (one, *others)))
    plain = dict(zip(texts, model.word_vectors(texts), strict=True))
    deep = dict(zip(texts, model.contextual_vectors(texts), strict=True))
    return [
        {
            **{name: _mean_best(each, plain, alike) for name, alike in OF_WORDS.items()},
            BERTSCORE: _mean_best(each, deep, greedy_f1),
        }
        for each in compared
    ]


def _mean_best(
    compared: Sequence[Compared], vectors: dict[str, Vectors], alike: Callable[[Vectors, Vectors], float]
) -> float:
    best = [max(alike(vectors[one], vectors[other]) for other in others) for one, others in compared]
    known = [value for value in best if np.isfinite(value)]
    return float(np.mean(known)) if known else NAN


def perplexity(model: "LocalModel", spoken: Sequence[Transcript]) -> list[float]:
    """Return the perplexity of the replies, each given all that was said before it; lower is better."""
    found = _by_conversation(model.continuations, [_replies_in_context(each) for each in spoken])
    return [float(np.exp(-np.concatenate(each).mean())) if _tokens(each) else NAN for each in found]


def follow_up_likelihood(model: "LocalModel", spoken: Sequence[Transcript]) -> list[float]:
    """Return by how much likelier a person now says what follows a good talk than what follows a bad one.

    It is the mean log P per token of the set replies `well` minus that of `badly` (follow_ups.toml).
    """
    well, badly = follow_ups()
    pairs = [
        [(_lines(each.said), text) for text in (*well, *badly)] if each.replies else [] for each in spoken
    ]
    found = []
    for log_p in _by_conversation(model.continuations, pairs):
        means = [float(each.mean()) for each in log_p]
        found.append(float(np.mean(means[: len(well)]) - np.mean(means[len(well) :])) if means else NAN)
    return found


def masked_token_likelihood(model: "LocalModel", spoken: Sequence[Transcript]) -> list[float]:
    """Return the mean log P of the replies' tokens, each masked alone, given what the person said before."""
    pairs = [
        [(said.input, said.reply) for said in each.exchanges if said.reply is not None] for each in spoken
    ]
    found = _by_conversation(model.masked_tokens, pairs)
    return [float(np.concatenate(each).mean()) if _tokens(each) else NAN for each in found]


def masked_word_sum(model: "LocalModel", spoken: Sequence[Transcript]) -> list[float]:
    """Return Σ log P of a reply's words, each masked alone, given all that was said before.

    The mean over replies. The formula of QAScore as it is printed. A sum: longer replies score lower.
    """
    found = _by_conversation(model.masked_words, [_replies_in_context(each) for each in spoken])
    sums = [[words.sum() for words in each if len(words)] for each in found]
    return [float(np.mean(each)) if each else NAN for each in sums]


# By the kind of model: its metrics of a conversation, and whether more is better.
OF_CAUSAL: dict[str, tuple[Likelihood, bool]] = {
    "perplexity": (perplexity, False),
    FOLLOW_UP: (follow_up_likelihood, True),
}
OF_MASKED: dict[str, tuple[Likelihood, bool]] = {
    "masked_token_likelihood": (masked_token_likelihood, True),
    "masked_word_sum": (masked_word_sum, True),
}


@cache
def follow_ups() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what a person says next after a good conversation, and after a bad one."""
    given = tomllib.loads(resources.files("qc.metrics").joinpath("follow_ups.toml").read_text("utf-8"))
    return tuple(given["well"]), tuple(given["badly"])


def _replies_in_context(spoken: Transcript) -> "list[Pair]":
    said = spoken.said
    return [(_lines(said[:place]), text) for place, (who, text) in enumerate(said) if who == "system"]


def _lines(said: Sequence[tuple[str, str]]) -> str:
    return "".join(f"{text}\n" for _, text in said)


def _by_conversation(
    ask: "Callable[[Sequence[Pair]], list[NDArray[np.float64]]]", pairs: "Sequence[Sequence[Pair]]"
) -> list[list[NDArray[np.float64]]]:
    """Return what `ask` says of the pairs of each conversation, asked about all of them at once."""
    said = iter(ask(list(chain.from_iterable(pairs))))
    return [list(islice(said, len(each))) for each in pairs]


def _tokens(log_p: Sequence[NDArray[np.float64]]) -> int:
    return sum(map(len, log_p))
