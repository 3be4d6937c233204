"""Score texts with all requested metrics."""

from qc.metrics.cache import Cache
from qc.metrics.metric_table import BY_SYSTEM, MetricScores, read_scores, require_distinct
from qc.metrics.model_metrics import read_follow_ups
from qc.metrics.overlap.words import read_synonyms
from qc.metrics.scoring import (
    Asked,
    ModelInputs,
    OnPart,
    from_models,
    from_questions,
    from_references,
    from_replies,
)
from qc.metrics.texts.outputs import TextSet

BY_OUTPUT = "output"


def score_texts(
    texts: TextSet, asked: Asked, cache: Cache, on_part: OnPart
) -> tuple[list[MetricScores], list[str], list[str]]:
    """Return all requested metrics of texts, additions to the signature, and notes."""
    spoken = [each.spoken for each in texts.outputs]
    # A single text repeats no earlier reply, so such metrics have no score.
    found = [metric for metric in from_replies(spoken) if metric.has_scores]
    signatures: list[str] = []
    notes: list[str] = []
    references = texts.references
    if references is not None:
        compared, signatures = from_references(
            references, texts.codes, len(texts.systems), texts.counted, read_synonyms(asked.synonyms)
        )
        found += compared
        if texts.are_questions:
            found += from_questions(references)
    if spoken:
        inputs = ModelInputs(spoken, references, read_follow_ups(asked.follow_ups), texts.answered)
        found += from_models(asked.models, inputs, cache, on_part, signatures, notes)
    names = {BY_SYSTEM: list(texts.systems), BY_OUTPUT: [each.name for each in texts.outputs]}
    for path in asked.scores:
        found += read_scores(path, names, notes)
    require_distinct(found)
    return found, signatures, notes
