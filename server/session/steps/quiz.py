"""The quiz after a conversation: which of these lines did the worker's chat partner say? Pure.

It is a hidden attention check, independent of the worker filter. One line is the partner's. The others come
from other workers' conversations, and this worker has read none of them. The conversation's seed decides the
draws.
"""

import random
import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from server.errors import WrongPhase
from server.session import protocol as wire
from server.session.conversation import Conversation
from server.session.plan import derive_seed
from server.session.records import QuizAnswered, QuizAsked, QuizLine, QuizNotAsked
from server.session.state import State

# The fewest letters and digits of a line that can be remembered: "I see." is too common.
SHORTEST = 10
# The largest ratio of the lengths of two lines shown together.
_MOST_TIMES_AS_LONG = 1.6
# Two lines are too similar if they share this part of their letter pairs. Any two English lines share about a
# fifth. Letters, not words, because not every language has spaces.
_NEAR = 0.5
_LETTER = re.compile(r"\w")


class _Candidate:
    """A line with the facts it is compared by: its number of `letters`, and its letter `pairs`."""

    def __init__(self, line: QuizLine) -> None:
        self.line = line
        letters = "".join(_LETTER.findall(line.text.casefold()))
        self.letters = len(letters)
        self.pairs = frozenset(letters[i : i + 2] for i in range(len(letters) - 1))

    def is_as_long(self, other: "_Candidate") -> bool:
        """Return whether neither of the two stands out by its length."""
        shorter, longer = sorted((self.letters, other.letters))
        return longer <= _MOST_TIMES_AS_LONG * shorter

    def is_near(self, other: "_Candidate") -> bool:
        """Return whether a worker could mistake one line for the other."""
        return len(self.pairs & other.pairs) >= _NEAR * len(self.pairs | other.pairs)


def quiz(
    state: State, conversation: Conversation, others: Iterable[QuizLine], at: datetime
) -> QuizAsked | QuizNotAsked | None:
    """Return the quiz about a conversation just rated; None if the study has no quiz.

    Args:
        state: The session.
        conversation: The conversation that the quiz is about.
        others: Lines from other workers' conversations; those that this worker has read are skipped.
        at: The time now. Replies not shown yet are not asked about.
    """
    choices = state.rules.quiz_choices
    if choices is None:
        return None
    name = conversation.plan.conversation
    rng = random.Random(derive_seed(conversation.plan.seed, "quiz"))
    replies = _from_the_middle(conversation, at)
    if not replies:
        return QuizNotAsked(name, "few_replies", at)
    rng.shuffle(replies)
    drawn = _drawn(others, rng)
    read = [_Candidate(QuizLine(turn.text, "", 0)) for c in state.conversations for turn in c.turns]
    for reply in replies:
        shown = _beside(reply, drawn, read, choices)
        if len(shown) == choices:
            rng.shuffle(shown)
            return QuizAsked(name, tuple(shown), at)
    return QuizNotAsked(name, "few_lines", at)


def quiz_answer(conversation: Conversation, message: wire.AnswerQuiz, at: datetime) -> QuizAnswered:
    """Return the record of an answer. Raises WrongPhase if it is none of the choices."""
    asked = conversation.quiz
    if asked is None or message.choice > len(asked.lines):
        most = len(asked.lines) if asked is not None else 0
        raise WrongPhase(f"a choice from 1 to {most}", f"choice {message.choice}")
    is_right = message.choice == asked.right
    return QuizAnswered(conversation.plan.conversation, message.choice, is_right, at, message.id)


def _from_the_middle(conversation: Conversation, at: datetime) -> list[_Candidate]:
    """Return the replies to ask about: not the first, a greeting, nor the last, which is still visible."""
    name = conversation.plan.conversation
    replies = [
        _Candidate(QuizLine(line.text, name, turn))
        for turn, line in enumerate(conversation.turns)
        if line.author == "bot" and conversation.shows(turn, at)
    ]
    return [reply for reply in replies[1:-1] if reply.letters >= SHORTEST]


def _drawn(others: Iterable[QuizLine], rng: random.Random) -> list[_Candidate]:
    """Return the lines that can be remembered, each text once, in random order."""
    by_text = {candidate.line.text: candidate for candidate in map(_Candidate, others)}
    drawn = [candidate for candidate in by_text.values() if candidate.letters >= SHORTEST]
    rng.shuffle(drawn)
    return drawn


def _beside(
    reply: _Candidate, drawn: Sequence[_Candidate], read: Sequence[_Candidate], choices: int
) -> list[QuizLine]:
    """Return a reply and the first lines that can be shown beside it: `choices` in all, or fewer.

    They are about as long as the reply, and not similar to it, to each other, or to lines the worker has
    `read`.
    """
    shown = [reply]
    for one in drawn:
        if len(shown) == choices:
            break
        if one.is_as_long(reply) and not any(map(one.is_near, shown)) and not any(map(one.is_near, read)):
            shown.append(one)
    return [candidate.line for candidate in shown]
