"""Gather what was said in conversations, one by one, and return it as the frames of `Words`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from qc.errors import Problem, joined, quoted
from qc.load.raw_run import REPAIR
from qc.run import CHANGE, CHANGES, OPINION, OPINIONS, Words

Exchange = tuple[int, str, str | None]  # round, input, reply
Topic = tuple[int, str, str | None]  # round, topic, opinion
Change = tuple[int, str, str | None]  # round, how, bot's opinion

Rows = Sequence[tuple[object, ...]]
Columns = dict[str, Any]

_PLACE = {"conversation": np.int32, "round": np.int32}
_EXCHANGES: Columns = {**_PLACE, "input": str, "reply": str}
_TOPICS: Columns = {**_PLACE, "topic": str, "opinion": OPINION}
_CHANGES: Columns = {**_PLACE, "how": CHANGE, "bot_opinion": OPINION}


@dataclass
class Speech:
    """What has been gathered so far; `problems` are the loader's."""

    problems: list[Problem]
    _exchanges: list[tuple[int, int, str, str | None]] = field(default_factory=list)
    _topics: list[tuple[int, int, str, str | None]] = field(default_factory=list)
    _changes: list[tuple[int, int, str, str | None]] = field(default_factory=list)

    def add(
        self,
        row: int,
        where: str,
        exchanges: Sequence[Exchange],
        topics: Sequence[Topic],
        changes: Sequence[Change],
    ) -> None:
        """Take in what was said in the conversation of row `row`, which stands at `where`.

        An opinion of None was not given. Rounds are whole numbers from 0, below 2³¹.
        """
        opinions = [opinion for *_, opinion in (*topics, *changes) if opinion is not None]
        faults = [
            Problem(where, f"{quoted(given)} is none of {joined(known)}.", REPAIR)
            for values, known in ((opinions, OPINIONS), ([how for _, how, _ in changes], CHANGES))
            for given in values
            if given not in known
        ]
        if faults:
            self.problems += faults
            return
        self._exchanges += [(row, *exchange) for exchange in exchanges]
        self._topics += [(row, *topic) for topic in topics]
        self._changes += [(row, *change) for change in changes]

    def words(self) -> Words | None:
        """Return the frames; None if nothing was said anywhere."""
        if not (self._exchanges or self._topics or self._changes):
            return None
        return as_words(self._exchanges, self._topics, self._changes)


def as_words(exchanges: Rows | Columns, topics: Rows | Columns, changes: Rows | Columns) -> Words:
    """Return the frames of `Words`, given as rows or as columns that may have their types already."""
    return Words(_frame(exchanges, _EXCHANGES), _frame(topics, _TOPICS), _frame(changes, _CHANGES))


def _frame(given: Rows | Columns, types: Columns) -> pd.DataFrame:
    return pd.DataFrame(given, columns=list(types)).astype(types)
