"""Split a text into words or characters by its language, and guess that language.

In a language with blanks between words, words are separated by blanks, as in the published method. In other
languages, ICU finds the words (Unicode Standard Annex 29, with ICU's dictionaries: without them, the annex
makes every Chinese character a word, and every katakana line one word).

Characters are grapheme clusters, as readers see them (the same annex): an emoji of a family is one character.
ICU finds them here and, by the same data, in browsers, so that the worker's page counts as the server does.
Older or newer browsers may count some characters differently; the server decides.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

# Languages for which ICU has a dictionary or a model of words.
_UNSPACED = frozenset({"zh", "yue", "wuu", "ja", "th", "lo", "km", "my"})
_WORD = re.compile(r"\w(?:\S*\w)?")


@lru_cache
def base_language(language: str) -> str:
    """Return the language of a tag without script and region: `zh` for `zh-Hant-TW`."""
    return language.lower().partition("-")[0]


def is_unspaced(language: str) -> bool:
    """Return whether `language`, a tag such as `de` or `zh-TW`, is written without blanks between words."""
    return base_language(language) in _UNSPACED


def split_words(text: str, language: str = "en") -> list[str]:
    """Return the words of `text`, with adjacent punctuation; `join_words` restores the line."""
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
    """Return the start and end of each word of `text`, from its first to its last letter or digit."""
    if not is_unspaced(language):
        return [found.span() for found in _WORD.finditer(text)]
    places, at = [], 0
    for segment in _segments(text, language):
        if has_word(segment):
            places.append((at, at + len(segment)))
        at += len(segment)
    return places


def has_word(text: str) -> bool:
    """Return whether `text` contains a letter or a digit."""
    return any(mark.isalnum() for mark in text)


def _segments(text: str, language: str) -> Iterable[str]:
    # Imported here, because most studies are in languages with blanks, and its data are 30 MB.
    from icu4py.breakers import WordBreaker  # noqa: PLC0415

    return WordBreaker(text, language)


def _opens(segment: str) -> bool:
    return segment[:1] in "「『（(《〈“‘【[¿¡"


# Large languages only: their small relatives would be found in every second short line.
_LANGUAGES = frozenset({
    "ar", "bg", "ca", "cs", "da", "de", "el", "en", "es", "et", "fa", "fi", "fr", "he", "hi", "hr",
    "hu", "id", "it", "ja", "ko", "lt", "lv", "nl", "no", "pl", "pt", "ro", "ru", "sk", "sl", "sv",
    "sw", "ta", "th", "tr", "uk", "ur", "vi", "zh",
})  # fmt: skip
_RELATIVES = {"nb": "no", "nn": "no", "yue": "zh", "wuu": "zh", "bs": "hr", "sr": "hr", "ms": "id"}
_LEAST_WIDTH = 10  # letters; a Chinese character counts as three
# Nats by which another language must be likelier. With this margin, none of 3,209 English lines of ConvAI2
# and of the shipped corpus is taken for another language, and all but two of 144 lines in four other
# languages are told from English.
_MARGIN = 12.0


def foreign_language(line: str, language: str) -> str | None:
    """Return the language of `line` if it is surely not `language` (a tag), else None.

    The first call loads a model, which takes about a second; call it outside of an event loop.
    """
    name = base_language(language)
    expected = _RELATIVES.get(name, name)
    if sum(3 if ord(mark) > 0x2E80 else 1 for mark in line if mark.isalpha()) < _LEAST_WIDTH:
        return None
    likelihoods = dict(_identifier(expected).rank(line))
    if expected not in likelihoods:
        return None  # a language that the model does not know
    best = max(likelihoods, key=likelihoods.__getitem__)
    return best if likelihoods[best] - likelihoods[expected] > _MARGIN else None


@lru_cache(maxsize=8)
def _identifier(expected: str) -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415 - see `foreign_language`

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE)
    known = set(identifier.nb_classes)
    identifier.set_languages(sorted((_LANGUAGES | {expected}) & known))
    return identifier


# The limit for any text, because a character can have any number of code points. 1,000 emoji of a family of
# four fit. In UTF-8 that is at most 28,000 bytes, which leaves room in a page's frame for more.
MOST_CODE_POINTS = 7_000


def characters(text: str) -> int:
    """Return the number of characters that a reader of `text` sees; it must have no lone surrogates."""
    # Imported only if needed: its data are 30 MB.
    from icu4py.breakers import CharacterBreaker  # noqa: PLC0415

    return sum(1 for _ in CharacterBreaker(text, "en").segments())


def is_too_long(text: str, most: int) -> bool:
    """Return whether a text has more than `most` characters, or too many code points."""
    points = len(text)  # each character has at least one, so most texts need no counting
    return points > MOST_CODE_POINTS or (points > most and characters(text) > most)


@dataclass(frozen=True, slots=True)
class MostCharacters:
    """Limit a text to `most` characters as readers see them; an annotation of a field."""

    most: int

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._checked, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return handler(schema) | {"maxLength": MOST_CODE_POINTS, "maxCharacters": self.most}

    def _checked(self, text: str) -> str:
        if is_too_long(text, self.most):
            reason = "String should have at most {max_length} characters, and {code_points} code points"
            limits = {"max_length": self.most, "code_points": MOST_CODE_POINTS}
            raise PydanticCustomError("string_too_long", reason, limits)
        return text
