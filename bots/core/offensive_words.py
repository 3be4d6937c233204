"""Find offensive words in a line, by the word lists of the package `glin-profanity` (MIT).

The package is maintained and has lists for 24 languages, including those of the worker's page. Only the lists
are used: its own search takes milliseconds a line, and every line is searched while people wait. A list knows
no meaning: it finds words in quotations and in jokes, and misses insults without such a word.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from bots.core.words import ascii_words
from candor.common.segmentation import base_language, is_unspaced

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
# Listed words, in lower case, that a language needs every day. "retard" is a delay in French, "dick"
# thick in German, "slut" the end in Swedish; the Spanish list has hammers (martillo), the French one widows
# (veuve). Without them ordinary talk is flagged. An insult of this kind is missed in that language alone.
_EVERYDAY = {
    "da": "slut tit",
    "de": "bonze butt dick fratze kimme mf mufti möpse nackt poppen rosette wank",
    "es": "asesinato asno concha cum drogas heroína infierno lolita maldito martillo negro orina pinche "
    "quim sexo trio",
    "fr": "baiser bander bosser bourrée bourré cailler chatte cul cum domination drague folle gerbe gerber "
    "intercourse jouir pédale péter ramoner retard tanche trique veuve voyeur",
    "nl": "hoe",
    "pt": "aborto amador aranha burro cerveja cum negro pinto saco torneira",
    "sv": "hård sex slut stake sås",
}
_WORD = re.compile(r"\w+")
_SHORTEST = 2  # letters: one letter occurs in too many lines
# Spellings with other signs, made to evade filters ("a$$"), are left out: their letters alone say nothing.
_SPELLED_OUT = re.compile(r"[\w\s.・'’-]+")


def offensive_words(text: str, language: str) -> tuple[str, ...]:
    """Return the listed words of `language` (a tag) and of English in `text`, in alphabetical order.

    Everyday words of the language are left out, whatever they mean in English. Whole words count, and phrases
    of whole words; in a language without blanks between words, any part of the line in its script counts.
    """
    known = _known(base_language(language))
    if text.isascii() and known.telling.isdisjoint(ascii_words(text)):
        return ()  # as of nearly every line
    plain = _plain(text)
    said = _WORD.findall(plain)
    found: set[str] = set(known.words.intersection(said))
    if not known.openings.isdisjoint(said):
        found |= _phrases_in(said, known)
    if not plain.isascii():
        found.update(part for part in known.parts if part in plain)
    return tuple(sorted(found))


def load_offensive_words(language: str) -> None:
    """Load the lists for a study in `language` in advance: it takes a tenth of a second."""
    _known(base_language(language))


@dataclass(frozen=True, slots=True)
class _Known:
    """The words sought in the lines of a study, sorted by the way they are searched for.

    `words`; `phrases` of 2 up to `longest` words, which begin with one of `openings`; and `parts`, for
    languages without blanks between words, none of which is written in ASCII alone. A line in ASCII that
    contains a word or a phrase has one of the words `telling`.
    """

    words: frozenset[str]
    phrases: frozenset[str]
    openings: frozenset[str]
    longest: int
    parts: tuple[str, ...]
    telling: frozenset[bytes]


@lru_cache
def _known(language: str) -> _Known:
    # Imported here, because most commands need no lists.
    from glin_profanity.data.dictionary import DictionaryLoader  # noqa: PLC0415

    loader = DictionaryLoader()
    whole: set[tuple[str, ...]] = set()
    parts: list[str] = []
    for listed in dict.fromkeys((language, "en")):
        for word in filter(
            _is_telling, map(_plain, loader.get_words(_LISTS[listed]) if listed in _LISTS else ())
        ):
            if is_unspaced(listed) and not word.isascii():
                parts.append(word)
            else:
                whole.add(tuple(_WORD.findall(word)))
    whole -= {(word,) for word in _EVERYDAY.get(language, "").split()}
    phrases = [words for words in whole if len(words) > 1]
    return _Known(
        words=frozenset(words[0] for words in whole if len(words) == 1),
        phrases=frozenset(map(" ".join, phrases)),
        openings=frozenset(words[0] for words in phrases),
        longest=max(map(len, phrases), default=0),
        parts=tuple(parts),
        # Of a phrase its longest word: "how" and "one" stand in every tenth line.
        telling=frozenset(max(words, key=len).encode() for words in whole if "".join(words).isascii()),
    )


def _phrases_in(said: Sequence[str], known: _Known) -> set[str]:
    starts = [at for at, word in enumerate(said) if word in known.openings]
    tried = (" ".join(said[at : at + length]) for at in starts for length in range(2, known.longest + 1))
    return {phrase for phrase in tried if phrase in known.phrases}


def _is_telling(word: str) -> bool:
    return _SPELLED_OUT.fullmatch(word) is not None and sum(map(str.isalpha, word)) >= _SHORTEST


def _plain(text: str) -> str:
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()
