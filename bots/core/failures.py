"""Failures of bots, in one hierarchy.

    BotError            no reply, for any reason that has no class of its own
    ├── BotTimeout      nothing came within the time that the call had
    ├── BotGone         the bot answers nobody until somebody brings it back
    ├── BotBusy         not now: too much to do, still loading, or shutting down
    ├── ChatRefused     it does not take this chat, whoever asks
    ├── ChatEnded       who answers has ended the chat
    ├── Declined        the model declined to answer, or a filter of its provider kept the answer back
    ├── BudgetSpent     what it may cost is spent: the researchers' cap, or the provider's quota
    ├── BrokenOff       the answer ended before the model had finished it
    ├── EmptyReply      the reply holds nothing that can be seen
    ├── ThoughtsOnly    the model thought, and said nothing
    └── ReplyTooLong    the reply is longer than what workers are shown

Each class fixes its `kind`, a word for logs and for other processes; `retry`, whether the same call may
succeed when it is made again; and `counts_against_replica`, whether it is a fault of the replica that was
asked. One that is busy, refuses a chat or has no usable reply works: the call fails, the replica does not.
The message is for people only.
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
    """A bot could not answer. Ask again, another replica first, until the deadline.

    Of a single failure more may be known than its class says. `after`: seconds for which the server asked
    to be left alone. `unreached`: there was nobody to take the chat, so that the chat cannot be the reason.
    `unasked`: no server was asked, because each one rests.
    `out`: whoever asks is refused until somebody pays, or gives another key.
    `output` and `provenance`: what the model wrote that is no reply, and where it came from.
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
    """Nothing came within the time that the call had."""

    kind = "timeout"


class BotGone(BotError):
    """The bot answers nobody until somebody brings it back: asking again is of no use."""

    kind = "gone"
    retry = False


class BotBusy(BotError):
    """No reply now, for a reason that passes: another replica may answer."""

    kind = "busy"
    counts_against_replica = False


class ChatRefused(BotError):
    """The bot works, but does not take this chat, and would not if it were asked again."""

    kind = "refused"
    retry = False
    counts_against_replica = False


class Declined(BotError):
    """The bot works, but its model declined to answer, or a filter of its provider kept the answer back."""

    kind = "declined"
    retry = False
    counts_against_replica = False


class BudgetSpent(BotError):
    """What the bot may cost is spent. Somebody has to raise a limit before it answers again."""

    kind = "budget"
    retry = False
    out = True
    counts_against_replica = False


class BrokenOff(BotError):
    """The answer ended before the model had finished it, so that it is no reply."""

    kind = "broken"


class ChatEnded(BotError):
    """Who answers has ended the chat in good order: there will be no reply."""

    kind = "ended"
    retry = False
    counts_against_replica = False


class EmptyReply(BotError):
    """The bot works, but its reply holds nothing that can be seen."""

    kind = "empty"
    counts_against_replica = False


class ThoughtsOnly(BotError):
    """The bot works, but its thoughts took all the tokens that it has for a reply."""

    kind = "thoughts"
    counts_against_replica = False


class ReplyTooLong(BotError):
    """The bot works, but its reply is longer than what workers are shown."""

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
    """Return the failure of that `kind`, as another process has told of it."""
    return _BY_KIND[kind](message)
