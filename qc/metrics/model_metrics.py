"""Score conversations with a local model.

An embedding metric compares a reply with the person's preceding message, and, if there are references, with
its reference.

Sources: Mehri and Eskenazi, *USR*, 2020, sections 4.1 (likelihood of masked tokens) and 4.2 (retrieval), with
the weights of the code released with it, and *Unsupervised Evaluation of Interactive Dialog with DialoGPT*,
2020 (FED: likelihood of what people might say next); Ji, PhD thesis, section 4.5 (QAScore as printed: the
passage is the conversation so far, the question the person's last input, the answer the reply).
"""

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter
from pydantic_core import from_json

from candor.common.files import read_text
from qc.errors import SourceError, joined
from qc.metrics.overlap.words import ReferencedReply
from qc.metrics.transcripts import Transcript

if TYPE_CHECKING:
    from qc.metrics.local_model import LocalModel, Pair

# Sources: Liu et al., *How NOT To Evaluate Your Dialogue System*, 2016, section 3.2 (average, extrema,
# greedy); Zhang et al., *BERTScore*, 2020, section 3 (F1, neither weighted by idf nor rescaled).
Vectors = NDArray[np.float64]


def average(one: Vectors, other: Vectors) -> float:
    """Return the cosine of the means of two texts' input vectors; arguments and NaN as for `greedy_f1`.

    Source: Liu et al., *How NOT To Evaluate Your Dialogue System*, 2016, also of the next two.

    Caveat: an echo is most alike.
    """
    return _cosine(one.mean(axis=0), other.mean(axis=0)) if len(one) and len(other) else float("nan")


def extrema(one: Vectors, other: Vectors) -> float:
    """Return the cosine of the two vectors of extremes: in each dimension, the value farthest from 0.

    Caveat: an echo is most alike.
    """
    return _cosine(_farthest(one), _farthest(other)) if len(one) and len(other) else float("nan")


def greedy(one: Vectors, other: Vectors) -> float:
    """Return the mean of both directions of the mean cosine of each token with its most similar token.

    Caveat: an echo is most alike.
    """
    similar = _cosines(one, other)
    return float((similar.max(axis=1).mean() + similar.max(axis=0).mean()) / 2) if similar.size else np.nan


def greedy_f1(one: Vectors, other: Vectors) -> float:
    """Return the F1 of precision and recall, each the mean of the best cosines in one direction.

    Source: Zhang et al., *BERTScore*, 2020, without idf and rescaling; of vectors of the model's last layer.

    Caveat: the published numbers used a middle layer of a large model.

    Args:
        one: (tokens, dimensions), of one text.
        other: (tokens, dimensions), of the other.

    Returns:
        NaN if a text has no token.
    """
    similar = _cosines(one, other)
    if not similar.size:
        return float("nan")
    precision, recall = float(similar.max(axis=1).mean()), float(similar.max(axis=0).mean())
    both = precision + recall
    return 2 * precision * recall / both if both else 0.0


# Metrics of input embeddings, which do not depend on the context.
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
    """Return the cosines of all pairs, (tokens, tokens); nothing if a text has no token."""
    if not (len(one) and len(other)):
        return np.empty((0, 0))
    a, b = (
        each / np.maximum(np.linalg.norm(each, axis=1, keepdims=True), np.finfo(float).tiny)
        for each in (one, other)
    )
    return np.asarray(a @ b.T)


@dataclass(frozen=True, slots=True)
class FollowUps:
    """What a person might say after a good conversation, and after a bad one."""

    positive: tuple[str, ...] = ()
    negative: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question about a passage, with the answer that the passage has."""

    passage: str
    question: str
    answer: str


_FILE = TypeAdapter(dict[str, FollowUps])
NAN = float("nan")
BERTSCORE = "bertscore"
FOLLOW_UP, FED = "follow_up_likelihood", "fed_"
LEARNED, ANSWER_SUM = "bleurt", "answer_word_sum"
ALIKE = (*OF_WORDS, BERTSCORE)
MASKED_TOKENS = "masked_token_likelihood"

Scored = TypeVar("Scored")
# A text and the texts that it is compared with; the most similar of these counts.
Compared = tuple[str, tuple[str, ...]]
# Scores several conversations at once, so that the model computes in batches.
Likelihood = Callable[["LocalModel", Sequence[Transcript]], list[float]]


def to_inputs(spoken: Transcript) -> list[Compared]:
    """Return each reply with the person's preceding message."""
    return [(each.reply, (each.input,)) for each in spoken.exchanges if each.reply is not None]


def to_references(replies: Sequence[ReferencedReply]) -> list[Compared]:
    """Return each reply with its references."""
    return [(each.reply, each.references) for each in replies]


