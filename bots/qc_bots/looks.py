"""Fit the case and punctuation of a word to the place that it fills."""

from collections.abc import Sequence

from bots.core.segmentation import base_language, word_places

_SENTENCE_ENDS = frozenset(".!?…。！？")


def words_as_written(text: str, language: str = "en") -> list[str]:
    """Return the words of `text`, each from its first to its last letter or digit."""
    return [text[start:end] for start, end in word_places(text, language)]


def filled(text: str, words: Sequence[str], language: str = "en") -> str:
    """Return `text` with `words` in the places of its own; those that are new take the looks of the place."""
    return _filled(text, word_places(text, language), words, language)


def _filled(text: str, places: Sequence[tuple[int, int]], words: Sequence[str], language: str) -> str:
    cased = any(mark.isupper() for mark in text)
    parts, at = [], 0
    for (start, end), word in zip(places, words, strict=True):
        old = text[start:end]
        parts += [text[at:start], word if word == old else _like(old, text[:start], word, cased, language)]
        at = end
    return "".join([*parts, text[at:]])


def _like(old: str, before: str, word: str, cased: bool, language: str) -> str:
    """Return `word` in the case of the place of `old`, that `before` stands before.

    A lone "I" is a capital by its own right; so is, in German, the first letter of a noun.
    """
    before = before.rstrip()
    begins = not before or before[-1] in _SENTENCE_ENDS
    english = base_language(language) == "en"
    if cased and english and _is_i(word):
        return word[:1].upper() + word[1:]
    if sum(mark.isalpha() for mark in old) > 1 and old.isupper():
        return word.upper()
    if cased and base_language(language) == "de":
        return word[:1].upper() + word[1:] if begins else word
    if old[:1].isupper() and (begins or not (english and _is_i(old))):
        return word[:1].upper() + word[1:].lower()
    return word.lower()


def _is_i(word: str) -> bool:
    return word[:1] in {"i", "I"} and (len(word) == 1 or word[1] in {"'", "’"})
