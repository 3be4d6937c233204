"""Words, stems and sentences, and how text is presented."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.core.words import content, overlap, sentences, stem, words
from bots.shown import LONGEST, present, shorten


def test_words_keep_contractions_whole() -> None:
    assert words("I’m fine, Café-bar 24!") == ["i'm", "fine", "café", "bar", "24"]


def test_words_typed_in_a_hurry_are_read_as_meant() -> None:
    assert words("im good hbu") == ["i'm", "good", "how", "about", "you"]


@pytest.mark.parametrize(
    "family",
    [
        ("love", "loves", "loved", "loving"),
        ("study", "studies", "studied", "studying"),
        ("dog", "dogs", "dog's"),
        ("run", "runs", "running"),
    ],
)
def test_forms_of_a_word_share_a_stem(family: tuple[str, ...]) -> None:
    assert len({stem(word) for word in family}) == 1


def test_words_that_differ_keep_different_stems() -> None:
    assert len({stem(word) for word in ("bus", "bring", "spring", "red", "king", "class", "this")}) == 7


def test_content_leaves_out_what_carries_no_meaning() -> None:
    assert content("What do you do with all of those bikes?") == ["bike"]


def test_sentences() -> None:
    assert sentences('Hi! "Really?" she said... Yes') == ("Hi!", '"Really?', "she said...", "Yes")
    assert sentences("Ask Mr. Hill. Or Dr. Ames!") == ("Ask Mr. Hill.", "Or Dr. Ames!")
    assert sentences("...") == ()


def test_overlap_is_the_share_of_stems_in_common() -> None:
    assert overlap("my dog barks", "My dogs bark!") == 1
    # {my, dog, bark} and {my, cat, sleep}: 1 of 5.
    assert overlap("my dog barks", "my cat sleeps") == pytest.approx(0.2)
    assert overlap("...", "!") == 1


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("i am good , i just got off work .", "I am good, I just got off work."),
        ("neat ! ! i do n't know , i 've no idea", "Neat!! I don't know, I've no idea"),
        ("well ... maybe i 'm wrong", "Well... maybe I'm wrong"),
        ("Hello there, Ian. iPads are fine.", "Hello there, Ian. iPads are fine."),
        ("  two\n lines\x00 ", "Two lines"),
    ],
)
def test_present(raw: str, shown: str) -> None:
    assert present(raw) == shown


@given(st.text(max_size=700))
def test_presenting_gives_one_short_line_and_is_stable(text: str) -> None:
    shown = present(text)
    assert len(shown) <= LONGEST
    assert "\n" not in shown
    assert present(shown) == shown


def test_shorten_ends_after_a_sentence_where_it_can() -> None:
    assert shorten("One two. Three four five.", 15) == "One two."
    assert shorten("One two three four five", 15) == "One two three…"
    assert shorten("short", 5) == "short"
