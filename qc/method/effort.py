"""Words and characters per message and per conversation, and messages per conversation.

Source: Ji et al., ACL 2022; thesis, table A.9 (medians of words and characters in a conversation's inputs).
As there, conversations with the quality-control bot are left out. Removed messages are counted, but their
lengths are unknown.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.method.sample import Sample

COUNTING = (
    "A word is what stands between white space, punctuation included; where a script has none between words, "
    "as Chinese and Japanese, ICU finds them. Characters are all but white space."
)


@dataclass(frozen=True, slots=True)
class Lengths:
    """Mean and median of `n` lengths; NaN if there are none."""

    n: int
    mean: float
    median: float


@dataclass(frozen=True, slots=True)
class GroupEffort:
    """Lengths of the messages of a group of workers. A conversation without messages has lengths of 0.

    A conversation whose words were removed counts in `inputs_per_conversation` only.
    """

    inputs_per_conversation: Lengths
    words_per_input: Lengths
    words_per_conversation: Lengths
    characters_per_input: Lengths
    characters_per_conversation: Lengths


@dataclass(frozen=True, slots=True)
class Effort:
    """Effort of workers who passed, who failed, and of all; `counting` says how words are counted."""

    passed: GroupEffort
    failed: GroupEffort
    all: GroupEffort
    counting: str = COUNTING


def describe_effort(sample: Sample) -> Effort | None:
    """Return the lengths of the messages to the systems; None if the source does not hold the texts."""
    if sample.run.words is None:
        return None
    said = sample.input_lengths
    at = sample.run.words.exchanges["conversation"].to_numpy()
    count = len(sample.workers)
    inputs = np.bincount(at, minlength=count)
    keeps_words = np.bincount(at[~sample.inputs_kept], minlength=count) == 0
    words, characters = (
        np.bincount(at, weights=each, minlength=count) for each in (said.words, said.characters)
    )

    def effort_in(group: NDArray[np.bool_]) -> GroupEffort:
        known = group & keeps_words
        return GroupEffort(
            inputs_per_conversation=_lengths(inputs[group]),
            words_per_input=_lengths(said.words[known[at]]),
            words_per_conversation=_lengths(words[known]),
            characters_per_input=_lengths(said.characters[known[at]]),
            characters_per_conversation=_lengths(characters[known]),
        )

    return Effort(
        passed=effort_in(sample.counted),
        failed=effort_in(~sample.kept & sample.competes),
        all=effort_in(sample.competes),
    )


def _lengths(values: NDArray[np.integer | np.floating]) -> Lengths:
    if not len(values):
        return Lengths(0, float("nan"), float("nan"))
    return Lengths(len(values), float(values.mean()), float(np.median(values)))
