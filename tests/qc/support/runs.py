"""Runs made up from ratings, for what needs whole frames: assignments, positions, times, words."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from qc.run import CHANGES, OPINIONS, Run, Words

QC = "qc"


def run_of(
    workers: Sequence[str],
    systems: Sequence[str],
    ratings: ArrayLike,
    positions: Sequence[int],
    seconds: Sequence[float] | float = np.nan,
    words: Words | None = None,
    more_systems: Sequence[str] = (),
) -> Run:
    """Return a run whose criteria count for quality control and are not negative.

    Args:
        workers: of each conversation; in order of assignment, which begins wherever a position is 1.
        systems: of each conversation; "qc" is the quality-control bot.
        ratings: (conversations, criteria).
        positions: of each conversation.
        seconds: of each assignment.
        words: what was said.
        more_systems: competing systems that nobody met.
    """
    numbers = np.cumsum(np.asarray(positions) == 1) - 1
    names = [f"a{number:05}" for number in range(numbers[-1] + 1)]
    people = pd.Index(sorted(set(workers)))
    competing = sorted(set(systems) - {QC} | set(more_systems))
    owners = pd.Categorical(workers, people)
    table = np.asarray(ratings, np.float64)
    labels = [f"c{number}" for number in range(table.shape[1])]
    return Run(
        name="made up",
        source="made up",
        partial=False,
        criteria=pd.DataFrame({"label": labels, "negative": False, "counts_for_qc": True, "maximum": 100.0}),
        systems=pd.DataFrame(
            {
                "system": [*competing, QC],
                "family": [*competing, QC],
                "has_persona": False,
                "is_qc": [*(False for _ in competing), True],
            }
        ),
        assignments=pd.DataFrame(
            {
                "assignment": names,
                "hit": names,
                "worker": owners[np.asarray(positions) == 1],
                "seconds": np.broadcast_to(np.asarray(seconds, np.float64), len(names)),
                "reward": np.nan,
            }
        ),
        conversations=pd.DataFrame(
            {
                "conversation": [f"v{number:05}" for number in range(len(table))],
                "assignment": pd.Categorical.from_codes(numbers, names),
                "worker": owners,
                "position": np.asarray(positions),
                "system": pd.Categorical(systems, [*competing, QC]),
                "is_qc": np.asarray(systems) == QC,
            }
        ),
        ratings=pd.DataFrame(table, columns=labels),
        words=words,
    )


def words_of(
    topics: Sequence[tuple[int, int, str | None]] = (),
    changes: Sequence[tuple[int, str]] = (),
    inputs: Sequence[tuple[int, str]] = (),
) -> Words:
    """Return words from topics (conversation, round, opinion), changes (…, how) and inputs (…, text)."""
    return Words(
        exchanges=pd.DataFrame(
            {
                "conversation": np.array([where for where, _ in inputs], np.int32),
                "round": np.ones(len(inputs), np.int32),
                "input": pd.Series([text for _, text in inputs], dtype="str"),
                "reply": pd.Series([None for _ in inputs], dtype="str"),
            }
        ),
        topics=pd.DataFrame(
            {
                "conversation": np.array([where for where, _, _ in topics], np.int32),
                "round": np.array([when for _, when, _ in topics], np.int32),
                "topic": pd.Series(["tea" for _ in topics], dtype="str"),
                "opinion": pd.Categorical([opinion for *_, opinion in topics], OPINIONS),
            }
        ),
        changes=pd.DataFrame(
            {
                "conversation": np.array([where for where, _ in changes], np.int32),
                "round": np.ones(len(changes), np.int32),
                "how": pd.Categorical([how for _, how in changes], CHANGES),
                "bot_opinion": pd.Categorical([None for _ in changes], OPINIONS),
            }
        ),
    )
