"""The quality-control bots: responses with their meaning distorted (Ji et al., ACL 2022).

A worker who pays attention rates such a bot below every real system, whatever they think of the others.
`QcBot` draws the responses from a corpus, as published. A line of lower-case small talk stands out beside a
polished language model, and a worker who sees that need not read it. `FittedQcBot` therefore distorts replies
that the tested systems gave in other conversations: its lines have the same case, punctuation and lengths.
"""

import random
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.core.chat import Chat, Reply
from bots.corpus import Corpus
from bots.qc_bots import require_material, responses, run_length
from bots.shown import present, shorten
from candor.common.segmentation import base_language, join_words, split_words, word_places

_CONVERSATIONS = 4_096  # whose permutations are cached, up to _BEGINNING
_BEGINNING = 256  # responses; most conversations are shorter
_TRIES = 20  # redraws of a distortion that changed nothing or gave a line already said


def distort(response: Sequence[str], donor: Sequence[str], rng: random.Random) -> list[str]:
    """Return `response` with a run of its words replaced by a run of equal length from `donor`.

    Both runs start at random places. With three words or more, the first and the last one stay.

    Raises:
        ValueError: `donor` has fewer words than the run.
    """
    length = run_length(len(response))
    if len(donor) < length:
        raise ValueError(f"a donor of {len(donor)} words cannot give a run of {length}")
    kept = 1 if len(response) >= 3 else 0
    start = rng.randint(kept, len(response) - kept - length)
    taken = rng.randint(0, len(donor) - length)
    return [*response[:start], *donor[taken : taken + length], *response[start + length :]]


def may_have_given(source: Sequence[str], line: Sequence[str]) -> bool:
    """Return whether `line`, or a part of it, can be `source` with a run of its words replaced.

    A source of fewer than three words is compared only with the whole line, because its words may occur
    anywhere.
    """
    size = len(source)
    starts = range(len(line) - size + 1) if size >= 3 else range(1 if len(line) == size else 0)
    return any(_differ_by_a_run(source, line[start : start + size]) for start in starts)


def _differ_by_a_run(one: Sequence[str], other: Sequence[str]) -> bool:
    places = [at for at, (a, b) in enumerate(zip(one, other, strict=True)) if a.casefold() != b.casefold()]
    return not places or places[-1] - places[0] < run_length(len(one))


class _Response(NamedTuple):
    """The words of a response, and those of every dialogue with enough words to distort it.

    `own`: the index of the response's own dialogue among them, which is never a donor.
    """

    words: list[str]
    dialogues: Sequence[list[str]]
    own: int

    @property
    def givers(self) -> int:
        """The number of donors: dialogues with enough words, except its own."""
        return len(self.dialogues) - 1

    def giver(self, at: int) -> list[str]:
        """Return the words of the donor with index `at`, from 0."""
        return self.dialogues[at + (at >= self.own)]


class QcBot:
    """Answers with the corpus's responses, distorted, in a different order for each conversation.

    The order is a permutation drawn from the conversation's seed and indexed by the number of replies given,
    so no response is repeated and no state is needed. A conversation with more turns than the corpus has
    responses goes through them again, in a new order.
    """

    def __init__(self, corpus: Corpus) -> None:
        """Index `corpus`. Raises CorpusError, as `require_material` does."""
        require_material(corpus)
        self._language = corpus.language
        # The spelling of tokens, such as the pronoun "I", applies to English only.
        self._is_english = base_language(corpus.language) == "en"
        self._donors = [
            [word for turn in dialogue.turns for word in self._words(turn)] for dialogue in corpus.dialogues
        ]
        self._first_drawn = lru_cache(maxsize=_CONVERSATIONS)(self._draw_first)
        self._with_words = lru_cache(maxsize=None)(self._find_with_words)
        found = [self._response(text, origin) for text, origin in responses(corpus).items()]
        self._responses = [response for response in found if response.givers > 0]

    def __len__(self) -> int:
        """Return the number of responses."""
        return len(self._responses)

    @property
    def responses(self) -> tuple[str, ...]:
        """The responses before they are distorted, in the order of the corpus."""
        return tuple(join_words(words, self._language) for words, *_ in self._responses)

    async def reply(self, chat: Chat) -> Reply:
        """Return the next response of this conversation's permutation, distorted."""
        return Reply(self.line(chat, chat.replies_given()))

    def line(self, chat: Chat, number: int) -> str:
        """Return the response with index `number`, from 0, of this conversation's permutation, distorted."""
        response = self._responses[self.drawn(chat.seed, number)]
        said = {turn.text for turn in chat.turns}
        rng = random.Random(f"distort {chat.seed} {number}")
        text = ""
        for _ in range(_TRIES):
            changed = distort(response.words, response.giver(rng.randrange(response.givers)), rng)
            text = self._shown(changed)
            if changed != response.words and text not in said:
                break
        return text

    def _words(self, text: str) -> list[str]:
        return split_words(text, self._language)

    def _shown(self, words: Sequence[str]) -> str:
        line = join_words(words, self._language)
        return present(line) if self._is_english else shorten(line[:1].upper() + line[1:])

    def _response(self, text: str, origin: int) -> _Response:
        words = self._words(text)
        numbers, dialogues = self._with_words(run_length(len(words)))
        return _Response(words, dialogues, bisect_left(numbers, origin))

    def _find_with_words(self, words: int) -> tuple[list[int], list[list[str]]]:
        """Return the numbers and the words of all dialogues with at least so many words.

        They include the dialogue of the response itself.
        """
        numbers = [number for number, donor in enumerate(self._donors) if len(donor) >= words]
        return numbers, [self._donors[number] for number in numbers]

    def drawn(self, seed: int, given: int) -> int:
        """Return the index of the response that comes after `given` others in a conversation of `seed`."""
        round_, at = divmod(given, len(self._responses))
        if at < _BEGINNING:
            return int(self._first_drawn(seed, round_)[at])
        return int(self._order(seed, round_)[at])

    def _order(self, seed: int, round_: int) -> NDArray[np.intp]:
        rng = np.random.default_rng(random.Random(f"order {seed} {round_}").getrandbits(64))
        return rng.permutation(len(self._responses))

    def _draw_first(self, seed: int, round_: int) -> NDArray[np.int32]:
        return self._order(seed, round_)[:_BEGINNING].astype(np.int32)


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
    rng = random.Random(f"fitted {chat.seed} {chat.replies_given()}")
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
    source: EarlierReply, length: int, replies: Sequence[EarlierReply], rng: random.Random, language: str
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
