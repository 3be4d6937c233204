"""Words that fill the places of others, in a form worked out by hand."""

import pytest

from bots.qc_bots.distorted import filled


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("I like tea, not coffee.", ["I", "My", "MOTHER", "not", "coffee"], "I my mother, not coffee."),
        ("Hello, Paris!", ["cats", "dogs"], "Cats, Dogs!"),
        ("Hello… “Paris”?", ["cats", "I"], "Cats… “I”?"),
        ("NASA is great.", ["cats", "is", "great"], "CATS is great."),
        ("i like tea , not coffee .", ["I'm", "Big", "tea", "not", "coffee"], "i'm big tea , not coffee ."),
        ("You and I agree.", ["You", "and", "table", "agree"], "You and table agree."),
        ("Fine. I agree.", ["Fine", "table", "agree"], "Fine. Table agree."),
        ("One — two\nthree", ["one", "i", "four"], "One — I\nfour"),
    ],
)
def test_words_take_the_case_and_the_marks_of_their_places(
    text: str, words: list[str], expected: str
) -> None:
    assert filled(text, words) == expected
