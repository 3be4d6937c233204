"""The quiz after a conversation: which of these lines, or personas, is the chat partner's? Pure.

It is hidden from workers, and independent of the worker filter. One line is the partner's. The others come
from other workers' conversations, and this worker has read none of them. Of personas, all are the study's.
The conversation's seed decides the draws.
"""

import random
import re
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import assert_never

from server.errors import WrongPhase
from server.session import protocol as wire
from server.session.conversation import Conversation
from server.session.plan import LineupSpec, derive_seed
from server.session.records import (
    ConversationPlanned,
    QuizAnswered,
    QuizAsked,
    QuizLine,
    QuizNotAsked,
    WhyNoQuiz,
)
from server.session.state import State

Persona = tuple[str, ...]  # its sentences

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
    asked = state.rules.quiz
    if asked is None:
        return None
    plan = conversation.plan
    rng = random.Random(derive_seed(plan.seed, "quiz"))
    match asked.about:
        case "lines":
            shown = _said(state, _from_the_middle(conversation, at), others, asked.choices, rng)
        case "personas":
            met = {each.plan.persona for each in state.conversations if each.turns}
            shown = _personas(plan, state.rules.lineup, met, asked.choices, rng)
        case _:
            assert_never(asked.about)
    if isinstance(shown, str):
        return QuizNotAsked(plan.conversation, shown, at, asked.about)
    rng.shuffle(shown)
    return QuizAsked(plan.conversation, tuple(shown), at, asked.about)


def quiz_answer(conversation: Conversation, message: wire.AnswerQuiz, at: datetime) -> QuizAnswered:
    """Return the record of an answer. Raises WrongPhase if it is none of the choices."""
    asked = conversation.quiz
    if asked is None or message.choice > len(asked.lines):
        most = len(asked.lines) if asked is not None else 0
        raise WrongPhase(f"a choice from 1 to {most}", f"choice {message.choice}")
    is_right = message.choice == asked.right
    return QuizAnswered(conversation.plan.conversation, message.choice, is_right, at, message.id)


def _said(
    state: State,
    replies: list[_Candidate],
    others: Iterable[QuizLine],
    choices: int,
    rng: random.Random,
) -> list[QuizLine] | WhyNoQuiz:
    """Return one of the `replies`, and lines of `others`: `choices` in all; else why there are too few."""
    if not replies:
        return "few_replies"
    rng.shuffle(replies)
    drawn = _drawn(others, rng)
    read = [_Candidate(QuizLine(turn.text, "", 0)) for c in state.conversations for turn in c.turns]
    for reply in replies:
        shown = _beside(reply, drawn, read, choices)
        if len(shown) == choices:
            return shown
    return "few_lines"


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


def _personas(
    plan: ConversationPlanned, lineup: LineupSpec, met: Collection[Persona], choices: int, rng: random.Random
) -> list[QuizLine] | WhyNoQuiz:
    """Return the partner's persona and others: `choices` in all; else why there are too few.

    No sentence of one is similar to a sentence of another. All are shown with as many sentences, of longer
    ones some; never the one that the worker saw as the ice-breaker. Personas of the worker's other partners
    (`met`) come last.
    """
    own = tuple(sentence for sentence in plan.persona if sentence != plan.icebreaker)
    if not own:
        return "no_persona"
    shown, taken = [own], _candidates(plan.persona)
    pool = [persona for persona in lineup.every_persona if persona != plan.persona]
    rng.shuffle(pool)
    for persona in sorted(pool, key=lambda each: each in met):
        if len(shown) == choices:
            break
        sentences = _candidates(persona)
        if not any(one.is_near(other) for one in sentences for other in taken):
            shown.append(persona)
            taken += sentences
    if len(shown) < choices:
        return "few_personas"
    fewest = min(map(len, shown))
    places = [sorted(rng.sample(range(len(persona)), fewest)) for persona in shown]
    texts = ["\n".join(persona[i] for i in kept) for persona, kept in zip(shown, places, strict=True)]
    return [QuizLine(texts[0], plan.conversation, None), *(QuizLine(text, None, None) for text in texts[1:])]


def _candidates(persona: Persona) -> list[_Candidate]:
    return [_Candidate(QuizLine(sentence, None, None)) for sentence in persona]
