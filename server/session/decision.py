"""Decision about a message or reply: the records and effects that follow. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from server.session.events import Effect
from server.session.records import Record


@dataclass(slots=True)  # every step makes one and takes it apart: a frozen one takes three times as long
class Decision:
    """What is to be stored and done. `is_over`: the worker is to be told what comes next."""

    records: list[Record]
    effects: Sequence[Effect] = ()
    is_over: bool = False
