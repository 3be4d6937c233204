"""Words of ASCII are those that a regular expression finds."""

import re

from hypothesis import given
from hypothesis import strategies as st

from bots.core.words import ascii_letters, ascii_words

LINES = st.text(st.characters(max_codepoint=127) | st.sampled_from("éßｂ我\u212a\ud800"))


def found(pattern: str, line: str) -> list[bytes]:
    return [word.lower().encode() for word in re.findall(pattern, line)]


@given(LINES)
def test_words_are_what_the_expression_finds(line: str) -> None:
    assert ascii_words(line) == found("[A-Za-z0-9_]+", line)


@given(LINES)
def test_letters_are_what_the_expression_finds(line: str) -> None:
    assert ascii_letters(line) == found("[A-Za-z]+", line)


def test_a_line() -> None:
    assert ascii_words("I'm 7_b, ok?\x1f né") == [b"i", b"m", b"7_b", b"ok", b"n"]
    assert ascii_letters("I'm 7_b, ok?\x1f né") == [b"i", b"m", b"b", b"ok", b"n"]
