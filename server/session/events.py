"""What happens to a session, and what follows: the events it takes, the effects it asks for."""

from dataclasses import dataclass
from datetime import datetime

from server.session import protocol as wire


@dataclass(frozen=True, slots=True)
class FromWorker:
    """A message of the worker's."""

    message: wire.ClientMessage
    at: datetime


@dataclass(frozen=True, slots=True)
class BotReplied:
    """The bot's line number `index`. `gave_away`: the words by which it says what it is, where it does."""

    conversation: str
    index: int
    text: str
    latency_ms: int
    at: datetime
    gave_away: str | None = None


@dataclass(frozen=True, slots=True)
class BotStumbled:
    """One try to get line number `index` failed; another follows."""

    conversation: str
    index: int
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class BotGaveUp:
    """Every try to get line number `index` failed until the deadline."""

    conversation: str
    index: int
    reason: str
    at: datetime


Event = FromWorker | BotReplied | BotStumbled | BotGaveUp


@dataclass(frozen=True, slots=True)
class Accept:
    """Tell the worker that the message of this id is stored."""

    id: str


@dataclass(frozen=True, slots=True)
class Tell:
    """Send a message to the worker."""

    message: wire.ServerMessage


@dataclass(frozen=True, slots=True)
class AskBot:
    """Ask the conversation's bot for line number `index`."""

    conversation: str
    index: int


@dataclass(frozen=True, slots=True)
class ShowReply:
    """Send line number `index` to the worker at `at`."""

    conversation: str
    index: int
    at: datetime


Effect = Accept | Tell | AskBot | ShowReply
