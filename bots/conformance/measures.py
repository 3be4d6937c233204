"""Compute statistics of a bot's answers. Pure: answers in, numbers out.

Without numpy: nothing else in a server's process needs it, and importing it would slow every start.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from bots.conformance.script import ScriptAnswer, check_language
from bots.core.words import stem, stems
from candor.common.segmentation import base_language

_MARKUP = {
    "HTML": r"</?[a-z][a-z0-9]*(?:\s[^<>]{0,200})?/?>|&(?:amp|lt|gt|quot|nbsp|#\d{1,6});",
    "Markdown": r"\*\*[^*\n]+\*\*|```|^ {0,3}#{1,6}\s|\[[^\]\n]{1,200}\]\(http"
    r"|(?<![\w*])\*[^*\s][^*\n]{0,200}[^*\s]\*(?![\w*])|`[^`\n]{1,200}`"
    r"|^ {0,3}(?:[-*+]|\d{1,2}\.)\s.*\n {0,3}(?:[-*+]|\d{1,2}\.)\s",
    # U+FFFD, and UTF-8 that was read as Latin-1 or its like: "cafÃ©", "donâ€™t".
    "broken characters": "\ufffd|[\u00c2\u00c3\u00d0\u00d1][\u0080-\u00bf\u0152-\u0178\u2018-\u203a]"
    r"|\u00e2\u20ac",
    "traces of a prompt": r"</?s>|<\|[^<>|]{1,40}\|>|\[/?INST\]|__[a-z]+__"
    r"|^\s*(?:user|human|assistant|system|ai|bot|person ?[12])\s?:",
}
NEVER_MEANT = frozenset({"broken characters", "traces of a prompt"})
_PATTERNS = {name: re.compile(pattern, re.IGNORECASE | re.MULTILINE) for name, pattern in _MARKUP.items()}


def conversations(answers: Iterable[ScriptAnswer]) -> Iterator[list[ScriptAnswer]]:
    """Yield the answers of each conversation that was held alone."""
    alone = [answer for answer in answers if answer.part in {"small talk", "questions", "awkward", "more"}]
    for _, together in groupby(alone, key=lambda answer: answer.conversation):
        yield list(together)


def same(text: str) -> str:
    """Return `text` in normal form for comparison: without case, punctuation and blanks."""
    return "".join(mark for mark in text.casefold() if mark.isalnum()) or "".join(text.split())


def repeated(answers: Iterable[ScriptAnswer]) -> list[str]:
    """Return the replies that the bot had already given in the same conversation."""
    found = []
    for held in conversations(answers):
        replies = [answer.text for answer in held if answer.spoke]
        known = [same(reply) for reply in replies]
        found += [reply for i, reply in enumerate(replies) if known[i] in known[:i]]
    return found


def commonest(answers: Iterable[ScriptAnswer]) -> tuple[str, int, int]:
    """Return the reply to the most distinct lines, the number of these lines, and that of all lines.

    Raises:
        ValueError: there are no replies.
    """
    replies = {answer.line: answer.text for held in conversations(answers) for answer in held if answer.spoke}
    if not replies:
        raise ValueError("there is no reply to count")
    counts = Counter(map(same, replies.values()))
    key, most = counts.most_common(1)[0]
    return next(reply for reply in replies.values() if same(reply) == key), most, len(replies)


def quantile(seconds: Sequence[float], share: float) -> float:
    """Return a quantile of `seconds`, interpolated linearly."""
    ordered = sorted(seconds)
    below, part = divmod(share * (len(ordered) - 1), 1)
    low, high = ordered[int(below)], ordered[min(int(below) + 1, len(ordered) - 1)]
    return low + part * (high - low)


def expected_overruns(seconds: Sequence[float], delays: Sequence[float]) -> float:
    """Return the expected share of replies that come later than their natural reply time.

    A reply is late when its delay is shorter than the bot's latency. Both are drawn independently, so this is
    the mean over `seconds` of the share of shorter `delays`.
    """
    ordered = sorted(delays)
    return sum(bisect_left(ordered, each) for each in seconds) / (len(seconds) * len(ordered))


def differing(answers: Sequence[ScriptAnswer]) -> tuple[int, int]:
    """Return how many repeated questions got a different reply, and how many questions were repeated."""
    first = {answer.line: answer.text for answer in answers if answer.part == "small talk" and answer.spoke}
    again = [a for a in answers if a.part == "again" and a.spoke and a.line in first]
    return sum(answer.text != first[answer.line] for answer in again), len(again)


def persona_changes(answers: Iterable[ScriptAnswer]) -> int:
    """Return how many questions got different replies under different personas."""
    replies: dict[str, set[str]] = {}
    for answer in answers:
        if answer.part == "questions" and answer.spoke:
            replies.setdefault(answer.line, set()).add(answer.text)
    return sum(len(different) > 1 for different in replies.values())


def persona_words(answers: Iterable[ScriptAnswer], language: str) -> list[str]:
    """Return the words of its personas that the bot uses with that persona, but not without one."""
    said: dict[tuple[str, ...], str] = {}
    for answer in answers:
        if answer.part == "questions" and answer.spoke:
            said[answer.persona] = f"{said.get(answer.persona, '')}\n{answer.text}"
    anyway = said.get((), "")
    return [
        word
        for character in check_language(language).characters
        for word in character.telling
        if _says(said.get(character.persona, ""), word, language) and not _says(anyway, word, language)
    ]


def _says(text: str, word: str, language: str) -> bool:
    """Return whether `text` contains `word`; in English, in any of its forms."""
    return stem(word) in stems(text) if base_language(language) == "en" else holds_any(text, [word])


def holds_any(text: str, words: Iterable[str]) -> bool:
    """Return whether `text` contains one of `words`, also as part of a longer word."""
    return any(word.casefold() in text.casefold() for word in words)


def unmoved(answers: Sequence[ScriptAnswer]) -> tuple[int, int]:
    """Return how many replies stayed the same with another history, and how many were tested so."""
    first = {answer.line: answer.text for answer in answers if answer.part == "small talk" and answer.spoke}
    moved = [
        answer for answer in answers if answer.part == "swapped" and answer.spoke and answer.line in first
    ]
    return sum(same(answer.text) == same(first[answer.line]) for answer in moved), len(moved)


def markup(texts: Iterable[str]) -> dict[str, list[str]]:
    """Return the replies that contain markup or other unwanted characters, by kind."""
    found: dict[str, list[str]] = {}
    for text in texts:
        for name, pattern in _PATTERNS.items():
            if pattern.search(text):
                found.setdefault(name, []).append(text)
    return found
