"""Sort topics into areas such as pets or food, by the words that workers typed.

Source of the idea: Ji, PhD thesis, section 6.2 (performance by the domain of the topic). The areas and their
words are ours (`topic_areas.toml`), and English.
"""

import re
import tomllib
from functools import cache
from importlib import resources

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.run import REMOVED

OTHER = "other"


@cache
def area_names() -> tuple[str, ...]:
    """Return the names of the areas; `OTHER` is the last."""
    return (*_words(), OTHER)


def topic_areas(sample: Sample) -> NDArray[np.intp] | None:
    """Return the area of each conversation's opening topic, as an index of `area_names`, (conversations,).

    −1 if it has none, or its text was removed. Return None if the source holds no topics.
    """
    words = sample.run.words
    if words is None:
        return None
    opening = words.topics[words.topics["round"] == 0].drop_duplicates("conversation")
    known = opening[opening["topic"].notna() & (opening["topic"] != REMOVED)]
    found = np.full(len(sample.workers), -1, np.intp)
    found[known["conversation"].to_numpy(np.intp)] = areas_of(known["topic"])
    return found if len(known) else None


def areas_of(topics: pd.Series) -> NDArray[np.intp]:
    """Return the area of each topic, as an index of `area_names`: that of its first known word."""
    codes, distinct = pd.factorize(topics)
    return np.array([_area(str(topic)) for topic in distinct], np.intp)[codes]


def _area(topic: str) -> int:
    found = _pattern().search(topic.lower())
    return len(area_names()) - 1 if found is None else _by_word()[re.sub(r"[\s-]+", "-", found[1])]


@cache
def _pattern() -> re.Pattern[str]:
    # Longer words first, so that "video game" is not "game".
    known = sorted(_by_word(), key=lambda word: (-len(word), word))
    either = "|".join(word.replace("-", r"[\s-]+") for word in known)
    return re.compile(rf"(?<![^\W\d_])({either})(?:s|es)?(?![^\W_])")


@cache
def _by_word() -> dict[str, int]:
    """Return the area of each word; a word of two areas belongs to the first."""
    pairs = [(word, area) for area, words in enumerate(_words().values()) for word in words]
    return dict(reversed(pairs))


@cache
def _words() -> dict[str, tuple[str, ...]]:
    text = resources.files("qc.method").joinpath("topic_areas.toml").read_text(encoding="utf-8")
    return {name: tuple(words.split()) for name, words in tomllib.loads(text).items()}
