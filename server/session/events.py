"""Events that a session takes, effects that it asks for, and the decision that holds both.

What every turn has are named tuples, which are made in a third of the time that a frozen dataclass takes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from server.session import protocol as wire
from server.session.call import BotCall
from server.session.records import QuizLine, Record


class FromWorker(NamedTuple):
    """A message of the worker's.

    `others`: lines that other workers were told, with a rating that a quiz may follow. `offensive`: words of
    an input that should not have been said.
    """

    message: wire.ClientMessage
    at: datetime
    others: tuple[QuizLine, ...] = ()
    offensive: tuple[str, ...] = ()


class BotReplied(NamedTuple):
    """The bot has answered with line number `index` of the conversation, counted from 0.

    `latency_ms` is how long it took, failed tries included. `gave_away` holds the words by which the line
    says what the bot is; None where it does not. `output`: what its model wrote, where that is not what is
    shown, and `changes` in what it is not. `call`: where it came from, as far as the bot tells. `offensive`:
    words of it that should not have been said.
    """

    conversation: str
    index: int  # type: ignore[assignment]  # of the line, not tuple's method
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
    """The bot was asked for line number `index` in vain; it will be asked again. `failure`: its kind.

    `call`: what came of it, where it was answered all the same.
    """

    conversation: str
    index: int
    reason: str
    at: datetime
    failure: str
    call: BotCall | None = None


@dataclass(frozen=True, slots=True)
class BotGaveUp:
    """The bot has not answered with line number `index`, and is asked no more. `failure`: its last kind.

    `call`: what came of the last try, where it was answered all the same.
    """

    conversation: str
    index: int
    reason: str
    at: datetime
    failure: str
    call: BotCall | None = None


@dataclass(frozen=True, slots=True)
class EndedByResearcher:
    """The researchers end the conversation that is under way, and say why; the worker goes on to rate it."""

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
    index: int  # type: ignore[assignment]  # of the line, not tuple's method


class ShowReply(NamedTuple):
    """Send line number `index` to the worker at `at`."""

    conversation: str
    index: int  # type: ignore[assignment]  # of the line, not tuple's method
    at: datetime


Effect = Accept | Tell | AskBot | ShowReply


@dataclass(slots=True)  # every step makes one and takes it apart: a frozen one takes three times as long
class Decision:
    """What is to be stored and done. `is_over`: the worker is to be told what comes next."""

    records: list[Record]
    effects: Sequence[Effect] = ()
    is_over: bool = False
