"""Outcome of asking a bot once."""

from dataclasses import dataclass

from bots.conformance.script import ScriptPart
from bots.core.failures import BotError, EmptyReply, ReplyTooLong
from bots.shown import Change


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one call: a `text`, or an `error`, after `seconds`.

    `conversation` tells the conversations of a part apart; `direct` says that `line` asks the bot outright
    what it is. A bot that gave a reply which cannot be shown has not `failed`: its answer is `empty` or
    `too_long`. `text` is what workers would see; `output` what the bot gave, where `changes` were made to it.
    `answers`: words of which an answer to the line has one. `earlier`: what was said before the line.
    """

    part: ScriptPart
    conversation: int
    persona: tuple[str, ...]
    line: str
    direct: bool
    seconds: float
    text: str = ""
    error: BotError | None = None
    output: str = ""
    changes: tuple[Change, ...] = ()
    answers: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()

    @property
    def spoke(self) -> bool:
        """Whether there is a reply that can be read."""
        return self.error is None

    @property
    def empty(self) -> bool:
        """Whether the bot had nothing to say."""
        return isinstance(self.error, EmptyReply)

    @property
    def too_long(self) -> bool:
        """Whether the reply was refused for its length."""
        return isinstance(self.error, ReplyTooLong)

    @property
    def failed(self) -> bool:
        """Whether there was no reply at all."""
        return not (self.spoke or self.empty or self.too_long)


@dataclass(frozen=True, slots=True)
class CheckResponses:
    """All answers, in the order in which they came. `stopped`: the bot failed too often to be asked on."""

    answers: tuple[Answer, ...]
    stopped: bool
