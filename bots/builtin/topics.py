"""Topics of small talk: a hand-made list with their words."""

import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from types import MappingProxyType

from bots.core.words import LINES, stem, words


@dataclass(frozen=True, slots=True)
class SmalltalkTopic:
    """A topic: its name in a sentence, how lines touch it, what answers may be about, what to ask.

    `general` are the stems that name all of it.
    """

    name: str
    label: str
    stems: frozenset[str]
    general: frozenset[str]
    phrases: tuple[str, ...]
    answer: re.Pattern[str] | None
    includes: tuple[str, ...]
    questions: tuple[str, ...]


def _load() -> dict[str, SmalltalkTopic]:
    content = tomllib.loads(resources.files("bots").joinpath("data", "topics.toml").read_text("utf-8"))
    return {
        name: SmalltalkTopic(
            name,
            entry["label"],
            frozenset(stem(word) for word in entry["words"].split()),
            frozenset(stem(word) for word in f"{name} {entry['label']} {entry.get('general', '')}".split()),
            tuple(entry.get("phrases", ())),
            re.compile(entry["answer"]) if "answer" in entry else None,
            tuple(entry.get("includes", ())),
            tuple(entry["ask"]),
        )
        for name, entry in content.items()
    }


TOPICS = MappingProxyType(_load())

_BY_STEM: dict[str, tuple[str, ...]] = {}
for _topic in TOPICS.values():
    for _stem in _topic.stems:
        _BY_STEM[_stem] = (*_BY_STEM.get(_stem, ()), _topic.name)


@lru_cache(maxsize=LINES)
def topics_of(text: str) -> tuple[str, ...]:
    """Return the names of the topics that `text` touches, the one touched by most words first."""
    said = words(text)
    plain = " ".join(said)
    counts = Counter(name for word in said for name in _BY_STEM.get(stem(word), ()))
    for topic in TOPICS.values():
        if any(phrase in plain for phrase in topic.phrases):
            counts[topic.name] += 2
    return tuple(name for name, _ in counts.most_common())
