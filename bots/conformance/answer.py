"""What came of asking a bot once."""

from dataclasses import dataclass

from bots.conformance.script import Part
from bots.core.visible_text import EMPTY, TOO_LONG


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one call: a `text`, or an `error`, after `seconds`.

    `conversation` tells the conversations of a part apart; `direct` says that `line` asks the bot outright
    what it is. A remote bot whose reply was empty or too long has failed and says why in its error: such
    answers are `empty` or `too_long`, whichever way they came, and not `failed`.
    """

    part: Part
    conversation: int
    persona: tuple[str, ...]
    line: str
    direct: bool
    seconds: float
    text: str = ""
    error: str | None = None

    @property
    def spoke(self) -> bool:
        """Whether there is a reply that can be read."""
        return self.error is None and bool(self.text.strip())

    @property
    def empty(self) -> bool:
        """Whether the bot had nothing to say."""
        return EMPTY in self.error if self.error is not None else not self.text.strip()

    @property
    def too_long(self) -> bool:
        """Whether the reply was refused for its length."""
        return self.error is not None and TOO_LONG in self.error

    @property
    def failed(self) -> bool:
        """Whether there was no answer at all."""
        return self.error is not None and not self.empty and not self.too_long


@dataclass(frozen=True, slots=True)
class CheckResponses:
    """All answers, in the order in which they came. `stopped`: the bot failed too often to be asked on."""

    answers: tuple[Answer, ...]
    stopped: bool