def likeness(model: "LocalModel", compared: Sequence[Sequence[Compared]]) -> list[dict[str, float]]:
    """Return the metrics of ALIKE for each conversation, as means over its comparisons.

    NaN if there is nothing to compare.
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
    """Return the perplexity of the replies, each given the conversation before it.

    Caveat: dull replies are the likeliest, and the model gets turns as plain lines.
    """
    found = _by_conversation(model.continuations, [_replies_in_context(each) for each in spoken])
    return [float(np.exp(-np.concatenate(each).mean())) if _tokens(each) else NAN for each in found]


def follow_up_likelihood(model: "LocalModel", spoken: Sequence[Transcript], asked: FollowUps) -> list[float]:
    """Return how much more likely the next message is one of a good conversation than one of a bad one.

    It is the mean log P per token of the positive messages minus that of the negative ones. A side without
    messages counts as 0.

    Source: after Mehri and Eskenazi, *Unsupervised Evaluation of Interactive Dialog with DialoGPT* (FED),
    2020. The sentences are ours (`qc/metrics/follow_ups.toml`), or those of `--follow-ups FILE`.

    Caveat: only the published lists give the published scores.
    """
    pairs = [
        [(_lines(each.said), text) for text in (*asked.positive, *asked.negative)] if each.replies else []
        for each in spoken
    ]
    found, count = [], len(asked.positive)
    for log_p in _by_conversation(model.continuations, pairs):
        means = [float(each.mean()) for each in log_p]
        found.append(_mean_or_0(means[:count]) - _mean_or_0(means[count:]) if means else NAN)
    return found


def _mean_or_0(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else 0.0


def masked_token_likelihood(model: "LocalModel", spoken: Sequence[Transcript]) -> list[float]:
    """Return the mean log P of the replies' tokens, each masked alone, given the person's last message.

    Source: Mehri and Eskenazi, *USR*, 2020, without its fine-tuning unless the model has it.

    Caveat: as for perplexity.
    """
    pairs = [
        [(said.input, said.reply) for said in each.exchanges if said.reply is not None] for each in spoken
    ]
    found = _by_conversation(model.masked_tokens, pairs)
    return [float(np.concatenate(each).mean()) if _tokens(each) else NAN for each in found]


def masked_word_sum(model: "LocalModel", spoken: Sequence[Transcript]) -> list[float]:
    """Return the mean over replies of Σ log P of their words, each masked alone, given the conversation.

    Source: Ji, PhD thesis, section 4.5: the formula of QAScore as printed.

    Caveat: the published scores came from code that computes something else. It is a sum, so longer replies
    score lower.
    """
    found = _by_conversation(model.masked_words, [_replies_in_context(each) for each in spoken])
    sums = [[words.sum() for words in each if len(words)] for each in found]
    return [float(np.mean(each)) if each else NAN for each in sums]


def retrieval_probability(model: "LocalModel", spoken: Sequence[Transcript]) -> list[float]:
    """Return the mean probability that a reply follows the conversation before it, by a retriever.

    Source: Mehri and Eskenazi, *USR*, 2020, section 4.2 (dialogue retrieval, with the history as context).

    Caveat: it is as good as the wrong replies in the retriever's training.
    """
    found = _by_conversation(model.pair_scores, [_replies_in_context(each) for each in spoken])
    return [float(np.mean(each)) if each else NAN for each in found]


def fact_retrieval_probability(model: "LocalModel", spoken: Sequence[Transcript]) -> list[float]:
    """Return the mean probability that a reply follows the fact alone, by a retriever; NaN without a fact.

    Source: Mehri and Eskenazi, *USR*, 2020, section 4.2 (x = f). The fact is the persona of a system that
    was told one, or the column `fact` of a plain file of texts.

    Caveat: as for retrieval_probability.
    """
    return _given_fact(model, spoken, lambda said, fact: f"{fact}\n")


def informed_retrieval_probability(model: "LocalModel", spoken: Sequence[Transcript]) -> list[float]:
    """Return the mean probability that a reply follows the person's last message and the fact.

    NaN without a fact.

    Source: Mehri and Eskenazi, *USR*, 2020, section 4.2 (x = c), with the context of the released code.

    Caveat: as for retrieval_probability.
    """
    return _given_fact(model, spoken, lambda said, fact: f"{said}\n{fact}\n")


def _given_fact(
    model: "LocalModel", spoken: Sequence[Transcript], context: Callable[[str, str], str]
) -> list[float]:
    pairs = [
        [
            (context(said.input, each.fact), said.reply)
            for said in each.exchanges
            if each.fact and said.reply is not None
        ]
        for each in spoken
    ]
    return [
        float(np.mean(scores)) if scores else NAN for scores in _by_conversation(model.pair_scores, pairs)
    ]


# The regression of overall quality in the code released with USR (github.com/shikib/usr, Apache 2.0,
# `examples/regression.py` and `regr.pkl`). It reads each part as (value − mean) / standard deviation, and two
# of them twice, each time for another criterion: understandable, natural, maintains context, engaging, uses
# knowledge.
USR_INTERCEPT = 3.597475447630256
# Mean, standard deviation and weights of the masked likelihood, and of the retrieval from message and fact,
# and from the fact alone.
USR_MASKED = (-1.012293440649907, 0.39053753419230813, 0.6601100065238369 + 0.4035348605308456)
USR_INFORMED = (0.8604811806918587, 0.30259338627812254, 0.5132785702080678 + 0.9605336086924106)
USR_FACT = (0.8472124995904354, 0.27987823011851076, 0.35642553823787765)


def usr(
    masked: NDArray[np.float64], informed: NDArray[np.float64], by_fact: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return USR from its parts: likelihood of masked tokens, and the two retrieval probabilities.

    The regression is linear, so the score of means over replies is the mean of the replies' scores.

    Source: Mehri and Eskenazi, *USR*, 2020, with the weights that were released with it
    (github.com/shikib/usr, Apache 2.0). Give a masked model and one or two retrievers: `--model MASKED
    --model RETRIEVER`; of two, the first reads message and fact, and the second the fact.

    Caveat: the weights were fitted to the authors' own models and their scores of Topical-Chat, so numbers
    only compare systems with one another.
    """
    parts = zip((masked, informed, by_fact), (USR_MASKED, USR_INFORMED, USR_FACT), strict=True)
    weighted = [weight * (values - mean) / deviation for values, (mean, deviation, weight) in parts]
    return np.asarray(USR_INTERCEPT + sum(weighted))


