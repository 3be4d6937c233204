"""Events that a session processes, effects that it causes, and the decision that holds records and effects.

The types of every turn are named tuples, which are made in a third of the time that a frozen dataclass takes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from server.session import protocol as wire
from server.session.records import BotCall, QuizLine, Record


class FromWorker(NamedTuple):
    """A worker's message.

    `others`: lines of other workers' conversations, with a rating that a quiz may follow. `offensive`: the
    offensive words in the message.
    """

    message: wire.ClientMessage
    at: datetime
    others: tuple[QuizLine, ...] = ()
    offensive: tuple[str, ...] = ()


class BotReplied(NamedTuple):
    """The bot has answered with line number `index` of the conversation, counted from 0.

    `latency_ms` is the time it took, with failed tries. `gave_away` has the words by which the reply reveals
    the bot; None if it does not. `output`: the model's output, if it differs from the reply shown; `changes`
    tells how. `call`: the call's origin, as far as the bot tells it. `offensive`: the offensive words in the
    reply.
    """

    conversation: str
    index: int  # type: ignore[assignment]  # the line's index, not tuple's method
    text: str
    latency_ms: int
    at: datetime
    gave_away: str | None = None
    output: str | None = None
    changes: tuple[str, ...] = ()
    call: BotCall | None = None
    offensive: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BotStumbled:
    """The bot has failed to answer with line number `index`, and is asked again. `failure` is the kind.

    `call`: the call's record, if there was an answer of any kind.
    """

    conversation: str
    index: int
    reason: str
    at: datetime
    failure: str
    call: BotCall | None = None


@dataclass(frozen=True, slots=True)
class BotGaveUp:
    """The bot has failed for good to answer with line number `index`. `failure` is the last kind of failure.

    `call`: the last call's record, if there was an answer of any kind.
    """

    conversation: str
    index: int
    reason: str
    at: datetime
    failure: str
    call: BotCall | None = None


@dataclass(frozen=True, slots=True)
class EndedByResearcher:
    """A researcher ends the active conversation, and says why; the worker goes on to rate it."""

    why: str
    at: datetime


Event = EndedByResearcher | FromWorker | BotReplied | BotStumbled | BotGaveUp


class Accept(NamedTuple):
    """Tell the worker that the message of this id is stored."""

    id: str


class Tell(NamedTuple):
    """Send a message to the worker."""

    message: wire.ServerMessage


class AskBot(NamedTuple):
    """Ask the conversation's bot for line number `index`."""

    conversation: str
    index: int  # type: ignore[assignment]  # the line's index, not tuple's method


class ShowReply(NamedTuple):
    """Send line number `index` to the worker at `at`."""

    conversation: str
    index: int  # type: ignore[assignment]  # the line's index, not tuple's method
    at: datetime


Effect = Accept | Tell | AskBot | ShowReply


@dataclass(slots=True)  # not frozen: that takes three times as long, and every step makes one
class Decision:
    """Records to store and effects to perform. `is_over`: the worker is to be told what comes next."""

    records: list[Record]
    effects: Sequence[Effect] = ()
    is_over: bool = False
