"""Words and runs of words, as every metric that counts words sees them."""

import re
from collections import Counter
from collections.abc import Sequence

_WORD = re.compile(r"\w+(?:['’]\w+)*")

Tokens = tuple[str, ...]


def tokens(text: str) -> Tokens:
    """Return the words of `text` in lower case, punctuation left out; `don't` is one word."""
    return tuple(_WORD.findall(text.lower()))


def ngrams(words: Sequence[str], n: int) -> Counter[Tokens]:
    """Return how often each run of `n` words occurs."""
    return Counter(zip(*(words[start:] for start in range(n)), strict=False))
