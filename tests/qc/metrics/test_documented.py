"""docs/reference/metrics.md has a paragraph for every metric that the product computes."""

from pathlib import Path

import pytest

from qc.metrics.model_metrics import (
    ALIKE,
    ANSWER_SUM,
    FED,
    FOLLOW_UP,
    LEARNED,
    OF_CAUSAL,
    OF_MASKED,
    OF_RETRIEVER,
)
from qc.metrics.overlap.corpus import NIST, OF_SACREBLEU
from qc.metrics.overlap.questions import OF_QUESTIONS
from qc.metrics.overlap.words import BY_WORDS, METEOR
from qc.metrics.scoring import METRICS

TEXT = (Path(__file__).parents[3] / "docs" / "reference" / "metrics.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "name",
    [
        *METRICS,
        *OF_SACREBLEU,
        NIST,
        *BY_WORDS,
        METEOR,
        *OF_QUESTIONS,
        *ALIKE,
        *OF_CAUSAL,
        FOLLOW_UP,
        FED + "…",
        *OF_MASKED,
        ANSWER_SUM,
        *OF_RETRIEVER,
        LEARNED,
        "judge",
    ],
)
def test_a_metric_has_its_paragraph_and_its_caveat(name: str) -> None:
    headings = [part.partition("**")[0] for part in TEXT.split("\n**")]
    paragraphs = [part for part in TEXT.split("\n\n") if part.startswith("**")]
    assert any(name in heading.rstrip(".").split(", ") for heading in headings)
    about = [part for part in paragraphs if name in part.partition("**")[2].partition("**")[0]]
    assert name == "judge" or any("*Caveat*" in part for part in about)
