"""Edits of a text: what they are worth, and which are none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.session.steps.rating import edit_share, why_senseless

SHOWN = "The quick brown fox jumps over the lazy dog."  # nine words


@pytest.mark.parametrize(
    ("edited", "words"),
    [
        (SHOWN, 0),
        ("The quick red fox jumps over the lazy dog.", 1),  # one exchanged
        ("The quick fox jumps over the lazy dog.", 1),  # one left out
        ("The very quick brown fox jumps over the lazy dog.", 1),  # one put in
        ("A fast brown fox leaps over the lazy dog.", 3),
        ("Dogs sleep.", 9),  # nothing is left: two exchanged, seven left out
    ],
)
def test_the_value_is_edited_words_over_length(edited: str, words: int) -> None:
    assert edit_share(SHOWN, edited) == words / 9


def test_more_words_put_in_than_there_were() -> None:
    assert edit_share("Fine", "It was rather good indeed") == 5.0


def slow_distance(one: list[str], other: list[str]) -> int:
    """The definition of the distance, word by word, without any short cut."""
    if not one or not other:
        return len(one) + len(other)
    return min(
        slow_distance(one[1:], other[1:]) + (one[0] != other[0]),
        slow_distance(one[1:], other) + 1,
        slow_distance(one, other[1:]) + 1,
    )


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=5), st.lists(st.sampled_from("abc"), max_size=5))
def test_the_share_is_that_of_the_definition(one: list[str], other: list[str]) -> None:
    assert edit_share(" ".join(one), " ".join(other)) * len(one) == pytest.approx(slow_distance(one, other))


@pytest.mark.parametrize(
    ("edited", "reason"),
    [
        (SHOWN, "fewer than 5"),
        (SHOWN.replace("quick", "quack"), "fewer than 5"),
        (SHOWN.replace("dog", "doggy"), "fewer than 5"),
        ("", "no words"),
        ("  … !!! ?", "no words"),
        (SHOWN.upper(), "only blanks, marks or capitals"),
        (SHOWN.replace(" ", " - "), "only blanks, marks or capitals"),
        (SHOWN + " aaaaaaaa", "one character"),
        ("good good good good", "one word"),
        (SHOWN + " Good, good good.", "one word"),
    ],
)
def test_what_is_no_improvement(edited: str, reason: str) -> None:
    assert reason in str(why_senseless(SHOWN, edited))


@pytest.mark.parametrize(
    "edited",
    [SHOWN.replace("quick", "clumsy"), SHOWN.replace("brown ", ""), SHOWN + " It is late.", "Dogs are lazy."],
)
def test_what_is_one(edited: str) -> None:
    assert why_senseless(SHOWN, edited) is None


def test_what_the_text_had_itself_is_not_held_against_an_edit() -> None:
    assert why_senseless("He said no no no to me.", "He said no no no to all of us.") is None


@given(st.text("abc ", max_size=8), st.text("abc ", max_size=8))
def test_fewer_than_five_characters_by_the_definition(one: str, other: str) -> None:
    said = why_senseless(f"w {one}", f"w {other}") or ""
    assert ("fewer than 5" in said) == (slow_distance(list(one), list(other)) < 5)
