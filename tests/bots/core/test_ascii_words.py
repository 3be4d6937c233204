"""Words of ASCII are those that a regular expression finds."""

import re

from hypothesis import given
from hypothesis import strategies as st

from bots.core.ascii_words import ascii_letters, ascii_words

LINES = st.text(st.characters(max_codepoint=127))


@given(LINES)
def test_words_are_what_the_expression_finds(line: str) -> None:
    assert ascii_words(line) == re.findall(r"\w+", line)


@given(LINES)
def test_letters_are_what_the_expression_finds(line: str) -> None:
    assert ascii_letters(line) == re.findall(r"[^\W\d_]+", line)


def test_a_line() -> None:
    assert ascii_words("I'm 7_b, ok?\x1f no") == ["I", "m", "7_b", "ok", "no"]
    assert ascii_letters("I'm 7_b, ok?\x1f no") == ["I", "m", "b", "ok", "no"]
