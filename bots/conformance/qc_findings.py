"""Judge the examination of a QC bot, one finding per question."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from bots.conformance.report import Finding, Verdict
from bots.corpus import Corpus
from candor.common.segmentation import base_language, foreign_language

if TYPE_CHECKING:
    from bots.qc_bots.examination import Examination

# Share of lines that are in the corpus unchanged. A few are short answers; with half, the filter is useless.
_WHOLE, _MOSTLY_WHOLE = 0.1, 0.5
_READ = 0.55  # share of responses preferred to their distortions; one half by chance
_LOOKS = 0.8  # AUC
_FOREIGN = 0.1


def qc_findings(corpus: Corpus, replies: Sequence[str]) -> tuple[Finding, ...]:
    """Return the findings about the published QC bot with `corpus`, compared with systems' `replies`.

    This takes seconds for a large corpus: call it outside of an event loop.

    Raises:
        CorpusError: the bot cannot use this corpus.
    """
    from bots.qc_bots.examination import examine  # noqa: PLC0415 - numpy, which a server's start need not load

    found = examine(corpus, replies)
    return (*_distortion(found), *_reading(found), *_looks(found), *_language(corpus))


def _distortion(found: "Examination") -> Iterator[Finding]:
    share = f"{found.whole:.0%} of {found.lines} lines stand in the corpus as they are"
    verdict: Verdict = "fail" if found.whole > _MOSTLY_WHOLE else "warn" if found.whole > _WHOLE else "pass"
    remedy = (
        ""
        if verdict == "pass"
        else ": it says whole fluent lines, and workers cannot tell it from a system."
        " State the study's `language`, or give a corpus of longer lines"
    )
    yield Finding(question="Are its lines distorted?", verdict=verdict, reason=f"{share}{remedy}.")


def _reading(found: "Examination") -> Iterator[Finding]:
    if found.preferred is not None:
        verdict: Verdict = "pass" if found.preferred > _READ else "warn"
        reason = (
            f"A small language model prefers {found.preferred:.0%} of its lines as they were; by chance, 50%."
        )
        yield Finding(question="Is that seen by reading?", verdict=verdict, reason=reason)


def _looks(found: "Examination") -> Iterator[Finding]:
    if found.looks is not None:
        verdict: Verdict = "pass" if found.looks <= _LOOKS else "warn"
        remedy = "; `qc: {draw: systems}` gives it theirs" if verdict == "warn" else ""
        reason = (
            f"Their looks alone tell its lines from the systems' with an AUC of {found.looks:.2f}{remedy}."
        )
        yield Finding(question="And not by its looks?", verdict=verdict, reason=reason)


def _language(corpus: Corpus) -> Iterator[Finding]:
    if base_language(corpus.language) == "en":
        return  # this test would take a second at every launch
    turns = [turn for dialogue in corpus.dialogues[:20] for turn in dialogue.turns]
    foreign = [other for turn in turns if (other := foreign_language(turn, corpus.language))]
    wrong = len(foreign) > _FOREIGN * len(turns)
    reason = (
        f"{len(foreign)} of {len(turns)} lines of its corpus are in another language than {corpus.language}."
    )
    yield Finding(question="In the study's language?", verdict="fail" if wrong else "pass", reason=reason)
