"""Lines of builtin systems are spaced and cased like written English, and nothing of them is lost."""

import pytest

from bots.shown import written


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("i ' m", "I ' m"),
        ("i do n't know what you 're saying , sorry .", "I don't know what you're saying, sorry."),
        ("IT IS N'T , SO", "IT ISN'T, SO"),
        ("do n't 's", "Don't 's"),  # what has been joined is not joined again
        ("well 'so' it is", "Well 'so' it is"),
        ("hi . i am here ! are you ? ok", "Hi. I am here! Are you? Ok"),
        ("Hi. i am here! are you?", "Hi. I am here! are you?"),  # with a capital, only the pronoun is cased
        ("wait ... what", "Wait... what"),
        ("( i , i'm or i'd ) and wi-fi i_x", "( I, I'm or I'd) and wi-fi i_x"),
        ("\u00e9 \u01c5 a. b", "\u00c9 \u01c5 a. B"),  # a title-case letter is no capital
        ("one\ttwo\n three\x00\x1b four\x85five", "One two three four five"),
        ("", ""),
    ],
)
def test_a_line_is_written(text: str, line: str) -> None:
    assert written(text) == line
