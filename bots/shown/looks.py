"""Looks of a line: spacing, capitals and invisible characters, so that they do not tell which bot speaks.

Corpora such as ConvAI2 are lower case with a space before every punctuation mark. All builtin systems, and
the QC bot, write their text like English prose (`present`). A model's output keeps its own prose (`visible`).
"""

import re
import unicodedata

LONGEST = 300

_SPACE_BEFORE = re.compile(r" (?=[,.;:!?…%)\]])")
_AT_CONTRACTION = re.compile(r" (?:'|n't)", re.IGNORECASE)  # a quick test, which nearly always fails
_SPLIT_CONTRACTION = re.compile(r"\b(\w+)\s+('(?:s|m|re|ve|ll|d|t)|n't)\b", re.IGNORECASE)
_AFTER_SENTENCE = re.compile(r"((?<!\.)[.!?]\s+)([a-z])")
_LONE_I = re.compile(r"i(?<!\wi)\b(?=$|\s|[,.;:!?]|'(?:m|ve|ll|d)\b)")
_SENTENCE_BREAK = re.compile(r"[.!?…](?=\s)")


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
    ends = [found.end() for found in _SENTENCE_BREAK.finditer(line, 0, longest + 1) if found.end() <= longest]
    if ends and ends[-1] >= longest // 2:
        return line[: ends[-1]]
    return line[: longest - 1].rsplit(" ", 1)[0].rstrip(" ,;:-") + "…"


# Control characters other than white space, halves of surrogate pairs, characters without width that join
# nothing, and characters that change the direction of the text around them.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff\ud800-\udfff]"
)
_SENTENCE_END = re.compile(
    r"(?<![.!?…])[.!?…]+[\"'”’)\]*]*(?=\s|$)|[\u3002\uff01\uff1f]+[\u201d\u2019\u300d\u300f\uff09]*"
)
_LAST_WORD = re.compile(r"\s+\S*$")
# "i ' m fine , thanks .": output of a word tokenizer whose tokens were not joined again.
_TOKENS = re.compile(r"\w [,.;!?](?:\s|$)|\w ['’] ?(?:s|m|re|ve|ll|d|t)\b|\w n't\b")
_SPLIT_APOSTROPHE = re.compile(r"(?<=\w) ?(['’]) ?(?=(?:s|m|re|ve|ll|d|t)\b)")

_LINE_END = re.compile("\r\n|[\n\r\x0b\x0c\x85\u2028\u2029]")
_EMPTY_LINES = re.compile(r"\n{3,}")
_LEAST, _DEEPEST = 2, 8  # blanks of an indent that are kept, for nested lists and code


def evened(text: str) -> str:
    """Return `text` with normalised white space.

    Line breaks and indents stay, because lists and code need them. Elsewhere, runs of blanks become one
    blank, and runs of empty lines become one. No run of white space is then long enough to slow a search in
    the text down.
    """
    lines = (_evened_line(line) for line in _LINE_END.split(text))
    return _EMPTY_LINES.sub("\n\n", "\n".join(lines)).strip()


def _evened_line(line: str) -> str:
    words = line.split()
    before = line[: len(line) - len(line.lstrip())].expandtabs(4)[:_DEEPEST]
    return " " * (len(before) if len(before) >= _LEAST else 0) + " ".join(words) if words else ""


def visible(text: str) -> str:
    """Return `text` with normalised white space and without invisible characters."""
    return evened(_INVISIBLE.sub("", text))


def is_visible(text: str) -> bool:
    """Return whether `visible` leaves `text` unchanged; fast for nearly all texts."""
    # The blank is the only printable white space, and no invisible character is printable.
    one_line = text.isprintable() and "  " not in text and text.strip() == text
    return one_line or visible(text) == text


def is_tokens(line: str) -> bool:
    """Return whether `line` consists of lower-case words with blanks around punctuation."""
    return not has_capitals(line) and _TOKENS.search(line) is not None


def spelled(line: str) -> str:
    """Return word tokens in normal spelling: "i ' m fine , thanks ." becomes "I'm fine, thanks.".

    Only the looks change: no words are cut, however long the line is.
    """
    return written(_SPLIT_APOSTROPHE.sub(r"\1", line))


def paired(line: str) -> str:
    """Return `line` without its last quotation mark if their number is odd.

    A mark after a digit stays: it may mean inches or seconds.
    """
    at = line.rfind('"')
    if line.count('"') % 2 == 0 or (line[at - 1 : at].isdigit() and at != len(line) - 1):
        return line
    return evened(f"{line[:at]}{line[at + 1 :]}")


def whole_sentences(line: str) -> str:
    """Return `line` up to the end of its last whole sentence; if there is none, its whole words and "…"."""
    ends = [found.end() for found in _SENTENCE_END.finditer(line)]
    if ends:
        return line[: ends[-1]]
    words = _LAST_WORD.sub("", line).rstrip(" \n,;:-")
    return f"{words}…" if words else ""
