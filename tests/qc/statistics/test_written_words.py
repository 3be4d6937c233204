"""Words are counted in scripts with and without blanks; characters are the same either way."""

import pandas as pd
import pytest

from qc.statistics.text import text_lengths, written_lengths


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("We went home, at last.", 5),
        ("Wir gingen endlich nach Hause – spät.", 7),  # the dash stands between blanks
        ("¿Qué tal estás, José?", 4),
        # 我 今天 下班 以后 去 超市 买 水果: eight; marks are none.
        ("我今天下班以后去超市买水果。", 8),
        # 昨日 は 友達 と 映画 を 見 た: eight.
        ("昨日は友達と映画を見た。", 8),
        ("ฉันชอบกินข้าว", 4),  # ฉัน ชอบ กิน ข้าว
        ("我喜欢 jazz music。", 4),
        ("。", 1),  # no script by itself: what stands between white space
        ("", 0),
    ],
)
def test_words_by_script(text: str, words: int) -> None:
    texts = pd.Series(["a b", text, None], dtype=str)
    found = written_lengths(texts)
    assert found.words.tolist() == [2, words, 0]
    assert found.characters.tolist() == text_lengths(texts).characters.tolist()


def test_where_no_script_lacks_blanks_words_are_those_of_the_published_method() -> None:
    texts = pd.Series(["Hi there", "naïve café", None, "", "“well” – no", "😀 ok"], dtype=str)
    assert written_lengths(texts).words.tolist() == text_lengths(texts).words.tolist()


def test_a_column_cut_from_a_longer_one() -> None:
    texts = pd.Series(["left out", "你好吗", "a b c"], dtype=str).iloc[1:]
    assert written_lengths(texts).words.tolist() == [2, 3]
    assert written_lengths(texts.iloc[:0]).words.tolist() == []
