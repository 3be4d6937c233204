"""Score every conversation with every requested metric."""

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.metrics.cache import Cache, content_key
from qc.metrics.judge import SCALE, JudgeOptions, JudgeScore, judge
from qc.metrics.local_model import CAUSAL, MASKED, RETRIEVER, SCORER, LocalModel
from qc.metrics.metric_table import MetricScores
from qc.metrics.model_metrics import (
    ALIKE,
    ANSWER_SUM,
    BY_FACT,
    FED,
    FOLLOW_UP,
    INFORMED,
    LEARNED,
    MASKED_TOKENS,
    OF_CAUSAL,
    OF_FACT,
    OF_MASKED,
    OF_RETRIEVER,
    USR,
    AnsweredQuestion,
    FollowUps,
    Likelihood,
    answer_word_sum,
    follow_up_likelihood,
    learned_score,
    likeness,
    read_follow_ups,
    to_inputs,
    to_references,
    usr,
)
from qc.metrics.overlap.corpus import NIST, OF_SACREBLEU, CorpusMetric, CorpusOverlap, Nist, by_group
from qc.metrics.overlap.questions import OF_QUESTIONS
from qc.metrics.overlap.words import (
    BY_WORDS,
    METEOR,
    ReferencedReply,
    Synonyms,
    Tokens,
    WordMetric,
    mean_overlap,
    meteor,
    ngrams,
    tokens,
)
from qc.metrics.transcripts import Transcript
from qc.table import OVERALL

NAN = float("nan")


def distinct(replies: Sequence[Tokens], n: int) -> float:
    """Return the share of distinct ones among all sequences of `n` words in the replies; NaN without any.

    Source: Li et al., *A Diversity-Promoting Objective Function for Neural Conversation Models*, 2016.

    Caveat: the share falls with length, so compare only conversations with about the same number of words.
    Random words score high.
    """
    counts = [ngrams(reply, n) for reply in replies]
    total = sum(each.total() for each in counts)
    return len(set(chain.from_iterable(counts))) / total if total else NAN


def words_per_reply(replies: Sequence[Tokens]) -> float:
    """Return the mean number of words in a reply; NaN without replies.

    Caveat: a yardstick. A metric that does no better may have found nothing but length.
    """
    return sum(map(len, replies)) / len(replies) if replies else NAN


def repeated_replies(replies: Sequence[Tokens]) -> float:
    """Return the share of replies, from the second on, that repeat an earlier reply of the conversation.

    Caveat: 0 for a bot that draws at random.
    """
    later = len(replies) - 1
    return (len(replies) - len(set(replies))) / later if later > 0 else NAN


def repeated_trigrams(replies: Sequence[Tokens]) -> float:
    """Return the share of sequences of three words, from the second reply on, found in an earlier reply.

    Source: after See et al., *What Makes a Good Conversation?*, 2019, section 4 (external repetition).

    Caveat: 0 for a bot that draws at random.
    """
    seen = set(ngrams(replies[0], 3)) if replies else set()
    total = repeated = 0
    for reply in replies[1:]:
        runs = ngrams(reply, 3)
        total += runs.total()
        repeated += sum(count for run, count in runs.items() if run in seen)
        seen |= runs.keys()
    return repeated / total if total else NAN


# Metrics of replies, and whether higher is better.
METRICS: dict[str, tuple[Callable[[Sequence[Tokens]], float], bool]] = {
    "distinct_1": (lambda replies: distinct(replies, 1), True),
    "distinct_2": (lambda replies: distinct(replies, 2), True),
    "words_per_reply": (words_per_reply, True),
    "repeated_replies": (repeated_replies, False),
    "repeated_trigrams": (repeated_trigrams, False),
}


def diversity(name: str, replies: Sequence[str]) -> float:
    """Return the score of a conversation by a metric of METRICS; NaN if it has none."""
    metric, _ = METRICS[name]
    return metric([tokens(reply) for reply in replies])


# Number of conversations that a model scores before they are stored.
BLOCK = 8
# Revision of the cached values; increase it when the computation of a metric changes.
REVISION = 1

Input = TypeVar("Input")
References = tuple[tuple[ReferencedReply, ...], ...]
# Called with the description of the part, the amount done, and the total.
OnPart = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Asked:
    """The requested metrics; the options of the command."""

    references: Path | None
    models: tuple[Path, ...]
    scores: tuple[Path, ...]
    judge: JudgeOptions | None
    statements: Path | None
    follow_ups: Path | None
    synonyms: Path | None
    human: str | None

    @property
    def needs_texts(self) -> bool:
        """Whether a metric reads what the systems wrote, so that a file of scores is not enough."""
        return bool(not self.scores or self.references or self.models or self.judge or self.human)


@dataclass(frozen=True)
class JudgedConversations:
    """A judge's ratings, with their criteria, statements and metrics."""

    statements: dict[str, str]
    judgement: JudgeScore
    metrics: tuple[MetricScores, ...]


