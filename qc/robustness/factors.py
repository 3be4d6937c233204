"""Factors besides the system: position, duration and topic of a conversation."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.method.workload import assignment_minutes
from qc.number_format import decimal
from qc.run import CHANGES, OPINIONS, Words, codes

QUARTILES = (0.25, 0.5, 0.75)
MANY_CHANGES = 3


@dataclass(frozen=True)
class Factor:
    """A factor and its level for each counted conversation.

    Attributes:
        name: name of the factor.
        levels: names of the levels that occur, in their natural order.
        codes: (counted conversations,), index in `levels`; -1 if the source does not say.
    """

    name: str
    levels: tuple[str, ...]
    codes: NDArray[np.intp]


def positions(sample: Sample) -> Factor:
    """Return the position of each conversation in its assignment."""
    given = sample.run.conversations["position"].to_numpy(np.intp)[sample.counted]
    found, level = np.unique(given, return_inverse=True)
    return Factor("position", tuple(str(each) for each in found), level)


def minutes(sample: Sample) -> Factor:
    """Return the quarter of each conversation by the minutes per conversation of its assignment.

    The quarters divide the counted conversations with a known time. Equal times are in the same quarter, so
    there may be fewer than four.
    """
    in_assignment = codes(sample.run.conversations["assignment"])[sample.counted]
    values = assignment_minutes(sample.run)[in_assignment]
    known = np.isfinite(values)
    if not known.any():
        return Factor("minutes", (), np.full(len(values), -1))
    cuts = np.unique(np.quantile(values[known], QUARTILES))
    shown = [decimal(cut, 2) for cut in cuts]
    names = (
        f"up to {shown[0]}",
        *(f"{low} to {high}" for low, high in pairwise(shown)),
        f"over {shown[-1]}",
    )
    return _occurring("minutes", names, np.where(known, np.searchsorted(cuts, values), -1))


def topic_opinions(sample: Sample) -> Factor | None:
    """Return the worker's opinion of the opening topic; None without texts."""
    words = sample.run.words
    if words is None:
        return None
    opinions = _opening_opinions(words, len(sample.workers))
    return _occurring("topic opinion", OPINIONS, opinions[sample.counted])


def topic_changes(sample: Sample) -> Factor | None:
    """Return the number of topic changes; None without texts. Records of "no change" are not counted."""
    words = sample.run.words
    if words is None:
        return None
    changed = codes(words.changes["how"]) != CHANGES.index("no change")
    marked = words.changes["conversation"].to_numpy(np.intp)[changed]
    counts = np.bincount(marked, minlength=len(sample.workers))[sample.counted]
    names = (*(str(count) for count in range(MANY_CHANGES)), f"{MANY_CHANGES} or more")
    return _occurring("topic changes", names, np.minimum(counts, MANY_CHANGES))


def _opening_opinions(words: Words, conversations: int) -> NDArray[np.intp]:
    """Return the opinion of each conversation's first opening topic, (conversations,); -1 if none."""
    opening = words.topics["round"].to_numpy() == 0
    marked, first = np.unique(words.topics["conversation"].to_numpy()[opening], return_index=True)
    opinions = np.full(conversations, -1)
    opinions[marked] = codes(words.topics["opinion"])[opening][first]
    return opinions


def _occurring(name: str, levels: tuple[str, ...], given: NDArray[np.intp]) -> Factor:
    """Return the factor without the levels that no conversation has."""
    found = np.unique(given[given >= 0])
    level = np.full(len(levels) + 1, -1)  # the last entry is for code -1
    level[found] = np.arange(len(found))
    return Factor(name, tuple(levels[each] for each in found), level[given])
