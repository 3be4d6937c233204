"""Connect two workers who chat, each in place of the other's bot. Pure.

Every worker writes first in their own session, so the two cannot take turns from the first line on. The first
worker has written something (line 0), and sees the second worker's opening as the answer to it. From then on
they take turns: the second worker's next reply is the line after that. The first worker's lines from before
the second one came are put in front of their next line, so that nothing is lost.

    first    0: Hi!                  1: (Hello, I sail.)    2: Where?         3: (On a lake.)
    second   0: Hello, I sail.       1: (Hi! Where?)        2: On a lake.     3: (…)
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from candor.common.segmentation import is_too_long
from server.session.protocol.text import MAX_SAY

Reason = Literal["nobody_came", "silent", "left"]
WhenLeft = Literal["take_over", "end"]


@dataclass(frozen=True, slots=True)
class PartnerRules:
    """Seconds that a worker waits for a partner, and for a line; and what happens if the partner leaves.

    `minimum_inputs`: from this number of messages on, a chat that cannot go on ends normally.
    """

    wait: float
    reply: float
    when_left: WhenLeft
    minimum_inputs: int


@dataclass(frozen=True, slots=True)
class ChatStanding:
    """The state of a worker's chat with a person.

    `has_come`: a partner is there. `lines`: the partner's lines, by their number in the worker's
    conversation. `is_gone`: the partner has left. `taken_over`: a bot has taken over.
    """

    has_come: bool = False
    lines: Mapping[int, str] | None = None
    is_gone: bool = False
    taken_over: bool = False


@dataclass(frozen=True, slots=True)
class PartnerSay:
    """The partner has said `text`."""

    text: str


@dataclass(frozen=True, slots=True)
class Wait:
    """The partner may still answer."""


@dataclass(frozen=True, slots=True)
class BotAnswers:
    """A bot has taken over."""


@dataclass(frozen=True, slots=True)
class TakeOver:
    """A bot must take over, and the reason."""

    why: Reason


@dataclass(frozen=True, slots=True)
class PartnerEnd:
    """There will be no further line; `in_order`: the chat ends normally, and is rated."""

    why: Reason
    in_order: bool


Next = PartnerSay | Wait | BotAnswers | TakeOver | PartnerEnd


def what_next(standing: ChatStanding, index: int, inputs: int, waited: float, rules: PartnerRules) -> Next:
    """Return what to do about line `index`, for which a worker with so many `inputs` has `waited` seconds."""
    if standing.taken_over:
        return BotAnswers()
    if standing.lines is not None and index in standing.lines:
        return PartnerSay(standing.lines[index])
    why = _trouble(standing, waited, rules)
    if why is None:
        return Wait()
    if why != "nobody_came" and inputs >= rules.minimum_inputs:
        return PartnerEnd(why, in_order=True)
    if why != "nobody_came" and rules.when_left == "end":
        return PartnerEnd(why, in_order=False)
    return TakeOver(why)


def _trouble(standing: ChatStanding, waited: float, rules: PartnerRules) -> Reason | None:
    if standing.is_gone:
        return "left"
    if not standing.has_come:
        return "nobody_came" if waited >= rules.wait else None
    return "silent" if waited >= rules.reply else None


def heard(said: Mapping[int, str], *, came_first: bool, opening: str) -> dict[int, str]:
    """Return the other worker's lines by their number in one's own conversation.

    `said` has the other's lines by their number in the other's conversation. `opening` is what the other said
    before this worker came.
    """
    if came_first:
        return {index + 1: text for index, text in said.items()}
    lines = {index - 1: text for index, text in said.items() if index > 0}
    if 1 in lines:
        lines[1] = _joined(opening, lines[1])
    return lines


def _joined(opening: str, text: str) -> str:
    """Join both lines if the result is not longer than a message may be; else return `text`."""
    both = f"{opening} {text}".strip()
    return text if is_too_long(both, MAX_SAY) else both
