"""Space and capitalise a builtin system's reply like written English.

Corpora such as ConvAI2 are lower case with a space before every punctuation mark. All systems, and the QC
bot, format their text in the same way, so that its looks do not tell which one is speaking.
"""

import re
import unicodedata

LONGEST = 300

_SPACE_BEFORE = re.compile(r" (?=[,.;:!?…%)\]])")
_AT_CONTRACTION = re.compile(r" (?:'|n't)", re.IGNORECASE)  # a quick test, which nearly always fails
_SPLIT_CONTRACTION = re.compile(r"\b(\w+)\s+('(?:s|m|re|ve|ll|d|t)|n't)\b", re.IGNORECASE)
_AFTER_SENTENCE = re.compile(r"((?<!\.)[.!?]\s+)([a-z])")
_LONE_I = re.compile(r"i(?<!\wi)\b(?=$|\s|[,.;:!?]|'(?:m|ve|ll|d)\b)")
_SENTENCE_END = re.compile(r"[.!?…](?=\s)")


def present(text: str) -> str:
    """Return `text` formatted by `written` and cut to at most `LONGEST` characters."""
    return shorten(written(text))


def written(text: str) -> str:
    """Return `text` as one line with normal spacing and capitals; no word of it is left out.

    Text in this form is returned unchanged.
    """
    line = _SPACE_BEFORE.sub("", " ".join(_without_controls(text).split()))
    if _AT_CONTRACTION.search(line) is not None:
        line = _SPLIT_CONTRACTION.sub(r"\1\2", line)
    if not has_capitals(line):
        line = _AFTER_SENTENCE.sub(lambda found: found[1] + found[2].upper(), line)
    line = _LONE_I.sub("I", line)
    return line[:1].upper() + line[1:]


def has_capitals(line: str) -> bool:
    """Return whether any letter of `line` is a capital."""
    return line.lower() != line if line.isascii() else any(mark.isupper() for mark in line)


def _without_controls(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(mark for mark in text if unicodedata.category(mark) != "Cc" or mark.isspace())


def shorten(line: str, longest: int = LONGEST) -> str:
    """Return `line` cut to `longest` characters, after a sentence if one ends in its second half."""
    if len(line) <= longest:
        return line
    ends = [found.end() for found in _SENTENCE_END.finditer(line, 0, longest + 1) if found.end() <= longest]
    if ends and ends[-1] >= longest // 2:
        return line[: ends[-1]]
    return line[: longest - 1].rsplit(" ", 1)[0].rstrip(" ,;:-") + "…"
