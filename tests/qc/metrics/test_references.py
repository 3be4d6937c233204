"""Metrics against references; the numbers are worked out beside the assertions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qc.metrics.references import (
    BY_WORDS,
    CorpusOverlap,
    ReferencedReply,
    by_group,
    gleu,
    mean_overlap,
    meteor_exact_stem,
    ngrams,
    rouge_l,
    tokens,
)

words = st.lists(st.sampled_from("abcd"), max_size=8).map(tuple)


def test_words_are_lower_case_without_punctuation() -> None:
    assert tokens("Don't say “ÉTÉ” -- twice!") == ("don't", "say", "été", "twice")
    assert ngrams(("a", "b", "a", "b"), 2) == {("a", "b"): 2, ("b", "a"): 1}
    assert ngrams(("a",), 2) == {}


def test_rouge_l_by_hand() -> None:
    # Longest common subsequence of "the cat sat" and "the sat cat": 2 words; F1 = 2 · 2 / (3 + 3).
    assert rouge_l(("the", "cat", "sat"), ("the", "sat", "cat")) == pytest.approx(2 / 3)


def test_gleu_by_hand() -> None:
    # "a b c" and "a b d": runs of 1: 2 match, of 2: 1, of 3: 0; 3 + 2 + 1 = 6 on either side: 3 of 6.
    assert gleu(("a", "b", "c"), ("a", "b", "d")) == pytest.approx(0.5)


def test_meteor_by_hand() -> None:
    # "the cats sat" against "the cat sat down": the, sat exactly, cats by its stem: 3 matches, one chunk.
    # P = 3/3, R = 3/4; F = PR/(.9 P + .1 R) = .75/.975 = .769231; 1 − .5 (1/3)³ = .981481: .754986.
    found = meteor_exact_stem(("the", "cats", "sat"), ("the", "cat", "sat", "down"))
    assert found == pytest.approx(0.754986, abs=1e-6)


def test_meteor_punishes_scattered_matches() -> None:
    # All 4 words match, in 4 chunks of 1 or in 1 of 4: 1 − .5 · 1³ = .5, and 1 − .5 (1/4)³ = .992188.
    assert meteor_exact_stem(tuple("dcba"), tuple("abcd")) == pytest.approx(0.5)
    assert meteor_exact_stem(tuple("abcd"), tuple("abcd")) == pytest.approx(0.9921875)


@given(words, words)
def test_metrics_of_words_stay_between_nothing_and_all(
    reply: tuple[str, ...], other: tuple[str, ...]
) -> None:
    for metric in BY_WORDS.values():
        assert 0 <= metric(reply, other) <= 1
    assert rouge_l(reply, other) == rouge_l(other, reply)
    assert gleu(reply, other) == gleu(other, reply)


@given(words.filter(bool))
def test_a_reply_that_is_its_reference_is_best(reply: tuple[str, ...]) -> None:
    assert rouge_l(reply, reply) == 1
    assert gleu(reply, reply) == 1


def test_the_reference_that_fits_best_counts() -> None:
    two = ReferencedReply("I like tea", ("No.", "I like tea"))
    assert mean_overlap("rouge_l", [two]) == 1
    assert mean_overlap("rouge_l", [two, ReferencedReply("x", ("y",))]) == 0.5
    assert np.isnan(mean_overlap("gleu", []))


@pytest.mark.parametrize("name", ["bleu", "chrf"])
def test_bleu_and_chrf_of_equal_and_of_other_texts(name: str) -> None:
    metric = CorpusOverlap(name)
    assert metric.score([ReferencedReply("I like strong tea.", ("I like strong tea.",))]) == pytest.approx(
        100
    )
    assert metric.score([ReferencedReply("zzz qqq", ("I like strong tea.",))]) < 5
    assert np.isnan(metric.score([]))
    assert "version:" in metric.signature


def test_bleu_takes_unequal_numbers_of_references() -> None:
    replies = [
        ReferencedReply("I like strong tea.", ("No.", "I like strong tea.")),
        ReferencedReply("My dog sleeps a lot.", ("My dog sleeps a lot.",)),
    ]
    assert CorpusOverlap("bleu").score(replies) == pytest.approx(100)


def test_a_systems_bleu_is_that_of_all_its_replies_together() -> None:
    metric = CorpusOverlap("bleu")
    right = ReferencedReply("I like strong tea.", ("I like strong tea.",))
    wrong = ReferencedReply("My dog is a big one.", ("He sleeps in the sun.",))
    groups = np.array([0, 0, 1])
    found = by_group(metric, [(right,), (wrong,), (right,)], groups, 3, np.array([True, True, False]))
    assert found[0] == pytest.approx(metric.score([right, wrong]))
    assert np.isnan(found[1:]).all()
