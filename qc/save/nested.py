"""The frames of a run as nested objects, an assignment at a time: what the JSON forms are written from."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.run import Run, Words, codes

COLUMNS = ["assignment", "hit", "worker", "seconds", "reward", "feedback"]
BLOCK = 2_000  # assignments turned into objects at once, so that memory does not grow with the run

Exchange = tuple[int, str, str | None]  # round, input, reply
Topic = tuple[int, str, str | None]  # round, topic, opinion
Change = tuple[int, str, str | None]  # round, how, opinion of the bot
Said = tuple[list[Exchange], list[Topic], list[Change]]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A row of `Run.conversations` with its ratings and, if the run holds words, its words."""

    conversation: str
    position: int
    system: str
    persona: list[str] | None
    ratings: dict[str, float]
    exchanges: list[Exchange]
    topics: list[Topic]
    changes: list[Change]


@dataclass(frozen=True, slots=True)
class Assignment:
    """A row of `Run.assignments` with its conversations, by position. None is what is not known."""

    assignment: str
    hit: str
    worker: str
    seconds: float | None
    reward: float | None
    feedback: str | None
    conversations: list[Conversation]


def offsets(owners: NDArray[np.integer], count: int) -> NDArray[np.int64]:
    """Return (count + 1,): where the rows of each owner 0 … count − 1 begin in the sorted `owners`."""
    return np.searchsorted(owners, np.arange(count + 1)).astype(np.int64)


def assignments(run: Run) -> Iterator[Assignment]:
    """Yield the assignments of `run` in its order."""
    of_assignments = offsets(codes(run.conversations["assignment"]), len(run.assignments))
    spoken = None if run.words is None else _Spoken(run.words, len(run.conversations))
    for first in range(0, len(run.assignments), BLOCK):
        bounds = of_assignments[first : first + BLOCK + 1]
        held = _conversations(run, spoken, int(bounds[0]), int(bounds[-1]))
        rows = records(run.assignments[COLUMNS].iloc[first : first + BLOCK])
        for row, (start, end) in zip(rows, pairwise((bounds - bounds[0]).tolist()), strict=True):
            name, hit, worker, seconds, reward, feedback = row
            yield Assignment(name, hit, worker, seconds, reward, feedback, held[start:end])


def _conversations(run: Run, spoken: "_Spoken | None", first: int, last: int) -> list[Conversation]:
    columns = ["conversation", "position", "system", "persona"]
    rows = records(run.conversations[columns].iloc[first:last])
    labels = run.criteria["label"].to_list()
    ratings = run.ratings.iloc[first:last].to_numpy().tolist()
    said: list[Said] = spoken.between(first, last) if spoken else [([], [], [])] * len(rows)
    return [
        Conversation(
            name,
            position,
            system,
            None if persona is None else persona.split("\n"),
            dict(zip(labels, values, strict=True)),
            *words,
        )
        for (name, position, system, persona), values, words in zip(rows, ratings, said, strict=True)
    ]


class _Spoken:
    """The words of a run, to be had by conversation."""

    def __init__(self, words: Words, conversations: int) -> None:
        self._frames = [
            words.exchanges[["conversation", "round", "input", "reply"]],
            words.topics[["conversation", "round", "topic", "opinion"]],
            words.changes[["conversation", "round", "how", "bot_opinion"]],
        ]
        self._offsets = [offsets(frame["conversation"].to_numpy(), conversations) for frame in self._frames]

    def between(self, first: int, last: int) -> list[Said]:
        """Return exchanges, topics and changes of the conversations from row `first` to before `last`."""
        kinds = []
        for frame, begin in zip(self._frames, self._offsets, strict=True):
            rows = records(frame.drop(columns="conversation").iloc[begin[first] : begin[last]])
            bounds = (begin[first : last + 1] - begin[first]).tolist()
            kinds.append([rows[a:b] for a, b in pairwise(bounds)])
        return list(zip(*kinds, strict=True))


def records(frame: pd.DataFrame) -> list[tuple[Any, ...]]:
    """Return the rows of `frame` as tuples of Python's own types, with None for what is missing."""
    columns = [frame[name].astype(object).where(frame[name].notna(), None).to_list() for name in frame]
    return list(zip(*columns, strict=True))


def number(value: float) -> float:
    """Return a whole number without a point, as people write it; other numbers (and −0.0) as they are."""
    whole = int(value)
    return whole if repr(value) == f"{whole}.0" else value
