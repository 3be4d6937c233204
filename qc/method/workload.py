"""Workload: assignments per worker, their duration and cost, and the words and characters written.

Source: Ji et al., ACL 2022; thesis, table A.9 (medians of words and characters in a conversation's inputs).
As there, conversations with the quality-control bot are left out. Removed messages are counted, but their
lengths are unknown.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.options import Dialogues
from qc.run import Run, codes
from qc.statistics.text import written_lengths


# Source: Ji et al., ACL 2022, the paragraph on duration: working time of an assignment divided by its
# number of conversations, averaged over assignments.
@dataclass(frozen=True, slots=True)
class Minutes:
    """Mean minutes per conversation or assignment, for workers who passed, who failed, and all.

    NaN if unknown.
    """

    passed: float
    failed: float
    all: float


def minutes_per_conversation(sample: Sample) -> Minutes:
    """Return the minutes per conversation, over the assignments with a known working time.

    In a run of transcripts, return the minutes per item, including control items.
    """
    return _by_group(sample, assignment_minutes(sample.run))


def minutes_per_assignment(sample: Sample) -> Minutes:
    """Return the minutes per assignment, over those with a known working time."""
    return _by_group(sample, sample.run.assignments["seconds"].to_numpy(np.float64) / 60)


def _by_group(sample: Sample, minutes: NDArray[np.float64]) -> Minutes:
    """Return the means of `minutes`, (assignments,), by group of workers."""
    known = np.isfinite(minutes)
    passed = sample.screening.keeps(codes(sample.run.assignments["worker"]))
    return Minutes(
        passed=_mean(minutes[known & passed]),
        failed=_mean(minutes[known & ~passed]),
        all=_mean(minutes[known]),
    )


def assignment_minutes(run: Run) -> NDArray[np.float64]:
    """Return the minutes per conversation of each assignment, (assignments,); NaN if unknown.

    Unrated conversations count too, because they took time.
    """
    held = np.bincount(codes(run.conversations["assignment"]), minlength=len(run.assignments))
    if run.unrated is not None:
        held += np.bincount(codes(run.unrated.conversations["assignment"]), minlength=len(held))
    return np.asarray(run.assignments["seconds"].to_numpy(np.float64) / 60 / held)


def _mean(values: NDArray[np.float64]) -> float:
    return float(np.sort(values).mean()) if len(values) else float("nan")


# Workers' rewards and the platform's fee, without bonuses and the cost of running the systems. Every analysed
# assignment counts as paid, because a worker who fails the filter may be paid too. Source: Ji et al., ACL
# 2022, the section on cost.
@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of a run in dollars; NaN if the reward of any assignment is unknown.

    Attributes:
        reward: mean reward of an assignment.
        paid_assignments: number of assignments analysed.
        total: rewards of all assignments, with the fee.
        per_kept_assignment: `total` per assignment of a worker who passed; NaN if nobody did.
        per_kept_conversation: `total` per conversation of a worker who passed with a system; NaN if there is
            none.
        fee: fee of the platform, as a share of the rewards.
    """

    reward: float
    paid_assignments: int
    total: float
    per_kept_assignment: float
    per_kept_conversation: float
    fee: float = 0.0


def cost(sample: Sample, reward: float | None = None, fee: float = 0.0) -> Cost:
    """Return the cost of the run.

    Args:
        sample: the paid assignments.
        reward: reward of every assignment; None for the rewards in the data.
        fee: fee of the platform, as a share of the rewards.
    """
    assignments = sample.run.assignments
    rewards = assignments["reward"].to_numpy(np.float64) if reward is None else np.array([reward])
    # Rounding can change the mean of equal numbers: 0.99 would become 0.9900000000000001.
    alike = rewards.min() == rewards.max()
    mean = float(rewards[0] if alike else np.sort(rewards).mean())
    total = mean * len(assignments) * (1 + fee)
    kept = int(sample.screening.keeps(codes(assignments["worker"])).sum())
    counted = int(sample.counted.sum())
    return Cost(
        reward=mean,
        paid_assignments=len(assignments),
        total=total,
        per_kept_assignment=total / (kept or float("nan")),
        per_kept_conversation=total / (counted or float("nan")),
        fee=fee,
    )


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean, median and maximum over `count` workers; NaN if there are none."""

    mean: float
    median: float
    maximum: float
    count: int


@dataclass(frozen=True, slots=True)
class Times:
    """Number of workers who passed, and who failed, with a given number of assignments."""

    assignments: int
    passed: int
    failed: int


@dataclass(frozen=True, slots=True)
class Workload:
    """Assignments per worker, for workers who passed, who failed, and all.

    `distribution` has an entry for every number of assignments that any worker did, ascending.
    """

    passed: Spread
    failed: Spread
    all: Spread
    distribution: tuple[Times, ...]


def workload(sample: Sample) -> Workload:
    """Return the distribution of analysed assignments per worker."""
    passed = sample.screening.workers["passed"].to_numpy(bool)
    done = np.bincount(codes(sample.run.assignments["worker"]), minlength=len(passed))
    return Workload(
        passed=_spread(done[passed]),
        failed=_spread(done[~passed]),
        all=_spread(done),
        distribution=tuple(
            Times(each, int((done[passed] == each).sum()), int((done[~passed] == each).sum()))
            for each in np.unique(done).tolist()
        ),
    )


def _spread(done: NDArray[np.intp]) -> Spread:
    if not len(done):
        return Spread(float("nan"), float("nan"), float("nan"), 0)
    return Spread(float(done.mean()), float(np.median(done)), float(done.max()), len(done))


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


@dataclass(frozen=True, slots=True)
class DialogueLengths:
    """Lengths of workers' messages beside those of other people's dialogues.

    Attributes:
        source: name of the dialogues' file.
        workers: of workers who passed.
        dialogues: of the dialogues; each of the two people in one counts as a conversation.
    """

    source: str
    workers: GroupEffort
    dialogues: GroupEffort


def compare_lengths(sample: Sample, dialogues: Dialogues | None) -> DialogueLengths | None:
    """Return the lengths of workers' messages and of dialogues; None without texts or dialogues.

    Source: Ji, PhD thesis, figures 5.13 and 5.14, which set workers beside ConvAI2.
    """
    effort = describe_effort(sample)
    if effort is None or dialogues is None:
        return None
    said = written_lengths(dialogues.lines)
    words, characters = (np.bincount(dialogues.sides, weights=each) for each in (said.words, said.characters))
    theirs = GroupEffort(
        inputs_per_conversation=_lengths(np.bincount(dialogues.sides)),
        words_per_input=_lengths(said.words),
        words_per_conversation=_lengths(words),
        characters_per_input=_lengths(said.characters),
        characters_per_conversation=_lengths(characters),
    )
    return DialogueLengths(dialogues.name, effort.passed, theirs)


def _lengths(values: NDArray[np.integer | np.floating]) -> Lengths:
    if not len(values):
        return Lengths(0, float("nan"), float("nan"))
    return Lengths(len(values), float(values.mean()), float(np.median(values)))
