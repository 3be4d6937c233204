"""Collect the texts of conversations, one by one, and return them as the frames of `Words`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from qc.errors import Problem, joined, quoted
from qc.loading.raw_run import REPAIR
from qc.run import CHANGES, OPINIONS, WORD_COLUMNS, Words

# Round; then an input, a topic or a kind of change; then the reply or the opinion.
Spoken = tuple[int, str, str | None]
Rows = Sequence[tuple[object, ...]]
Columns = dict[str, Any]


@dataclass
class Speech:
    """Texts collected so far; `problems` is the loader's list."""

    problems: list[Problem]
    _said: dict[str, list[tuple[int, int, str, str | None]]] = field(
        default_factory=lambda: {kind: [] for kind in WORD_COLUMNS}
    )

    def add(
        self,
        row: int,
        where: str,
        exchanges: Sequence[Spoken],
        topics: Sequence[Spoken],
        changes: Sequence[Spoken],
    ) -> None:
        """Add the texts of the conversation in row `row`; `where` is its location in the source.

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
        for gathered, given in zip(self._said.values(), (exchanges, topics, changes), strict=True):
            gathered += [(row, *each) for each in given]

    def words(self) -> Words | None:
        """Return the frames; None if there is no text in any conversation."""
        return as_words(**self._said) if any(self._said.values()) else None


def as_words(exchanges: Rows | Columns, topics: Rows | Columns, changes: Rows | Columns) -> Words:
    """Return the frames of `Words` from rows, or from columns that may already have their types."""
    given = zip((exchanges, topics, changes), WORD_COLUMNS.values(), strict=True)
    return Words(*(_frame(values, columns) for values, columns in given))


def _frame(given: Rows | Columns, columns: dict[str, Any]) -> pd.DataFrame:
    types = {"conversation": np.int32, "round": np.int32, **columns}
    return pd.DataFrame(given, columns=list(types)).astype(types)
