"""Tests of the examination of a QC bot before a run."""

from pathlib import Path

import numpy as np
import pytest

from bots import load_corpus
from bots.qc_bots.examination import CONVERSATIONS, ENOUGH_REPLIES, LINES, examine, looks_auc
from bots.serving import Corpus, Finding, qc_findings
from tests.bots.support.corpora import CORPORA, write_corpus


def found(findings: tuple[Finding, ...], question: str) -> Finding:
    return next(finding for finding in findings if finding.question == question)


def replies(corpus: Corpus) -> list[str]:
    return [turn for dialogue in corpus.dialogues for turn in dialogue.turns][:100]


def test_the_shipped_bot_is_worse_to_read_and_looks_the_same(corpus: Corpus) -> None:
    examined = examine(corpus, replies(corpus))
    assert examined.lines == CONVERSATIONS * LINES
    assert examined.whole == 0
    assert examined.preferred is not None
    assert 0.55 < examined.preferred < 1
    assert examined.looks is not None
    assert abs(examined.looks - 0.5) < 0.15
    assert {finding.verdict for finding in qc_findings(corpus, replies(corpus))} == {"pass"}


def test_beside_systems_of_other_looks_it_stands_out(corpus: Corpus) -> None:
    shouted = [f"{reply.upper()}!!" for reply in replies(corpus)]
    told = found(qc_findings(corpus, shouted), "Is it hidden from simple heuristics?")
    assert told.verdict == "warn"
    assert "let the QC bot draw from the systems" in told.reason


def test_a_few_replies_say_nothing_of_looks(corpus: Corpus) -> None:
    assert examine(corpus, replies(corpus)[: ENOUGH_REPLIES - 1]).looks is None


def test_a_chinese_corpus_read_as_english_makes_the_filter_void(tmp_path: Path) -> None:
    path = str(write_corpus(tmp_path, "zh"))
    void = found(qc_findings(load_corpus(path), ()), "Are its lines distorted?")
    assert void.verdict == "fail"
    assert "100% of 200 lines stand in the corpus as they are: it says whole fluent lines" in void.reason
    assert found(qc_findings(load_corpus(path, "zh"), ()), "Are its lines distorted?").verdict == "pass"


@pytest.mark.parametrize("language", sorted(CORPORA))
def test_lines_are_distorted_in_every_language(language: str, tmp_path: Path) -> None:
    findings = qc_findings(load_corpus(str(write_corpus(tmp_path, language)), language), ())
    assert {finding.verdict for finding in findings} == {"pass"}
    assert found(findings, "In the study's language?").reason.startswith("0 of 36 lines")


def test_a_corpus_in_another_language_fails(tmp_path: Path) -> None:
    told = found(
        qc_findings(load_corpus(str(write_corpus(tmp_path, "es")), "de"), ()), "In the study's language?"
    )
    assert told.verdict == "fail"


def test_looks_by_hand() -> None:
    lines = [f"Line number {at}." for at in range(50)]
    assert looks_auc(lines, lines) == pytest.approx(0.5, abs=0.15)
    assert looks_auc(lines, [line.lower().rstrip(".") for line in lines]) == 1.0
    assert np.isfinite(looks_auc(["a"] * 10, ["a"] * 10))
