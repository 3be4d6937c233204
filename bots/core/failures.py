"""Failures of bots, in one hierarchy.

    BotError            no reply, for any reason that has no class of its own
    ├── BotTimeout      no reply within the time limit of the call
    ├── BotGone         the bot answers nobody until somebody restores it
    ├── BotBusy         temporarily unavailable: overloaded, still loading, or shutting down
    ├── ChatRefused     the bot does not accept this chat, and a retry would not help
    ├── ChatEnded       the other side (a person) has ended the chat
    ├── Declined        the model declined to answer, or a filter of its provider withheld the answer
    ├── BudgetSpent     the budget is spent: the researchers' cap, or the provider's quota
    ├── BrokenOff       the answer ended before the model had finished it
    ├── EmptyReply      the reply contains nothing visible
    ├── ThoughtsOnly    the output contains thoughts and no reply
    └── ReplyTooLong    the reply is longer than workers may be shown

Each class fixes three attributes. `kind` is a word for logs and for other processes. `retry` says whether the
same call may succeed when it is repeated. `counts_against_replica` says whether the failure is a fault of the
replica that was asked: a replica that is busy, refuses a chat or returns an unusable reply still works. The
message is for people only.
"""

from typing import ClassVar, Literal

from bots.core.chat import Provenance

FailureKind = Literal[
    "error",
    "timeout",
    "gone",
    "busy",
    "refused",
    "declined",
    "budget",
    "broken",
    "empty",
    "thoughts",
    "too_long",
    "ended",
]


class BotError(Exception):
    """A bot could not answer: it is asked again, another replica first, until the deadline.

    Attributes of a single failure: `after`: seconds for which the server asked not to be called. `unreached`:
    the connection failed, so the chat cannot be the reason. `unasked`: no server was called, because each one
    rests. `out`: every call is refused until somebody pays, or replaces the key. `output`: the model's output
    that is no reply. `provenance`: its origin.
    """

    kind: ClassVar[FailureKind] = "error"
    counts_against_replica: ClassVar[bool] = True
    retry: bool = True
    after: float | None = None
    unreached: bool = False
    out: bool = False
    unasked: bool = False
    output: str | None = None
    provenance: Provenance | None = None

    def like(self, message: str) -> "BotError":
        """Return the same failure with another message."""
        same = type(self)(message)
        same.retry, same.after, same.unreached, same.out = self.retry, self.after, self.unreached, self.out
        same.output, same.provenance = self.output, self.provenance
        return same


class BotTimeout(BotError):
    """There was no reply within the time limit of the call."""

    kind = "timeout"


class BotGone(BotError):
    """The bot answers nobody until somebody restores it."""

    kind = "gone"
    retry = False


class BotBusy(BotError):
    """No reply for a temporary reason: another replica may answer."""

    kind = "busy"
    counts_against_replica = False


class ChatRefused(BotError):
    """The bot works, but does not accept this chat, and would not accept it if asked again."""

    kind = "refused"
    retry = False
    counts_against_replica = False


class Declined(BotError):
    """The bot works, but its model declined to answer, or a filter of its provider withheld the answer."""

    kind = "declined"
    retry = False
    counts_against_replica = False


class BudgetSpent(BotError):
    """The bot's budget is spent. Somebody must raise a limit before it answers again."""

    kind = "budget"
    retry = False
    out = True
    counts_against_replica = False


class BrokenOff(BotError):
    """The answer ended before the model had finished it, so it is no reply."""

    kind = "broken"


class ChatEnded(BotError):
    """The person who answers has ended the chat in the regular way: there will be no reply."""

    kind = "ended"
    retry = False
    counts_against_replica = False


class EmptyReply(BotError):
    """The bot works, but its reply contains nothing visible."""

    kind = "empty"
    counts_against_replica = False


class ThoughtsOnly(BotError):
    """The bot works, but its thoughts used up all the tokens for a reply."""

    kind = "thoughts"
    counts_against_replica = False


class ReplyTooLong(BotError):
    """The bot works, but its reply is longer than workers may be shown."""

    kind = "too_long"
    counts_against_replica = False


_BY_KIND: dict[FailureKind, type[BotError]] = {
    each.kind: each
    for each in (
        BotError,
        BotTimeout,
        BotGone,
        BotBusy,
        ChatRefused,
        ChatEnded,
        Declined,
        BudgetSpent,
        BrokenOff,
        EmptyReply,
        ThoughtsOnly,
        ReplyTooLong,
    )
}


def failure(kind: FailureKind, message: str) -> BotError:
    """Return the failure of that `kind`, as reported by another process."""
    return _BY_KIND[kind](message)
