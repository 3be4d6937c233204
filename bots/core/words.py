"""Split lines into words for counting, comparing and looking up."""

import re
from functools import lru_cache
from importlib import resources

import snowballstemmer

# Words are found in bytes: a regular expression takes five times as long.
_SMALL = [bytes([sign]).lower() for sign in range(256)]  # of bytes, those of ASCII alone are letters
_WORDS = b"".join(sign if sign.isalnum() or sign == b"_" else b" " for sign in _SMALL)
_LETTERS = b"".join(sign if sign.isalpha() else b" " for sign in _SMALL)


def ascii_words(text: str) -> list[bytes]:
    """Return the runs of ASCII letters, digits and underscores in `text`, in lower case."""
    return text.encode("ascii", "replace").translate(_WORDS).split()


def ascii_letters(text: str) -> list[bytes]:
    """Return the runs of ASCII letters in `text`, in lower case."""
    return text.encode("ascii", "replace").translate(_LETTERS).split()


LINES = 8_192  # size of the bots' caches of results by line

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_SENTENCE_END = re.compile(r"(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bDr\.)(?<=[.!?…])[\"')\]]*\s+")

# Common typed forms of contractions, and abbreviations.
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
    """Return the stem of `word` (Snowball's English stemmer), so that "loves", "loved" and "loving" are one.

    A stemmer holds its current word, and bots run in several threads, so every call makes its own.
    """
    return str(snowballstemmer.stemmer("english").stemWord(word))


def stems(text: str) -> list[str]:
    """Return the stem of every word of `text`."""
    return [stem(word) for word in words(text)]


def content(text: str) -> list[str]:
    """Return the stems of the content words of `text` (without stop words)."""
    return [stem(word) for word in words(text) if word not in STOP_WORDS]


@lru_cache(maxsize=LINES)
def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of `text`, each with its final punctuation."""
    return tuple(part.strip() for part in _SENTENCE_END.split(text) if _WORD.search(part))


def overlap(one: str, other: str) -> float:
    """Return the share of distinct stems that two lines have in common (Jaccard): 0 none, 1 all."""
    left, right = set(stems(one)), set(stems(other))
    return len(left & right) / len(left | right) if left | right else 1.0
