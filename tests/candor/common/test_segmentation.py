"""Words by language (expected words by hand, from ICU 78), and lengths in characters as people see them."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from candor.common.segmentation import (
    MOST_CODE_POINTS,
    characters,
    is_too_long,
    is_unspaced,
    join_words,
    split_words,
    word_places,
)
from server.errors import MessageTooLong
from server.live.converse.socket import parse
from server.session.protocol import MAX_FEEDBACK, MAX_FRAME_BYTES, MAX_SAY, MAX_TOPIC

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


# Each row was read against the rules of Unicode Standard Annex #29. The page's tests have the same table.
TABLE = json.loads((Path(__file__).parents[2] / "data" / "text_lengths.json").read_text("utf-8"))
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"  # 7 code points, 25 bytes
ZALGO = "Z" + "\u0351" * MOST_CODE_POINTS
pieces = st.lists(st.sampled_from([row["text"] for row in TABLE]) | st.characters(codec="utf-8"), max_size=20)


@pytest.mark.parametrize("row", TABLE, ids=[row["what"] for row in TABLE])
def test_a_text_is_as_long_as_people_see_it(row: dict[str, str | int]) -> None:
    assert characters(str(row["text"])) == row["characters"]


@given(pieces, pieces)
def test_lengths_of_lines_add_up(first: list[str], second: list[str]) -> None:
    one, two = "".join(first).rstrip("\r"), "".join(second)
    assert characters(f"{one}\n{two}") == characters(one) + 1 + characters(two)
    assert characters(one) <= len(one)


@given(pieces, st.integers(0, 40))
def test_a_text_is_too_long_with_one_character_more_than_it_may_have(texts: list[str], most: int) -> None:
    text = "".join(texts)
    assert is_too_long(text, most) == (characters(text) > most)


def say(text: str) -> str:
    named = {"type": "say", "id": "m" * 64, "conversation": 3, "attempt": 1, "turn": 98}
    return json.dumps({**named, "text": text}, ensure_ascii=False)


def test_as_many_emoji_of_a_family_as_letters_can_be_sent() -> None:
    assert parse(say(FAMILY * MAX_SAY)).text == FAMILY * MAX_SAY
    with pytest.raises(MessageTooLong, match=f"text: String should have at most {MAX_SAY} characters"):
        parse(say(FAMILY * MAX_SAY + "x"))
    topic = {"type": "topic", "id": "m1", "conversation": 1, "attempt": 1, "opinion": "like"}
    assert parse(json.dumps({**topic, "text": FAMILY * MAX_TOPIC}))


def test_one_character_of_too_many_code_points_is_refused_with_a_reason() -> None:
    assert characters(ZALGO) == 1
    with pytest.raises(MessageTooLong, match=f"text: .* and {MOST_CODE_POINTS} code points"):
        parse(say(ZALGO))
    assert parse(say(ZALGO[:-1]))


@pytest.mark.parametrize("mark", ["\U0001f989", '"', "\\", "\n", "\u0351"])
def test_the_longest_text_fits_into_a_frame_as_a_browser_sends_it(mark: str) -> None:
    # Browsers send characters as they are, four bytes at most, and quotes, backslashes and line feeds as two.
    text = "x" + mark * (MAX_FEEDBACK - 2) + "x" + "\U000e0100" * (MOST_CODE_POINTS - MAX_FEEDBACK)
    frame = json.dumps({"type": "feedback", "id": "m" * 64, "text": text}, ensure_ascii=False)
    assert len(frame.encode()) <= MAX_FRAME_BYTES
    assert parse(frame)
