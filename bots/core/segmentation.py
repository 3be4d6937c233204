"""Words of a line in the language that it is written in, such that the line can be put together again.

Where a language has blanks between its words, words are what stands between blanks, as in the published
method. Where it has none, ICU finds them (Unicode Standard Annex 29, with ICU's dictionaries: the annex by
itself makes every Chinese character a word, and every katakana line one).
"""

import re
from collections.abc import Iterable
from functools import lru_cache

# Those whose words ICU has a dictionary or a model for.
_UNSPACED = frozenset({"zh", "yue", "wuu", "ja", "th", "lo", "km", "my"})
_WORD = re.compile(r"\w(?:\S*\w)?")


@lru_cache
def base_language(language: str) -> str:
    """Return the language of a tag without script and region: `zh` of `zh-Hant-TW`."""
    return language.lower().partition("-")[0]


def is_unspaced(language: str) -> bool:
    """Return whether `language`, a tag such as `de` or `zh-TW`, is written without blanks between words."""
    return base_language(language) in _UNSPACED


def split_words(text: str, language: str = "en") -> list[str]:
    """Return the words of `text`, with the marks that stand at them; `join_words` makes the line of them."""
    if not is_unspaced(language):
        return text.split()
    pieces: list[str] = []
    before = ""  # marks before the first word: 「
    for segment in _segments(text, language):
        if has_word(segment):
            pieces.append(before + segment)
            before = ""
        elif pieces and not before and not _opens(segment):
            pieces[-1] += segment
        else:
            before += segment
    return [*pieces, before] if before else pieces


def join_words(words: Iterable[str], language: str = "en") -> str:
    """Return the line that consists of `words`."""
    return ("" if is_unspaced(language) else " ").join(words)


def word_places(text: str, language: str = "en") -> list[tuple[int, int]]:
    """Return where the words of `text` stand, each from its first to its last letter or digit."""
    if not is_unspaced(language):
        return [found.span() for found in _WORD.finditer(text)]
    places, at = [], 0
    for segment in _segments(text, language):
        if has_word(segment):
            places.append((at, at + len(segment)))
        at += len(segment)
    return places


def has_word(text: str) -> bool:
    """Return whether there is a letter or a digit in `text`."""
    return any(mark.isalnum() for mark in text)


def _segments(text: str, language: str) -> Iterable[str]:
    # Loaded where it is needed: most studies are in languages with blanks, and its data are 30 MB.
    from icu4py.breakers import WordBreaker  # noqa: PLC0415

    return WordBreaker(text, language)


def _opens(segment: str) -> bool:
    return segment[:1] in "「『（(《〈“‘【[¿¡"
