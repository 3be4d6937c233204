"""Words of the lists are found in whichever language a study is, and hardly in what people mean well."""

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots import load_corpus
from bots.conformance.script import check_language
from bots.core.offensive_words import offensive_words
from bots.crowd.talk import topic_line, topics_in

# Words, and phrases in pieces, of the English, the German and the French list.
LISTED = "fucking SHIT Arschloch putain merde son of a bitch blow job eat hair pie hell"


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        ("You are a fucking idiot.", "en", {"fucking"}),
        ("FUCKING. Hell", "en-GB", {"fucking"}),
        ("Du bist ein Arschloch!", "de", {"arschloch"}),
        ("Eres un hijo de puta", "es", {"hijo de puta", "puta"}),
        ("Putain de merde", "fr", {"merde", "putain"}),
        ("你他妈的傻逼", "zh-TW", {"傻逼"}),
        ("Das ist fucking gut", "de", {"fucking"}),  # English words are said in every language
    ],
)
def test_it_is_found(text: str, language: str, found: set[str]) -> None:
    assert found <= set(offensive_words(text, language))


@pytest.mark.parametrize("language", ["en", "de", "fr", "ja"])
@given(
    line=st.lists(st.sampled_from([*LISTED.split(), "How", "one,", "a_b", "it."]), max_size=8).map(" ".join)
)
def test_lines_in_ascii_are_looked_at_in_another_way_with_the_same_result(language: str, line: str) -> None:
    assert offensive_words(line, language) == offensive_words(f"{line} é", language)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I live in Scunthorpe, and my classic car is in Essex.", "en"),
        ("That assassin passed the bass to an analyst.", "en"),
        ("Ich wohne in Fucking, das heißt heute Fugging, nicht.", "xx"),
        ("我很喜欢这本书，你呢？", "zh"),
        ("週末に東京へ行きました。", "ja"),
        ("", "en"),
    ],
)
def test_what_only_looks_like_it_is_not(text: str, language: str) -> None:
    assert not {word for word in offensive_words(text, language) if word != "fucking"}


def test_ordinary_small_talk_has_hardly_any() -> None:
    # The English list has "a$$", whose letters alone are every second line's.
    lines = [turn for dialogue in load_corpus("builtin:smalltalk").dialogues for turn in dialogue.turns]
    flagged = [line for line in lines if offensive_words(line, "en")]
    assert len(flagged) <= 0.005 * len(lines), flagged


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Il y a du retard dans le métro, au fond d’un cul de sac.", "fr"),
        ("Sa veuve a une chatte et une gerbe de fleurs.", "fr-CA"),
        ("Das Buch ist sehr dick, und der Baum ist nackt.", "de"),
        ("El gato negro duerme junto al martillo y a la concha.", "es"),
        ("Filmen är slut klockan sex.", "sv"),
        ("Hoe gaat het?", "nl"),
    ],
)
def test_everyday_words_of_a_language_are_none_whatever_they_mean_in_english(
    text: str, language: str
) -> None:
    assert offensive_words(text, language) == ()


@pytest.mark.parametrize("word", ["retard", "dick", "negro", "slut"])
def test_they_are_elsewhere(word: str) -> None:
    assert offensive_words(word, "en") == (word,)


@pytest.mark.parametrize("language", ["de", "es", "fr", "ja", "zh"])
def test_ordinary_talk_of_each_language_of_the_page_has_hardly_any(language: str) -> None:
    of_bots = check_language(language)
    rows = (*of_bots.talk, *of_bots.questions, of_bots.openings, of_bots.follow_ups, of_bots.goodbyes)
    lines = [*chain.from_iterable(rows), *(topic_line(each, language) for each in topics_in(language))]
    flagged = [line for line in lines if offensive_words(line, language)]
    assert len(flagged) <= 0.005 * len(lines), flagged


@pytest.mark.parametrize(
    ("text", "language"),
    [("スマホはsmallです。", "ja"), ("我今年13.5岁。", "zh"), ("Sadece 18+ filmler.", "tr")],
)
def test_letters_and_numbers_inside_of_others_are_none(text: str, language: str) -> None:
    assert offensive_words(text, language) == ()


def test_every_language_of_the_page_has_a_list() -> None:
    for language in ("en", "de", "es", "fr", "ja", "zh"):
        assert offensive_words(_ONE_OF_EACH[language], language), language


_ONE_OF_EACH = {
    "en": "shit",
    "de": "scheiße",
    "es": "mierda",
    "fr": "merde",
    "ja": "ちんこ",
    "zh": "傻逼",
}
