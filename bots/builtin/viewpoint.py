"""Saying a worker's words from the other side: "my dog bit me" becomes "your dog bit you"."""

import re

_SWAPPED = {
    "i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself", "i'm": "you're",
    "i've": "you've", "i'd": "you'd", "i'll": "you'll", "am": "are", "you": "I", "your": "my",
    "yours": "mine", "yourself": "myself", "you're": "I'm", "you've": "I've", "you'd": "I'd",
    "you'll": "I'll", "we": "you", "us": "you", "our": "your", "ours": "yours", "we're": "you're",
    "we've": "you've", "ourselves": "yourselves",
}  # fmt: skip
_WORD = re.compile(r"[\w']+")
_OBJECT_YOU = re.compile(r"\b(to|for|with|about|of|from|at|than|tell|ask|help|see|like|love|know|hate) I\b")
_I_WAS = re.compile(r"\b(?:i|I) was\b")
_ARE_AFTER_I = re.compile(r"\bI are\b")


def mirrored(text: str) -> str:
    """Return `text` with the first and the second person exchanged."""
    plain = _I_WAS.sub("i were", text.replace("’", "'"))
    swapped = _WORD.sub(lambda found: _SWAPPED.get(found[0].lower(), found[0]), plain)
    return _ARE_AFTER_I.sub("I am", _OBJECT_YOU.sub(r"\1 me", swapped))
