"""Record of a bot's call, stored for the analyst: its result, and where the answer came from."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # so that the session stays light to import
    from bots import Provenance


class BotCall(NamedTuple):
    """A call that was answered.

    `tries`: how often the bot was asked for the line so far, this call included. `made`: where the answer
    came from. `failure`: the kind of failure, if there was no reply. `output`: the model's output, if it was
    no reply.
    """

    tries: int
    made: "Provenance"
    failure: str | None = None
    output: str | None = None
