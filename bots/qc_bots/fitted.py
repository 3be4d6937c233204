"""A QC bot whose lines look like those of the tested systems.

A line of lower-case small talk stands out beside a polished language model, and a worker who sees that need
not read it. This bot distorts replies that the tested systems gave in other conversations, so that its lines
have the same case, punctuation and lengths.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from random import Random

from bots.core.chat import Chat
from bots.corpus import Corpus
from bots.qc_bots import run_length
from bots.qc_bots.distorted import QcBot, distort, may_have_given
from candor.common.segmentation import base_language, word_places

_SENTENCE_ENDS = frozenset(".!?…。！？")


def words_as_written(text: str, language: str = "en") -> list[str]:
    """Return the words of `text`, each from its first to its last letter or digit."""
    return [text[start:end] for start, end in word_places(text, language)]


def filled(text: str, words: Sequence[str], language: str = "en") -> str:
    """Return `text` with its words replaced by `words`; new words take the case of their places."""
    return _filled(text, word_places(text, language), words, language)


def _filled(text: str, places: Sequence[tuple[int, int]], words: Sequence[str], language: str) -> str:
    cased = any(mark.isupper() for mark in text)
    parts, at = [], 0
    for (start, end), word in zip(places, words, strict=True):
        old = text[start:end]
        parts += [text[at:start], word if word == old else _like(old, text[:start], word, cased, language)]
        at = end
    return "".join([*parts, text[at:]])


def _like(old: str, before: str, word: str, cased: bool, language: str) -> str:
    """Return `word` in the case of `old`, the word that it replaces; `before` is the text before that.

    Exceptions: a lone "I" is always a capital in English, and a German noun keeps its capital.
    """
    before = before.rstrip()
    begins = not before or before[-1] in _SENTENCE_ENDS
    english = base_language(language) == "en"
    if cased and english and _is_i(word):
        return word[:1].upper() + word[1:]
    if sum(mark.isalpha() for mark in old) > 1 and old.isupper():
        return word.upper()
    if cased and base_language(language) == "de":
        return word[:1].upper() + word[1:] if begins else word
    if old[:1].isupper() and (begins or not (english and _is_i(old))):
        return word[:1].upper() + word[1:].lower()
    return word.lower()


def _is_i(word: str) -> bool:
    return word[:1] in {"i", "I"} and (len(word) == 1 or word[1] in {"'", "’"})


ENOUGH = 50  # replies of the systems that are needed; a worker would soon have seen all of fewer ones
_TRIES = 20
_LONGEST = 1_500  # characters of a source; the new words may be longer, and a reply may have 2,000


@dataclass(frozen=True, slots=True)
class EarlierReply:
    """A reply of a tested system in an earlier conversation."""

    conversation_id: str
    text: str


class FittedQcBot:
    """Answers with replies that tested systems gave to other workers, distorted as the published bot does.

    New words take the case and the punctuation of their places. Until the systems have given ENOUGH replies,
    the published bot's lines are used.

    The bot has no state. The conversation's seed chooses the next reply from those available, except those
    from which an earlier line of the conversation could have been made. So no reply is used twice, even while
    new ones are added.
    """

    def __init__(self, corpus: Corpus) -> None:
        """Prepare. Raises CorpusError if the published bot cannot use `corpus`."""
        self._published = QcBot(corpus)
        self._language = corpus.language

    def line(self, chat: Chat, replies: Sequence[EarlierReply]) -> str:
        """Return a system's reply, distorted; the published bot's line if there are too few replies.

        `replies` are the systems' replies so far in conversations with other workers.
        """
        drawn = _distorted(chat, replies, self._language) if len(replies) >= ENOUGH else None
        return drawn or self._published.line(chat, chat.replies_given())


def _distorted(chat: Chat, replies: Sequence[EarlierReply], language: str) -> str | None:
    """Return the next reply, distorted; None if all are used, or no other conversation has enough words."""
    said = [turn.text for turn in chat.turns if turn.author == "bot"]
    spoken = [words_as_written(text, language) for text in said]
    rng = Random(f"fitted {chat.seed} {chat.replies_given()}")
    for source in sorted(replies, key=lambda reply: _rank(chat.seed, "source", reply)):
        words = words_as_written(source.text, language)
        if not words or len(source.text) > _LONGEST or any(may_have_given(words, line) for line in spoken):
            continue
        donors = _donors(source, run_length(len(words)), replies, rng, language)
        for _, donor in zip(range(_TRIES), donors, strict=False):
            changed = filled(source.text, distort(words, donor, rng), language)
            if changed != source.text and changed not in said:
                return changed
    return None


def _rank(seed: int, purpose: object, reply: EarlierReply) -> bytes:
    """Return a pseudorandom rank of a reply, independent of the other replies."""
    key = f"{seed}\x1f{purpose}\x1f{reply.conversation_id}\x1f{reply.text}"
    return blake2b(key.encode(), digest_size=8).digest()


def _donors(
    source: EarlierReply, length: int, replies: Sequence[EarlierReply], rng: Random, language: str
) -> Iterator[list[str]]:
    """Yield the words of other conversations, in random order, with at least `length` words each."""
    by_conversation: dict[str, list[str]] = {}
    for reply in replies:
        if reply.conversation_id != source.conversation_id:
            by_conversation.setdefault(reply.conversation_id, []).append(reply.text)
    conversations = sorted(by_conversation)
    while conversations:
        chosen = rng.choice(conversations)
        words = words_as_written(" ".join(sorted(by_conversation[chosen])), language)
        if len(words) >= length:
            yield words
        else:
            conversations.remove(chosen)
