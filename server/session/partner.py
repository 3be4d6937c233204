"""Connect two workers who chat, each in place of the other's bot. Pure.

Every session has its worker write first, so two of them cannot take turns from the first line on. Who came
first has said something (line 0), and sees what the other one opens with as the answer to it. From there on
they take turns: the other one's next reply is the line after that. What was said before the other one was
there is put in front of it, so that nothing that is typed is lost.

    first    0: Hi!                  1: (Hello, I sail.)    2: Where?         3: (On a lake.)
    second   0: Hello, I sail.       1: (Hi! Where?)        2: On a lake.     3: (…)
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from server.session.protocol.text import MAX_SAY
from server.session.text_length import is_too_long

Reason = Literal["nobody_came", "silent", "left"]
WhenLeft = Literal["take_over", "end"]


@dataclass(frozen=True, slots=True)
class PartnerRules:
    """Seconds that a worker waits for somebody to come, and for a line; what follows where they leave.

    `minimum_inputs`: from so many on, a chat that cannot go on is over in good order.
    """

    wait: float
    reply: float
    when_left: WhenLeft
    minimum_inputs: int


@dataclass(frozen=True, slots=True)
class ChatStanding:
    """How a worker's chat with a person stands.

    `has_come`: somebody answers. `lines`: what they have said, by the line of the worker's conversation that
    it is. `is_gone`: they will say nothing more. `taken_over`: a bot has taken over.
    """

    has_come: bool = False
    lines: Mapping[int, str] | None = None
    is_gone: bool = False
    taken_over: bool = False


@dataclass(frozen=True, slots=True)
class Say:
    """The person has said this."""

    text: str


@dataclass(frozen=True, slots=True)
class Wait:
    """There may be a line yet."""


@dataclass(frozen=True, slots=True)
class BotAnswers:
    """A bot has taken over."""


@dataclass(frozen=True, slots=True)
class TakeOver:
    """A bot is to take over, and why."""

    why: Reason


@dataclass(frozen=True, slots=True)
class End:
    """There will be no line; `in_order`: the chat is over as chats end, and is rated."""

    why: Reason
    in_order: bool


Next = Say | Wait | BotAnswers | TakeOver | End


def what_next(standing: ChatStanding, index: int, inputs: int, waited: float, rules: PartnerRules) -> Next:
    """Return what becomes of line `index`, for which a worker with so many inputs has `waited` seconds."""
    if standing.taken_over:
        return BotAnswers()
    if standing.lines is not None and index in standing.lines:
        return Say(standing.lines[index])
    why = _trouble(standing, waited, rules)
    if why is None:
        return Wait()
    if why != "nobody_came" and inputs >= rules.minimum_inputs:
        return End(why, in_order=True)
    if why != "nobody_came" and rules.when_left == "end":
        return End(why, in_order=False)
    return TakeOver(why)


def _trouble(standing: ChatStanding, waited: float, rules: PartnerRules) -> Reason | None:
    if standing.is_gone:
        return "left"
    if not standing.has_come:
        return "nobody_came" if waited >= rules.wait else None
    return "silent" if waited >= rules.reply else None


def heard(said: Mapping[int, str], *, came_first: bool, opening: str) -> dict[int, str]:
    """Return the other worker's lines by the line of one's own conversation that each of them is.

    `said` has the other one's own lines by their number in theirs; `opening` is what they said before this
    worker was there.
    """
    if came_first:
        return {index + 1: text for index, text in said.items()}
    lines = {index - 1: text for index, text in said.items() if index > 0}
    if 1 in lines:
        lines[1] = _joined(opening, lines[1])
    return lines


def _joined(opening: str, text: str) -> str:
    """Return both lines as one, as long as that is no longer than what one worker may say at once."""
    both = f"{opening} {text}".strip()
    return text if is_too_long(both, MAX_SAY) else both