def from_replies(spoken: Sequence[Transcript]) -> list[MetricScores]:
    """Return the metrics that only need the replies."""
    return [
        MetricScores(name, "replies", better, np.array([diversity(name, each.replies) for each in spoken]))
        for name, (_, better) in METRICS.items()
    ]


def from_references(
    references: References,
    systems: NDArray[np.intp],
    count: int,
    taken: NDArray[np.bool_],
    synonyms: Synonyms,
) -> tuple[list[MetricScores], list[str]]:
    """Return the metrics that compare words with references, and sacreBLEU's signatures.

    A system's BLEU, chrF, TER and NIST are computed over all its counted replies together.

    Args:
        references: the replies of each conversation with their references; the first ones are those of
            `systems`.
        systems: (C,), codes.
        count: number of systems.
        taken: (C,), whether the conversation counts.
        synonyms: groups of synonyms, for METEOR.
    """
    found = []
    sacre = {name: CorpusOverlap(name) for name in OF_SACREBLEU}
    nist = Nist(list(chain.from_iterable(references)))
    corpus: dict[str, CorpusMetric] = {**sacre, NIST: nist}
    conversations = np.arange(len(references))
    for name, metric in corpus.items():
        each = by_group(metric, references, conversations, len(references), np.ones(len(references), bool))
        of_systems = by_group(metric, references[: len(systems)], systems, count, taken)
        found.append(MetricScores(name, "references", OF_SACREBLEU.get(name, True), each, of_systems))
    signatures = [f"{name}={metric.signature}" for name, metric in sacre.items()]
    by_words: dict[str, tuple[WordMetric, bool]] = {**BY_WORDS, METEOR: (partial(meteor, synonyms), True)}
    for name, (of_words, better) in by_words.items():
        scores = np.array([mean_overlap(of_words, better, replies) for replies in references])
        found.append(MetricScores(name, "references", better, scores))
    return found, signatures


def from_questions(references: References) -> list[MetricScores]:
    """Return the metrics that compare questions with reference questions."""
    return [
        MetricScores(name, "references", True, np.array([metric(each) for each in references]))
        for name, metric in OF_QUESTIONS.items()
    ]


@dataclass(frozen=True)
class ModelInputs:
    """The inputs of models.

    Attributes:
        spoken: (C), the conversations.
        references: (C), their references; None if there are none.
        answered: (C), questions with their answers; None if the texts are no questions.
        follow_ups: what people might say next, by criterion.
    """

    spoken: Sequence[Transcript]
    references: References | None
    follow_ups: dict[str, FollowUps]
    answered: Sequence[AnsweredQuestion] | None = None

    @property
    def has_facts(self) -> bool:
        """Whether any system was given a fact."""
        return any(each.fact for each in self.spoken)


def from_models(
    paths: Sequence[Path],
    inputs: ModelInputs,
    cache: Cache,
    on_part: OnPart,
    signatures: list[str],
    notes: list[str],
) -> list[MetricScores]:
    """Return the metrics of all models.

    The models' fingerprints are added to `signatures`, and a missing fact to `notes`.
    """
    found: list[MetricScores] = []
    kinds = set()
    for path in paths:
        model = LocalModel(path)
        kinds.add(model.kind)
        found += from_model(model, inputs, cache, on_part, named=len(paths) > 1)
        signatures.append(f"{model.name}=sha256:{model.fingerprint[:16]}")
    if RETRIEVER in kinds and not inputs.has_facts:
        notes.append(
            "No system was given a fact (a persona; of texts, the column fact), so there is no retrieval "
            "from facts, and no USR."
        )
    return found + _usr(found)


def _usr(found: Sequence[MetricScores]) -> list[MetricScores]:
    """Return USR if its parts are in `found`: of one masked model, and of one retriever or two.

    Of two retrievers the first reads the message and the fact, and the second the fact alone.
    """
    masked, informed, by_fact = (
        [each.conversations for each in found if each.name == name or each.name.startswith(f"{name} [")]
        for name in (MASKED_TOKENS, INFORMED, BY_FACT)
    )
    if len(masked) != 1 or len(informed) not in (1, 2):
        return []
    parts = [np.asarray(part, np.float64) for part in (masked[0], informed[0], by_fact[-1])]
    return [MetricScores(USR, "models", True, usr(*parts))]


