"""Small talk and topics of simulated workers in languages other than English. Pure.

No corpus of these languages is shipped, so the lines fit the conversation only loosely: a question is
answered with a statement, and a statement with a question or another statement.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from bots.conformance.check_language import check_language
from bots.crowd.talk import OwnChat, Speaker
from candor.common.segmentation import base_language, join_words, split_words

_ASKS = ("?", "？")


@dataclass(frozen=True, slots=True)
class _Topics:
    """The topics in a language, and the line that introduces one."""

    names: tuple[str, ...]
    line: str


_TOPICS = {
    "en": _Topics(
        ("music", "cooking", "dogs", "the weather", "football", "books", "travelling", "work", "films"),
        "What do you think about {topic}?",
    ),
    "de": _Topics(
        ("Musik", "Kochen", "Hunde", "das Wetter", "Fußball", "Bücher", "Reisen", "Arbeit", "Filme"),
        "Was denkst du über das Thema „{topic}“?",
    ),
    "es": _Topics(
        ("música", "cocina", "perros", "el tiempo", "fútbol", "libros", "viajes", "trabajo", "cine"),
        "¿Qué piensas de este tema: {topic}?",
    ),
    "fr": _Topics(
        ("la musique", "la cuisine", "les chiens", "la météo", "le football", "les livres", "les voyages"),
        "Que penses-tu de ce sujet : {topic} ?",
    ),
    "ja": _Topics(
        ("音楽", "料理", "犬", "天気", "サッカー", "本", "旅行", "仕事", "映画"),
        "{topic}についてどう思いますか？",
    ),
    "zh": _Topics(
        ("音乐", "做饭", "狗", "天气", "足球", "书", "旅行", "工作", "电影"), "你觉得{topic}怎么样？"
    ),
}


def speaks(language: str) -> bool:
    """Return whether there are lines and topics in `language`, a tag such as `de` or `zh-TW`."""
    return base_language(language) in _TOPICS


def topics_in(language: str) -> tuple[str, ...]:
    """Return topics in `language`; in English if there are none in that language."""
    return _of(language).names


def topic_line(topic: str, language: str) -> str:
    """Return the line that introduces `topic`."""
    return _of(language).line.format(topic=topic)


def phrase(chat: OwnChat) -> str:
    """Return the next line of small talk in the language of `chat`, without repeats while others are left."""
    lines = check_language(chat.language)
    own = [turn.text for turn in chat.turns if turn.author == "worker"]
    rng = random.Random(f"phrase {chat.seed} {len(own)}")
    if chat.is_new_topic:
        before = () if chat.turns else (rng.choice(lines.openings),)
        return join_words((*before, topic_line(chat.topic, chat.language)), chat.language)
    statements = [line for row in lines.talk for line in row if not line.endswith(_ASKS)]
    questions = [line for row in lines.talk for line in row if line.endswith(_ASKS)]
    asked = chat.turns[-1].text.rstrip().endswith(_ASKS)
    said = _unsaid(statements if asked else [*statements, *questions, *lines.follow_ups], own, rng)
    if chat.manner == "careless":
        return join_words(split_words(said, chat.language)[:3], chat.language).rstrip(".,;:!?。，！？¡¿")
    return said


class InTheLanguage:
    """Speaks English through `english`, and other languages from their lists of lines."""

    def __init__(self, english: Speaker) -> None:
        self._english = english

    async def say(self, chat: OwnChat) -> str:
        """Return the worker's next line; it is English in a language without lines."""
        if base_language(chat.language) == "en" or not speaks(chat.language):
            return await self._english.say(chat)
        return phrase(chat)


def without_lines(language: str) -> str | None:
    """Return a warning about simulated workers in a study in `language`; None for English."""
    if base_language(language) == "en":
        return None
    if speaks(language):
        return f"The study is in {language}: the workers' lines in it hardly respond to the bot's lines."
    return f"The study is in {language}, for which there are no lines: the workers wrote English."


def _of(language: str) -> _Topics:
    return _TOPICS.get(base_language(language), _TOPICS["en"])


def _unsaid(lines: Sequence[str], said: Sequence[str], rng: random.Random) -> str:
    return rng.choice([line for line in lines if line not in said] or list(lines))
