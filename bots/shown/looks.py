"""Normalise the looks of a line, so that they do not tell which bot speaks."""

import re

from bots.shown.prose import has_capitals, written

# Control characters other than white space, halves of surrogate pairs, what has no width and joins nothing,
# and what turns the direction of the text around it.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff\ud800-\udfff]"
)
_SENTENCE_END = re.compile(
    r"(?<![.!?…])[.!?…]+[\"'”’)\]*]*(?=\s|$)|[\u3002\uff01\uff1f]+[\u201d\u2019\u300d\u300f\uff09]*"
)
_LAST_WORD = re.compile(r"\s+\S*$")
# "i ' m fine , thanks .": what a tokenizer of words leaves where nobody joins its tokens again.
_TOKENS = re.compile(r"\w [,.;!?](?:\s|$)|\w ['’] ?(?:s|m|re|ve|ll|d|t)\b|\w n't\b")
_SPLIT_APOSTROPHE = re.compile(r"(?<=\w) ?(['’]) ?(?=(?:s|m|re|ve|ll|d|t)\b)")

_LINE_END = re.compile("\r\n|[\n\r\x0b\x0c\x85\u2028\u2029]")
_EMPTY_LINES = re.compile(r"\n{3,}")
_LEAST, _DEEPEST = 2, 8  # blanks before a line that stay: lists within lists, and code


def evened(text: str) -> str:
    """Return `text` with the white space that all bots have.

    Lines stay lines, and keep the blanks before them, for lists and code are made of that. Elsewhere there is
    one blank for any number, and one empty line. So no white space is long, and none makes a search in the
    text slow.
    """
    lines = (_evened_line(line) for line in _LINE_END.split(text))
    return _EMPTY_LINES.sub("\n\n", "\n".join(lines)).strip()


def _evened_line(line: str) -> str:
    words = line.split()
    before = line[: len(line) - len(line.lstrip())].expandtabs(4)[:_DEEPEST]
    return " " * (len(before) if len(before) >= _LEAST else 0) + " ".join(words) if words else ""


def visible(text: str) -> str:
    """Return `text`, evened, without what cannot be seen."""
    return evened(_INVISIBLE.sub("", text))


def is_visible(text: str) -> bool:
    """Return whether `visible` leaves `text` as it is: nearly always, and then it takes a fraction."""
    # Of white space, only the blank is printable; of what is invisible, nothing is.
    one_line = text.isprintable() and "  " not in text and text.strip() == text
    return one_line or visible(text) == text


def is_tokens(line: str) -> bool:
    """Return whether `line` is tokens of words in small letters, with blanks around its marks."""
    return not has_capitals(line) and _TOKENS.search(line) is not None


def spelled(line: str) -> str:
    """Return tokens of words as English is written: "i ' m fine , thanks ." as "I'm fine, thanks.".

    Looks alone are changed: however long it is, all that was said is there.
    """
    return written(_SPLIT_APOSTROPHE.sub(r"\1", line))


def paired(line: str) -> str:
    """Return `line` without a quotation mark that has no partner: the last of an odd number of them.

    One behind a digit stays: it may stand for inches or seconds.
    """
    at = line.rfind('"')
    if line.count('"') % 2 == 0 or (line[at - 1 : at].isdigit() and at != len(line) - 1):
        return line
    return evened(f"{line[:at]}{line[at + 1 :]}")


def whole_sentences(line: str) -> str:
    """Return `line` to the end of its last whole sentence; without one, its whole words and "…"."""
    ends = [found.end() for found in _SENTENCE_END.finditer(line)]
    if ends:
        return line[: ends[-1]]
    words = _LAST_WORD.sub("", line).rstrip(" \n,;:-")
    return f"{words}…" if words else ""
