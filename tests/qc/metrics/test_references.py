"""Metrics against references; the numbers are worked out beside the assertions."""

from math import exp, log, log2
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qc.errors import SourceError
from qc.metrics.overlap.corpus import CorpusOverlap, Nist, by_group
from qc.metrics.overlap.questions import answerability, kinds_of, mean_answerability, mean_q_bleu
from qc.metrics.overlap.words import (
    BY_WORDS,
    ReferencedReply,
    gleu,
    mean_overlap,
    meteor,
    meteor_exact_stem,
    ngrams,
    read_synonyms,
    rouge_l,
    rouge_n,
    string_edit,
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


def test_rouge_n_by_hand() -> None:
    # "a b c d" and "a b c e f": 3 words of 4 and 5, F1 = 2 · 3/9; 2 pairs of 3 and 4, 2 · 2/7; no run of 4.
    texts = tuple("abcd"), tuple("abcef")
    assert rouge_n(1, *texts) == pytest.approx(6 / 9)
    assert rouge_n(2, *texts) == pytest.approx(4 / 7)
    assert rouge_n(4, *texts) == 0


def test_string_edit_by_hand() -> None:
    # "a b c d" to "b c e": take a out and exchange d for e, 2 edits of 4 words.
    assert string_edit(tuple("abcd"), tuple("bce")) == pytest.approx(2 / 4)
    assert string_edit((), ()) == 0
    # Lower is better, so the nearest reference counts.
    assert mean_overlap(string_edit, False, [ReferencedReply("a b", ("a c", "a b"))]) == 0


def test_gleu_by_hand() -> None:
    # "a b c" and "a b d": runs of 1: 2 match, of 2: 1, of 3: 0; 3 + 2 + 1 = 6 on either side: 3 of 6.
    assert gleu(("a", "b", "c"), ("a", "b", "d")) == pytest.approx(0.5)


def test_meteor_by_hand() -> None:
    # "the cats sat" against "the cat sat down": the, sat exactly, cats by its stem: 3 matches, one chunk.
    # P = 3/3, R = 3/4; F = PR/(.9 P + .1 R) = .75/.975 = .769231; 1 − .5 (1/3)³ = .981481: .754986.
    found = meteor_exact_stem(("the", "cats", "sat"), ("the", "cat", "sat", "down"))
    assert found == pytest.approx(0.754986, abs=1e-6)


def test_meteor_with_synonyms_by_hand() -> None:
    # "the cars sat" and "the automobile sat": 2 of 3 words and 2 chunks without synonyms: 2/3 (1 − .5) = 1/3.
    # With them all 3 match in one chunk: 1 − .5 (1/3)³ = .981481.
    texts = ("the", "cars", "sat"), ("the", "automobile", "sat")
    assert meteor_exact_stem(*texts) == pytest.approx(1 / 3)
    assert meteor(read_synonyms(None), *texts) == pytest.approx(0.981481, abs=1e-6)


def test_synonyms_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("Katze Kater\nHund Köter\n", encoding="utf-8")
    mine = read_synonyms(file)
    assert meteor(mine, ("kater",), ("katze",)) > 0
    assert meteor(mine, ("kater",), ("hund",)) == 0
    with pytest.raises(SourceError, match="a group of words in each line"):
        read_synonyms(tmp_path / "none.txt")


def test_nist_by_hand() -> None:
    # References "a b" and "a c" have 4 words: a has log2(4/2) = 1 bit, b and c log2(4/1) = 2, the pairs a b
    # and a c log2(2/1) = 1. "a b" matches a, b and their pair: 3 bits in 2 words, and 1 in 1 pair.
    replies = [ReferencedReply("a b", ("a b",)), ReferencedReply("x", ("a c",))]
    metric = Nist(replies)
    assert metric.score(replies[:1]) == pytest.approx(3 / 2 + 1)
    assert log2(4 / 2) == 1
    # Both: 3 bits in 3 words, 1 in 1 pair. 3 words of 4: the penalty is .5 to the power (ln .75 / ln 2/3)².
    penalty = exp(log(0.5) * (log(3 / 4) / log(2 / 3)) ** 2)
    assert metric.score(replies) == pytest.approx((3 / 3 + 1) * penalty)
    assert np.isnan(metric.score([]))


def test_ter_by_hand() -> None:
    # One word of four is exchanged: 25.
    one = ReferencedReply("I like green tea", ("I like strong tea",))
    assert CorpusOverlap("ter").score([one]) == pytest.approx(25)


def test_answerability_by_hand() -> None:
    reference = "In what year did Einstein move to Bern?"
    kinds = {kind: dict(words) for kind, words in kinds_of(reference).items()}
    assert kinds == {
        "names": {"einstein": 1, "bern": 1},
        "type": {"what": 1, "year": 1},
        "relevant": {"move": 1},
        "function": {"in": 1, "did": 1, "to": 1},
    }
    # "What year did Bern move?": 1 name of 1 and of 2, the type, move, and did of 1 and of 3.
    # P = .6 + .2 + .1 + .1 = 1; R = .6/2 + .2 + .1 + .1/3 = .633333; F1 = 2 PR/(P + R) = .775510.
    assert answerability("What year did Bern move?", reference) == pytest.approx(0.775510, abs=1e-6)
    assert mean_answerability([ReferencedReply("Why?", ("Why?", "Who?"))]) == pytest.approx(0.2)


def test_q_bleu_by_hand() -> None:
    # Equal questions have a BLEU of 1, and without names and a relevant word an answerability of .2 + .1.
    same = ReferencedReply("Where was that?", ("Where was that?",))
    assert mean_q_bleu([same]) == pytest.approx(0.7 * 0.3 + 0.3)


def test_meteor_punishes_scattered_matches() -> None:
    # All 4 words match, in 4 chunks of 1 or in 1 of 4: 1 − .5 · 1³ = .5, and 1 − .5 (1/4)³ = .992188.
    assert meteor_exact_stem(tuple("dcba"), tuple("abcd")) == pytest.approx(0.5)
    assert meteor_exact_stem(tuple("abcd"), tuple("abcd")) == pytest.approx(0.9921875)


@given(words, words)
def test_metrics_of_words_stay_between_nothing_and_all(
    reply: tuple[str, ...], other: tuple[str, ...]
) -> None:
    for metric, _ in BY_WORDS.values():
        assert 0 <= metric(reply, other) <= 1
    assert rouge_l(reply, other) == rouge_l(other, reply)
    assert gleu(reply, other) == gleu(other, reply)


@given(words.filter(bool))
def test_a_reply_that_is_its_reference_is_best(reply: tuple[str, ...]) -> None:
    assert rouge_l(reply, reply) == 1
    assert gleu(reply, reply) == 1


def test_the_reference_that_fits_best_counts() -> None:
    two = ReferencedReply("I like tea", ("No.", "I like tea"))
    assert mean_overlap(rouge_l, True, [two]) == 1
    assert mean_overlap(rouge_l, True, [two, ReferencedReply("x", ("y",))]) == 0.5
    assert np.isnan(mean_overlap(gleu, True, []))


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
