"""Words of a line: what the systems count, compare and look up."""

import re
from functools import lru_cache
from importlib import resources

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_SENTENCE_END = re.compile(r"(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bDr\.)(?<=[.!?…])[\"')\]]*\s+")

# People type these without the apostrophe.
_TYPED = {
    "im": "i'm", "ive": "i've", "dont": "don't", "cant": "can't", "didnt": "didn't", "doesnt": "doesn't",
    "isnt": "isn't", "wasnt": "wasn't", "thats": "that's", "whats": "what's", "youre": "you're",
    "wouldnt": "wouldn't", "havent": "haven't", "u": "you", "ur": "your", "r": "are", "wont": "won't",
    "theyre": "they're", "couldnt": "couldn't", "hbu": "how about you", "wbu": "what about you",
}  # fmt: skip

STOP_WORDS = frozenset(resources.files("bots").joinpath("data", "stopwords.txt").read_text("utf-8").split())


def words(text: str) -> list[str]:
    """Return the words of `text` in lower case, contractions whole, as in "i'm"."""
    found = _WORD.findall(text.lower().replace("’", "'"))
    return [part for word in found for part in _TYPED.get(word, word).split(" ")]


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return `word` without its commonest endings, so that "loves", "loved" and "loving" are one."""
    base = word.removesuffix("'s")
    for ending, instead, longer_than in (("ies", "y", 4), ("ied", "y", 4), ("ing", "", 5), ("ed", "", 4)):
        if base.endswith(ending) and len(base) > longer_than and _has_vowel(base.removesuffix(ending)):
            return _closed(base.removesuffix(ending) + instead)
    if base.endswith("s") and len(base) > 3 and not base.endswith(("ss", "us", "is")):
        base = base[:-1]
    return _closed(base)


def _has_vowel(text: str) -> bool:
    return any(letter in "aeiouy" for letter in text)


def _closed(base: str) -> str:
    if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "aeiouls":
        return base[:-1]
    return base[:-1] if len(base) > 3 and base.endswith("e") else base


def stems(text: str) -> list[str]:
    """Return the stem of every word of `text`."""
    return [stem(word) for word in words(text)]


def content(text: str) -> list[str]:
    """Return the stems of the words of `text` that carry meaning."""
    return [stem(word) for word in words(text) if word not in STOP_WORDS]


def sentences(text: str) -> list[str]:
    """Return the sentences of `text`, each with the mark that ends it."""
    return [part.strip() for part in _SENTENCE_END.split(text) if _WORD.search(part)]


def overlap(one: str, other: str) -> float:
    """Return the share of distinct stems that two lines have in common (Jaccard): 0 none, 1 all."""
    left, right = set(stems(one)), set(stems(other))
    return len(left & right) / len(left | right) if left | right else 1.0
