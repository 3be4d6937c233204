"""Page of the reference on the automatic metrics, by the docstrings of the functions that compute them."""

import inspect
from collections.abc import Iterator

from qc.metrics import model_metrics, scoring
from qc.metrics.overlap import corpus, questions, words

# The functions and classes of the metrics, by the names that results have.
DOCUMENTED: dict[tuple[str, ...], object] = {
    ("distinct_1", "distinct_2"): scoring.distinct,
    ("words_per_reply",): scoring.words_per_reply,
    ("repeated_replies",): scoring.repeated_replies,
    ("repeated_trigrams",): scoring.repeated_trigrams,
    tuple(corpus.OF_SACREBLEU): corpus.CorpusOverlap,
    (corpus.NIST,): corpus.Nist,
    ("rouge_1", "rouge_2", "rouge_4"): words.rouge_n,
    ("rouge_l",): words.rouge_l,
    ("string_edit",): words.string_edit,
    (words.METEOR, "meteor_exact_stem"): words.meteor,
    ("gleu",): words.gleu,
    ("answerability",): questions.answerability,
    ("q_bleu",): questions.mean_q_bleu,
    **{(name,): alike for name, alike in model_metrics.OF_WORDS.items()},
    (model_metrics.BERTSCORE,): model_metrics.greedy_f1,
    ("perplexity",): model_metrics.perplexity,
    (model_metrics.FOLLOW_UP, f"{model_metrics.FED}…"): model_metrics.follow_up_likelihood,
    (model_metrics.MASKED_TOKENS,): model_metrics.masked_token_likelihood,
    ("retrieval_probability",): model_metrics.retrieval_probability,
    (model_metrics.BY_FACT,): model_metrics.fact_retrieval_probability,
    (model_metrics.INFORMED,): model_metrics.informed_retrieval_probability,
    (model_metrics.USR,): model_metrics.usr,
    (model_metrics.LEARNED,): model_metrics.learned_score,
    ("masked_word_sum",): model_metrics.masked_word_sum,
    (model_metrics.ANSWER_SUM,): model_metrics.answer_word_sum,
}
INTRODUCTION = (
    "# Automatic metrics, one by one\n\n"
    "Metrics of `candor metrics` ([how to use it](../how-to/analysis/score-with-metrics.md)). A run has few "
    "systems, so whatever a metric shows on one run can be chance. Words are runs of letters and digits in "
    "lower case, without punctuation, unless it says otherwise. log P is the logarithm of a probability by "
    "the model; NaN: there is no score. Vectors (`embedding_…`, `bertscore`) are of the reply and of what "
    "the person said just before, or, with `_reference`, of the reply and its reference. If more than half "
    "of the texts end with a question mark, they are taken for questions. The first sentence of the output, "
    "and *filtering first*, compare metrics over the systems that most of them scored: questions by people, "
    "which are the references, have no score by a reference.\n\n"
    "`--model PATH` is a local folder with a model in Hugging Face's format and its tokenizer; nothing is "
    'downloaded. Install the libraries by `make install-models` in a checkout, or `pip install "$(ls '
    'dist/candor_eval-*.whl)[hf]"`. Encoder-decoders are refused. Contexts that are too long lose their '
    "beginning. Results are kept in `~/.cache/candor/metrics.db` or at `--cache`.\n\n"
)
END = """
**judge, judge_…** [A language model's ratings](../how-to/analysis/language-model-judge.md).

**Your own.** By `--scores FILE` ([columns](data-formats.md#files-for-metrics)).
"""


def metrics() -> str:
    """Return the page of the automatic metrics."""
    return INTRODUCTION + "\n\n".join(paragraphs()) + "\n" + END


def paragraphs() -> Iterator[str]:
    """Yield a paragraph for each metric, or for several that one function computes."""
    registries = (scoring.METRICS, words.BY_WORDS, model_metrics.OF_CAUSAL)
    lower = {name for registry in registries for name, (_, higher) in registry.items() if not higher}
    lower |= {name for name, higher in corpus.OF_SACREBLEU.items() if not higher}
    for names, documented in DOCUMENTED.items():
        parts = inspect.cleandoc(getattr(documented, "__doc__", None) or "").split("\n\n")
        said = [" ".join(part.split()) for part in parts if not part.startswith(("Args:", "Returns:"))]
        said[0] = said[0].removeprefix("Return ")
        said[0] = said[0][0].upper() + said[0][1:]
        better = [
            f"Lower is better{f' ({name})' if len(names) > 1 else ''}." for name in names if name in lower
        ]
        text = " ".join([said[0], *better, *said[1:]]).replace("Caveat:", "*Caveat*:")
        yield f"**{', '.join(names)}.** {text}"
