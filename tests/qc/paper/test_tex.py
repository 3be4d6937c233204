"""Text of people in LaTeX: whatever they write, it stays text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qc.paper.tex import comment, escaped

# Every command and sign that may stand in escaped text; what is left of it after these is plain.
ALLOWED = re.compile(
    r"\\(?:textbackslash|textless|textgreater|textbar|ldots|ss|ae|AE|oe|OE|o|O|l|L|i)\{\}"
    r"|\\[{}$&#%_]"
    r"|\\[\^~`]\{\}"
    r"|\\[`'^~=u.\"rHvc]\{(?:[A-Za-z]|\\[ij])\}"
    r"|\$(?:-|\\[A-Za-z]+)\$"
    r"|\{\}|~"
)
COMMANDS = set("\\{}$&#%_^~")


@given(st.text())
def test_nothing_that_people_write_is_a_command(text: str) -> None:
    left = ALLOWED.sub("", escaped(text))
    assert not COMMANDS & set(left)
    assert left.isascii()
    assert "\n" not in left


@given(
    st.text(st.characters(min_codepoint=32, max_codepoint=126, blacklist_characters="\\{}$&#%_^~<>|\"`-,'?!"))
)
def test_plain_words_stay_as_they_are(text: str) -> None:
    assert escaped(text) == " ".join(text.split())


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (r"50% & \more_", r"50\% \& \textbackslash{}more\_"),
        ("a--b", "a-{}-b"),
        ("?\u2018 ?`", r"?{}` ?\`{}"),
        ("−0.5 – 1", "$-$0.5 -- 1"),
        ("Gödel, fiancé, İ", r"G\"{o}del, fianc\'{e}, \.{I}"),
        ("ρ = í", r"$\rho$ = \'{\i}"),
        ("北 🙂", "[U+5317] [U+1F642]"),
        ("  two\nlines ", "two lines"),
        ("", ""),
    ],
)
def test_what_is_written(text: str, written: str) -> None:
    assert escaped(text) == written


def test_a_comment_does_not_end_early() -> None:
    assert comment(["a\nb\r\u2028c é", "d"]) == "% a b c \\xe9\n% d\n"
