"""Words and characters of whole columns are those that Python counts one text at a time."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qc.statistics import text
from qc.statistics.text import text_lengths

EVERY_SPACE = [chr(code) for code in range(0x110000) if chr(code).isspace()]
# Neighbours in bytes: a character of one byte, and others that begin as wide white space does but are none.
NEARLY_SPACE = ["a", "\x1b", "\x00", "£", "\u200b", "\u180e", "\u2060", "’", "\u3001", "é", "😀", "ᚁ"]


def expected(texts: list[str]) -> tuple[list[int], list[int]]:
    words = [len(one.split()) for one in texts]
    return words, [sum(not char.isspace() for char in one) for one in texts]


def counted(texts: list[str]) -> tuple[list[int], list[int]]:
    lengths = text_lengths(pd.Series(texts, dtype=str))
    assert lengths.words.dtype == lengths.characters.dtype == np.int32
    return lengths.words.tolist(), lengths.characters.tolist()


@given(st.lists(st.text(st.sampled_from(EVERY_SPACE + NEARLY_SPACE) | st.characters(codec="utf-8"))))
def test_any_text_is_counted_as_python_counts_it(texts: list[str]) -> None:
    assert counted(texts) == expected(texts)


@pytest.mark.parametrize("space", EVERY_SPACE, ids=lambda char: f"U+{ord(char):04X}")
def test_each_white_space_of_unicode_parts_words(space: str) -> None:
    # "a" and "b": two words, two characters; then one, between white space; then nothing.
    assert counted([f"a{space}b", f"{space}ab{space}", space]) == ([2, 1, 0], [2, 2, 0])


def test_words_do_not_join_across_texts_or_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["one", "two three", "", " four", "five ", "", "six\u3000seven", "é"] * 3
    whole = counted(texts)
    monkeypatch.setattr(text, "BLOCK", 5)
    assert counted(texts) == whole == expected(texts)


def test_columns_cut_from_longer_ones() -> None:
    column = pd.Series(["left out\u3000here", "a b", "", "c"], dtype=str)
    assert text_lengths(column.iloc[1:]).words.tolist() == [2, 0, 1]
    assert text_lengths(column.iloc[[3, 1]]).words.tolist() == [1, 2]


def test_a_missing_text_has_no_words_and_an_empty_column_no_counts() -> None:
    missing = text_lengths(pd.Series(["a b", None, "c"], dtype=str))
    assert missing.words.tolist() == [2, 0, 1]
    assert missing.characters.tolist() == [2, 0, 1]
    assert counted([]) == ([], [])
    assert counted(["", ""]) == ([0, 0], [0, 0])
