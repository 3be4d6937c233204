"""Gather what was said in conversations, one by one, and return it as the frames of `Words`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from qc.errors import Problem, quoted
from qc.load.draft import REPAIR, joined
from qc.run import CHANGES, OPINIONS, Words

Exchange = tuple[int, str, str | None]  # round, input, reply
Topic = tuple[int, str, str | None]  # round, topic, opinion
Change = tuple[int, str, str | None]  # round, how, bot's opinion


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
        opinion = pd.CategoricalDtype(list(OPINIONS))
        place = {"conversation": np.int32, "round": np.int32}
        return Words(
            _frame(self._exchanges, {**place, "input": str, "reply": str}),
            _frame(self._topics, {**place, "topic": str, "opinion": opinion}),
            _frame(
                self._changes, {**place, "how": pd.CategoricalDtype(list(CHANGES)), "bot_opinion": opinion}
            ),
        )


def _frame(rows: Sequence[tuple[object, ...]], types: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(types)).astype(types)
