"""Tests of word segmentation by language; expected words by hand, from ICU 78."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from candor.common.segmentation import is_unspaced, join_words, split_words, word_places

LINES = [
    ("en", "I don't like it, so-so.", ["I", "don't", "like", "it,", "so-so."]),
    ("de", "Ich backe gern Kuchen!", ["Ich", "backe", "gern", "Kuchen!"]),
    ("es", "¿Qué tal? Muy bien.", ["¿Qué", "tal?", "Muy", "bien."]),
    ("zh", "我今天下班以后去超市。", ["我", "今天", "下班", "以后", "去", "超市。"]),
    ("zh-TW", "我今天去學校上課。", ["我", "今天", "去", "學校", "上課。"]),
    ("zh", "他说:「你好」,走了。", ["他", "说:", "「你好」,", "走了。"]),
    ("ja", "昨日は友達と映画を見た。", ["昨日", "は", "友達", "と", "映画", "を", "見", "た。"]),
    ("th", "ฉันรักเมืองไทย", ["ฉัน", "รัก", "เมือง", "ไทย"]),
]


@pytest.mark.parametrize(("language", "line", "words"), LINES)
def test_words_by_language(language: str, line: str, words: list[str]) -> None:
    assert split_words(line, language) == words
    assert join_words(words, language) == line


@given(st.text(st.sampled_from("我今天去超市。,「」 a1\n"), max_size=40))
def test_a_line_without_blanks_is_the_sum_of_its_words(line: str) -> None:
    assert join_words(split_words(line, "zh"), "zh") == line


@pytest.mark.parametrize("language", ["en", "zh", "ja"])
@given(line=st.text(max_size=60))
def test_words_stand_where_they_are_said_to(language: str, line: str) -> None:
    places = word_places(line, language)
    assert sorted(places) == places
    assert all(start < end for start, end in places)
    assert all(one[1] <= other[0] for one, other in pairwise(places))


@pytest.mark.parametrize(
    ("tag", "unspaced"), [("zh", True), ("zh-Hant-TW", True), ("JA", True), ("de-AT", False), ("ko", False)]
)
def test_which_languages_have_no_blanks(tag: str, unspaced: bool) -> None:
    assert is_unspaced(tag) == unspaced
