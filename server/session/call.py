"""A call of a bot, as it is kept for the analyst: what came of it, and where that came from."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # the session passes it on, and stays light to import
    from bots import Provenance


class BotCall(NamedTuple):
    """A call that was answered.

    `tries`: how often the bot was asked for the line so far, this one included. `made`: where the answer came
    from. `failure`: of which kind it was where there was no reply. `output`: what the model wrote where that
    was no reply.
    """

    tries: int
    made: "Provenance"
    failure: str | None = None
    output: str | None = None