def learned_score(model: "LocalModel", replies: Sequence[Sequence[ReferencedReply]]) -> list[float]:
    """Return the mean score of replies by a scorer that was trained to compare them with a reference.

    The best of several references counts. NaN without replies.

    Source: Sellam et al., *BLEURT: Learning Robust Metrics for Text Generation*, ACL 2020, section 3: the
    model reads the reference, then the text.

    Caveat: the name is the same whatever model you give.
    """
    pairs = [
        [(reference, reply.reply) for reply in each for reference in reply.references] for each in replies
    ]
    found = []
    for each, scores in zip(replies, _by_conversation(model.pair_scores, pairs), strict=True):
        left = iter(scores)
        best = [max(islice(left, len(reply.references))) for reply in each]
        found.append(float(np.mean(best)) if best else NAN)
    return found


def answer_word_sum(model: "LocalModel", questions: Sequence[AnsweredQuestion]) -> list[float]:
    """Return Σ log P of the words of each answer, each masked alone, given the passage and the question.

    Source: Ji, PhD thesis, section 4.5 (QAScore as printed). The code released with it computes something
    else: the mean cross-entropy over all tokens of passage, question and answer. NaN without an answer.

    Caveat: a sum prefers short answers, but an answer is the same for all systems.
    """
    pairs = [(f"{each.passage}\n{each.question}", each.answer) for each in questions]
    return [float(words.sum()) if len(words) else NAN for words in model.masked_words(pairs)]


# Metrics of a conversation by kind of model, and whether higher is better.
OF_CAUSAL: dict[str, tuple[Likelihood, bool]] = {"perplexity": (perplexity, False)}
OF_MASKED: dict[str, tuple[Likelihood, bool]] = {
    MASKED_TOKENS: (masked_token_likelihood, True),
    "masked_word_sum": (masked_word_sum, True),
}
OF_RETRIEVER: dict[str, tuple[Likelihood, bool]] = {"retrieval_probability": (retrieval_probability, True)}
# Metrics of a retriever that read the fact, too.
INFORMED, BY_FACT, USR = "informed_retrieval_probability", "fact_retrieval_probability", "usr"
OF_FACT: dict[str, tuple[Likelihood, bool]] = {
    INFORMED: (informed_retrieval_probability, True),
    BY_FACT: (fact_retrieval_probability, True),
}


def read_follow_ups(path: Path | None) -> dict[str, FollowUps]:
    """Return what a person might say next, by criterion.

    Args:
        path: JSON or TOML with `positive` and `negative` messages for each criterion; None for our own
            (follow_ups.toml), which also have messages for OVERALL.

    Raises:
        SourceError: the file cannot be read, or is not of this form.
    """
    if path is None:
        text = resources.files("qc.metrics").joinpath("follow_ups.toml").read_text("utf-8")
        return _FILE.validate_python(tomllib.loads(text))
    try:
        text = read_text(path)
        given = from_json(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
        found = _FILE.validate_python(given)
    except (OSError, ValueError) as error:
        raise SourceError(
            f"{path}: the follow-ups cannot be read ({error}). Give JSON or TOML with lists `positive` and "
            "`negative` for each criterion."
        ) from None
    if empty := [name for name, each in found.items() if not (each.positive or each.negative)]:
        raise SourceError(f"{path}: {joined(empty)} has no follow-ups. Add some, or take it out.")
    return found


def _replies_in_context(spoken: Transcript) -> "list[Pair]":
    said = spoken.said
    return [(_lines(said[:place]), text) for place, (who, text) in enumerate(said) if who == "system"]


def _lines(said: Sequence[tuple[str, str]]) -> str:
    return "".join(f"{text}\n" for _, text in said)


def _by_conversation(
    ask: "Callable[[Sequence[Pair]], list[Scored]]", pairs: "Sequence[Sequence[Pair]]"
) -> "list[list[Scored]]":
    """Return the results of `ask` by conversation; it is called once with all pairs."""
    said = iter(ask(list(chain.from_iterable(pairs))))
    return [list(islice(said, len(each))) for each in pairs]


def _tokens(log_p: Sequence[NDArray[np.float64]]) -> int:
    return sum(map(len, log_p))
