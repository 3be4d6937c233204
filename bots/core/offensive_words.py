"""Words of a line that should not have been said, by the word lists of the package `glin-profanity` (MIT).

It has lists of 24 languages, those of the worker's page among them, and is kept up. Only the lists are used:
its own search takes milliseconds a line, and this one is asked about every line while people wait. A list
knows no meaning: it finds words in quotations and in jokes, and misses whatever hurts without such a word.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from bots.core.segmentation import base_language, is_unspaced

_LISTS = {
    "ar": "arabic",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "en": "english",
    "eo": "esperanto",
    "es": "spanish",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "hi": "hindi",
    "hu": "hungarian",
    "it": "italian",
    "ja": "japanese",
    "ko": "korean",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ru": "russian",
    "sv": "swedish",
    "th": "thai",
    "tr": "turkish",
    "zh": "chinese",
}
_WORD = re.compile(r"\w+")
_SHORTEST = 2  # letters: one is in too many lines
# What is spelled with other signs to slip by a filter ("a$$") is left out: its letters alone say nothing.
_SPELLED_OUT = re.compile(r"[\w\s.・'’-]+")


def offensive_words(text: str, language: str) -> tuple[str, ...]:
    """Return the listed words in `text`, in order of the alphabet; of `language`, a tag, and of English.

    Whole words count, and phrases of them; in a language without blanks between words, any part of the line
    that is written in its letters.
    """
    plain = _plain(text)
    said = _WORD.findall(plain)
    found: set[str] = set()
    for known in _lists(language):
        for length in range(1, known.longest + 1):
            phrases = (" ".join(said[at : at + length]) for at in range(len(said) - length + 1))
            found.update(phrase for phrase in phrases if phrase in known.phrases)
        found.update(part for part in known.parts if part in plain)
    return tuple(sorted(found))


def load_offensive_words(language: str) -> None:
    """Have the lists for a study in `language` at hand before anybody waits: it takes a tenth of a second."""
    _lists(language)


@dataclass(frozen=True, slots=True)
class _Known:
    """A language's list: phrases of up to `longest` words, or parts of lines that tell no words apart."""

    phrases: frozenset[str]
    parts: tuple[str, ...]
    longest: int


def _lists(language: str) -> list["_Known"]:
    return [_known(listed) for listed in dict.fromkeys((base_language(language), "en"))]


@lru_cache
def _known(language: str) -> _Known:
    # Loaded where it is needed: most commands need no lists.
    from glin_profanity.data.dictionary import DictionaryLoader  # noqa: PLC0415

    words = DictionaryLoader().get_words(_LISTS[language]) if language in _LISTS else []
    listed = [word for word in map(_plain, words) if _is_telling(word)]
    parts = tuple(word for word in listed if is_unspaced(language) and not word.isascii())
    split = [_WORD.findall(word) for word in listed if word not in parts]
    phrases = frozenset(" ".join(word) for word in split)
    return _Known(phrases, parts, max((len(word) for word in split), default=0))


def _is_telling(word: str) -> bool:
    return _SPELLED_OUT.fullmatch(word) is not None and sum(map(str.isalpha, word)) >= _SHORTEST


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
