"""What a message or a reply means for the conversations that it belongs to. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from server.session.events import Effect
from server.session.records import Record


class Decision(NamedTuple):
    """What is to be stored and done. `is_over`: the worker is to be told what comes next."""

    records: Sequence[Record]
    effects: Sequence[Effect] = ()
    is_over: bool = False
