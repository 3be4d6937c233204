"""A qc bot that fits the systems it stands beside.

A line of small talk in small letters stands out beside a polished language model, and a worker who sees
that need not read it. This bot distorts what the tested systems themselves have said in other
conversations, so that its lines have their case, their marks and their lengths.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from random import Random
from typing import Protocol

from bots.core.chat import Chat, Reply
from bots.corpus import Corpus
from bots.qc_bots.distorted import QcBot, distort, run_length

ENOUGH = 50  # replies of the systems, from which on the corpus is not needed
_TRIES = 20
_LONGEST = 1_500  # characters; the words put in may be longer, and a reply may have 2,000
_MOST_JOINED = 6  # corpus lines whose words make one reply as long as the systems'
_WORD = re.compile(r"\w(?:\S*\w)?")
_SENTENCE_ENDS = frozenset(".!?…")


@dataclass(frozen=True, slots=True)
class EarlierReply:
    """What a tested system has said in a conversation."""

    conversation_id: str
    text: str


class EarlierReplies(Protocol):
    """What the tested systems have said so far. It may grow at any time."""

    async def of_others(self, conversation_id: str) -> Sequence[EarlierReply]:
        """Return replies of conversations with other workers than that of `conversation_id`."""
        ...


class FittedQcBot:
    """Answers with a reply that a tested system gave to another worker, distorted like the published bot's.

    Words that are put in take the case and the marks of the places that they fill. As long as the systems
    have said little, words of the corpus fill all the places of what they have said; where they have said
    nothing, the lines are the published bot's.

    Nothing has to be remembered: which reply comes next is drawn by the conversation's seed from those
    that are there, except for those from which a line of the conversation could have been made. So none
    serves twice, even if there are more by and by.
    """

    def __init__(self, corpus: Corpus, earlier: EarlierReplies) -> None:
        """Raise CorpusError if the published bot cannot work with `corpus`."""
        self._published = QcBot(corpus)
        self._joined = max(1, min(_MOST_JOINED, len(self._published) // 40))
        self._earlier = earlier

    async def reply(self, chat: Chat) -> Reply:
        """Return a reply of a system's, distorted; a line of the corpus where there are too few."""
        replies = await self._earlier.of_others(chat.conversation_id)
        drawn = _distorted(chat, replies) if len(replies) >= ENOUGH else None
        return Reply(drawn or self._from_corpus(chat, replies))

    def _from_corpus(self, chat: Chat, replies: Sequence[EarlierReply]) -> str:
        # Each reply has lines of its own in the permutation, however many of them it uses.
        first = chat.replies_given() * self._joined
        if not replies:
            return self._published.line(chat, first)
        lines = [self._published.line(chat, first + place) for place in range(self._joined)]
        model = min(replies, key=lambda reply: _rank(chat.seed, chat.replies_given(), reply))
        curly, straight = (sum(reply.text.count(mark) for reply in replies) for mark in "’'")
        return _dressed([_apostrophes(line, curly > straight) for line in lines], model.text)


def _distorted(chat: Chat, replies: Sequence[EarlierReply]) -> str | None:
    """Return the next reply, distorted; None if every one has served, or no other has words for it."""
    said = [turn.text for turn in chat.turns if turn.author == "bot"]
    spoken = [_words(text) for text in said]
    rng = Random(f"fitted {chat.seed} {chat.replies_given()}")
    for source in sorted(replies, key=lambda reply: _rank(chat.seed, "source", reply)):
        words = _words(source.text)
        if not words or len(source.text) > _LONGEST or any(_may_have_given(words, line) for line in spoken):
            continue
        donors = _donors(source, run_length(len(words)), replies, rng)
        for _, donor in zip(range(_TRIES), donors, strict=False):
            changed = _filled(source.text, distort(words, donor, rng))
            if changed != source.text and changed not in said:
                return changed
    return None


def _rank(seed: int, purpose: object, reply: EarlierReply) -> bytes:
    """Return a number drawn for a reply, whatever others there are."""
    key = f"{seed}\x1f{purpose}\x1f{reply.conversation_id}\x1f{reply.text}"
    return blake2b(key.encode(), digest_size=8).digest()


def _donors(
    source: EarlierReply, length: int, replies: Sequence[EarlierReply], rng: Random
) -> Iterator[list[str]]:
    """Yield the words of other conversations, each conversation `length` of them at least."""
    by_conversation: dict[str, list[str]] = {}
    for reply in replies:
        if reply.conversation_id != source.conversation_id:
            by_conversation.setdefault(reply.conversation_id, []).append(reply.text)
    conversations = sorted(by_conversation)
    while conversations:
        chosen = rng.choice(conversations)
        words = _words(" ".join(sorted(by_conversation[chosen])))
        if len(words) >= length:
            yield words
        else:
            conversations.remove(chosen)


def _words(text: str) -> list[str]:
    """Return the words of `text`, each from its first to its last letter or digit."""
    return _WORD.findall(text)


def _may_have_given(source: Sequence[str], line: Sequence[str]) -> bool:
    """Return whether `line`, or a part of it, can be `source` with a run of its words replaced.

    A short source is looked for as the whole line only, as its words may stand anywhere.
    """
    size = len(source)
    starts = range(len(line) - size + 1) if size >= 3 else range(1 if len(line) == size else 0)
    return any(_differ_by_a_run(source, line[start : start + size]) for start in starts)


def _differ_by_a_run(one: Sequence[str], other: Sequence[str]) -> bool:
    places = [at for at, (a, b) in enumerate(zip(one, other, strict=True)) if a.casefold() != b.casefold()]
    return not places or places[-1] - places[0] < run_length(len(one))


# ---- looks -----------------------------------------------------------------------------------


def _filled(text: str, words: Sequence[str]) -> str:
    """Return `text` with `words` in the places of its own; those that are new take the looks of the place."""
    cased = any(mark.isupper() for mark in text)
    parts, end = [], 0
    for place, word in zip(_WORD.finditer(text), words, strict=True):
        parts += [text[end : place.start()], place[0] if word == place[0] else _like(place, word, cased)]
        end = place.end()
    return "".join([*parts, text[end:]])


def _like(place: re.Match[str], word: str, cased: bool) -> str:
    """Return `word` in the case of the place that it fills. A lone "I" is a capital by its own right."""
    old = place[0]
    begins = not place.string[: place.start()].rstrip() or place.string[: place.start()].rstrip()[-1] in (
        _SENTENCE_ENDS
    )
    if cased and _is_i(word):
        return word[:1].upper() + word[1:]
    if sum(mark.isalpha() for mark in old) > 1 and old.isupper():
        return word.upper()
    if old[:1].isupper() and (begins or not _is_i(old)):
        return word[:1].upper() + word[1:].lower()
    return word.lower()


def _is_i(word: str) -> bool:
    return word[:1] in {"i", "I"} and (len(word) == 1 or word[1] in {"'", "’"})


def _apostrophes(line: str, curly: bool) -> str:
    return line.replace("'", "’") if curly else line.replace("’", "'")


def _dressed(lines: Sequence[str], model: str) -> str:
    """Return the words of `lines` in the places of those of `model`, which is cut if it has more places."""
    words = _words(" ".join(lines))
    places = list(_WORD.finditer(model))
    if not places:
        return lines[0]
    if len(places) > len(words):
        model = model[: places[len(words) - 1].end()] + model[places[-1].end() :]
    return _filled(model, words[: len(places)])
