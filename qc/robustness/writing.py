"""Conversations whose inputs were mostly pasted, and what the scores are without them.

Who lets a language model write pastes what it wrote, or retypes it. Veselovsky, Horta Ribeiro and West,
*Artificial Artificial Artificial Intelligence* (arXiv 2306.07899, 2023) have taken keystrokes and pastes as
one of two signs of it, and estimate that 33 to 46 % of the workers of a summarisation task did so. Pasting is
no proof, and typing none of the contrary: so nobody is left out for it, neither by the filter nor from the
scores. What is asked is how much hangs on these conversations.

**A conversation looks pasted** if PASTED or more of the characters that were written in its inputs came by
paste or drop. Words of an input method, suggestions of a keyboard and speech do not (`composed`). The
threshold is ours, not measured: a worker who quotes a line stays below it, and one who pastes every reply is
far above.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.method.scores import Scores
from qc.robustness.intervals import worker_sums
from qc.statistics.clustered_means import interval_of_difference, means_by_group
from qc.statistics.resampling import generator

PASTED = 0.5


@dataclass(frozen=True)
class WritingResults:
    """How workers wrote, the qc bot's conversations among them, and what the scores are without some.

    A share is of the characters that were written; NaN where none were. `pace`: characters that were typed or
    composed, a minute of writing.

    Attributes:
        threshold: the share of pasted characters from which on a conversation looks pasted.
        groups: a row for the workers who `passed` the filter, those who `failed`, and `all`: `group`,
            `workers`, `conversations` (recorded), `pasted` (how many look so), `share`, `low`, `high` (its
            interval; NaN as in `means_by_group`); medians over conversations:
            `pace`, `pause` (the longest, seconds), `away` (times), `away_seconds`.
        workers: of every worker of whom it is known: `worker`, `passed`, `conversations`, `pasted` (how many
            look so), `pasted_share`, `typed_share` (of all their characters), and the medians as above.
        scores: by system, best first: `system`, `n` (conversations that count), `left` (without those that
            look pasted), `z`, `z_left` (overall z), `change`, `low`, `high` (the interval of the change, with
            as large a share of conversations that look pasted as here; NaN as in `interval_of_difference`).
            Empty if no conversation that counts looks pasted.
    """

    threshold: float
    groups: pd.DataFrame
    workers: pd.DataFrame
    scores: pd.DataFrame

    @property
    def changed(self) -> list[str]:
        """The systems whose score is another without these conversations, by more than chance."""
        apart = (self.scores["low"] > 0) | (self.scores["high"] < 0)
        return list(self.scores.loc[apart.to_numpy(bool), "system"])

    @property
    def order_changes(self) -> bool:
        """Whether the systems stand in another order without these conversations."""
        left = self.scores["z_left"].astype(float)
        return not left.sort_values(ascending=False, kind="stable").index.equals(self.scores.index)


def describe_writing(sample: Sample, scores: Scores, draws: int, seed: int) -> WritingResults | None:
    """Return how workers wrote; None where nothing is known of it.

    Args:
        sample: the conversations.
        scores: gives the order of the systems.
        draws: number of resamples of workers.
        seed: of the resamples.
    """
    if sample.run.writing is None:
        return None
    written = _per_conversation(sample.run.writing)
    owner = sample.workers[written["conversation"].to_numpy(np.intp)]
    return WritingResults(
        PASTED,
        _groups(sample, written, owner, draws, seed),
        _workers(sample, written, owner),
        _scores(sample, scores, written, draws, seed),
    )


_MEDIANS = ["pace", "pause", "away", "away_seconds"]


def _per_conversation(writing: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers of each conversation, whether it looks pasted, and what medians are taken of."""
    by_hand = writing["typed"] + writing["composed"]
    every = by_hand + writing["pasted"]
    minutes = writing["writing_ms"] / 60_000
    return writing.assign(
        every=every,
        looks_pasted=(every > 0) & (writing["pasted"] >= PASTED * every),
        pace=by_hand / minutes.where(minutes > 0),
        pause=writing["longest_pause_ms"] / 1_000,
        away_seconds=writing["away_ms"] / 1_000,
    )


def _groups(
    sample: Sample, written: pd.DataFrame, owner: NDArray[np.intp], draws: int, seed: int
) -> pd.DataFrame:
    passed = sample.screening.workers["passed"].to_numpy(bool)[owner]
    rows = []
    for group, among in (("passed", passed), ("failed", ~passed), ("all", np.ones(len(owner), bool))):
        part = written[among]
        looks = part["looks_pasted"].to_numpy(np.float64)
        one_group, rng = np.zeros(len(part), np.intp), generator(seed, f"bootstrap of pasting, {group}")
        found = means_by_group(looks, owner[among], one_group, 1, draws, rng, (0, 1))
        workers, share, low, high = (float(each[0]) for each in found)
        rows.append(
            {
                "group": group,
                "workers": int(workers),
                "conversations": len(part),
                "pasted": int(looks.sum()),
                "share": share,
                "low": low,
                "high": high,
                **part[_MEDIANS].median(),
            }
        )
    return pd.DataFrame(rows)


def _workers(sample: Sample, written: pd.DataFrame, owner: NDArray[np.intp]) -> pd.DataFrame:
    by_worker = written.groupby(owner)
    every = by_worker["every"].sum()
    known = every.index.to_numpy(np.intp)
    screened = sample.screening.workers.iloc[known]
    columns = {
        "worker": screened["worker"].astype(str).to_numpy(),
        "passed": screened["passed"].to_numpy(bool),
        "conversations": by_worker.size().to_numpy(),
        "pasted": by_worker["looks_pasted"].sum().to_numpy(np.int64),
        "pasted_share": (by_worker["pasted"].sum() / every.where(every > 0)).to_numpy(),
        "typed_share": (by_worker["typed"].sum() / every.where(every > 0)).to_numpy(),
    }
    medians = by_worker[_MEDIANS].median()
    return pd.DataFrame(columns | {name: medians[name].to_numpy(np.float64) for name in _MEDIANS})


def _scores(sample: Sample, scores: Scores, written: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    columns = ["system", "n", "left", "z", "z_left", "change", "low", "high"]
    stays = np.ones(len(sample.systems))
    stays[written.loc[written["looks_pasted"], "conversation"].to_numpy(np.intp)] = 0
    if stays[sample.counted].all():
        return pd.DataFrame(columns=columns)
    z = np.nan_to_num(sample.overall["z"])
    sums = worker_sums(sample, scores, np.column_stack([z, stays, z * stays]))
    n, total, left, total_left = sums.sum(axis=0).T
    # All is left and pasted in these shares, so what the mean changes by is a share of their difference.
    pasted = (n - left) / np.where(n > 0, n, np.nan)
    rng = generator(seed, "bootstrap without pasted")
    rest, taken = sums[..., 2:], sums[..., :2] - sums[..., 2:]
    ends = [
        interval_of_difference(rest[:, system], taken[:, system], draws, rng)[1:] for system in range(len(n))
    ]
    low, high = pasted * np.array(ends).T
    with np.errstate(invalid="ignore"):
        means = total / n, total_left / left
    return pd.DataFrame(
        {
            "system": scores.z["system"].to_numpy(),
            "n": n.astype(np.int64),
            "left": left.astype(np.int64),
            "z": means[0],
            "z_left": means[1],
            "change": means[1] - means[0],
            "low": low,
            "high": high,
        }
    )[columns]