def from_model(
    model: LocalModel, given: ModelInputs, cache: Cache, on_part: OnPart, *, named: bool
) -> list[MetricScores]:
    """Return the metrics for the kind of `model`; cached scores are not computed again.

    Args:
        model: any local model.
        given: its inputs.
        cache: cache of the scores.
        on_part: called before each block.
        named: add the model's name to the metrics' names, because there are several models.
    """
    end = f" [{model.name}]" if named else ""
    spoken, references = given.spoken, given.references
    found = _alike(model, "", [to_inputs(each) for each in spoken], cache, on_part, end)
    if references is not None:
        found += _alike(
            model, "_reference", [to_references(each) for each in references], cache, on_part, end
        )
    of_kind = {CAUSAL: OF_CAUSAL, MASKED: OF_MASKED, RETRIEVER: OF_RETRIEVER}.get(model.kind, {})
    asks = dict(of_kind)
    if model.kind == CAUSAL:
        asks |= _follow_ups(given.follow_ups)
    if model.kind == RETRIEVER and given.has_facts:
        asks |= OF_FACT
    for name, (metric, better) in asks.items():
        # Follow-up messages and facts are part of the input of the score, and so of the cache key.
        asked = metric.keywords["asked"] if isinstance(metric, partial) else None
        fixed = () if asked is None else (asked.positive, asked.negative)
        keys = [
            content_key(
                REVISION, name, model.fingerprint, (each.fact,) if name in OF_FACT else fixed, each.said
            )
            for each in spoken
        ]
        scores = _scores(model, name, keys, spoken, partial(metric, model), cache, on_part)
        found.append(MetricScores(name + end, f"model {model.name}", better, scores))
    if model.kind == SCORER and references is not None:
        compared = [[(each.reply, each.references) for each in replies] for replies in references]
        keys = [content_key(REVISION, LEARNED, model.fingerprint, each) for each in compared]
        scores = _scores(model, LEARNED, keys, references, partial(learned_score, model), cache, on_part)
        found.append(MetricScores(LEARNED + end, f"model {model.name}", True, scores))
    if model.kind == MASKED and given.answered is not None:
        answered = given.answered
        keys = [content_key(REVISION, ANSWER_SUM, model.fingerprint, astuple(each)) for each in answered]
        scores = _scores(model, ANSWER_SUM, keys, answered, partial(answer_word_sum, model), cache, on_part)
        found.append(MetricScores(ANSWER_SUM + end, f"model {model.name}", True, scores))
    return found


def _follow_ups(given: dict[str, FollowUps]) -> dict[str, tuple[Likelihood, bool]]:
    """Return a metric for each criterion, after the one of our own messages for all criteria together."""
    own = read_follow_ups(None)[OVERALL]
    of_criteria = {FED + label: asked for label, asked in given.items() if asked != own}
    return {
        name: (partial(follow_up_likelihood, asked=asked), True)
        for name, asked in {FOLLOW_UP: own, **of_criteria}.items()
    }


def _scores(
    model: LocalModel,
    name: str,
    keys: Sequence[str],
    inputs: Sequence[Input],
    metric: Callable[[Sequence[Input]], Sequence[float]],
    cache: Cache,
    on_part: OnPart,
) -> NDArray[np.float64]:
    """Return a metric of each of `inputs`, (C,)."""
    scores = cache.computed(
        keys, inputs, metric, BLOCK, lambda done: on_part(f"{name} by {model.name}", done, len(inputs))
    )
    return np.array(scores, np.float64)


def _alike(
    model: LocalModel,
    suffix: str,
    compared: "Sequence[list[tuple[str, tuple[str, ...]]]]",
    cache: Cache,
    on_part: OnPart,
    end: str,
) -> list[MetricScores]:
    """Return the similarity metrics, named with `suffix` and `end`."""
    scores = cache.computed(
        [content_key(REVISION, "alike", model.fingerprint, each) for each in compared],
        compared,
        lambda some: likeness(model, some),
        BLOCK,
        lambda done: on_part(f"embeddings{suffix} by {model.name}", done, len(compared)),
    )
    return [
        MetricScores(
            name + suffix + end, f"model {model.name}", True, np.array([each[name] for each in scores])
        )
        for name in ALIKE
    ]


def from_judge(
    sample: Sample,
    spoken: Sequence[Transcript],
    statements: dict[str, str],
    options: JudgeOptions,
    cache: Cache,
    on_part: OnPart,
) -> JudgedConversations:
    """Return the judge's ratings of the conversations on every criterion, and their mean as `judge`.

    Negative criteria are reversed, so higher is better for all of these metrics.

    Raises:
        JudgeError: there are no ratings.
    """
    judgement = judge(
        spoken,
        list(statements.values()),
        options,
        cache,
        lambda there, count: on_part("The judge", there, count),
    )
    means = conversation_means(judgement)
    negative = sample.run.criteria["negative"].to_numpy(bool)
    better = np.where(negative, SCALE - means, means)
    made_of = f"judge {options.model}"
    metrics = [MetricScores("judge", made_of, True, better.mean(axis=1))]
    metrics += [
        MetricScores(f"judge_{label}", made_of, True, column)
        for label, column in zip(statements, better.T, strict=True)
    ]
    return JudgedConversations(statements, judgement, tuple(metrics))


def conversation_means(judgement: JudgeScore) -> NDArray[np.float64]:
    """Return the mean rating of each conversation on each criterion, (C, K): over repeats, then over orders.

    NaN unless both orders were answered, so that the effect of the order is the same for all conversations.
    """
    known = np.isfinite(judgement.ratings)
    counts = known.sum(axis=2)
    of_orders = np.where(known, judgement.ratings, 0).sum(axis=2) / np.where(counts > 0, counts, np.nan)
    return np.asarray(of_orders.mean(axis=1))
