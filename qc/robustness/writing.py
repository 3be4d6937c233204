"""Find conversations with mostly pasted messages, and compute the scores without them.

Workers who let a language model write paste or retype its text. Veselovsky, Horta Ribeiro and West,
*Artificial Artificial Artificial Intelligence* (arXiv 2306.07899, 2023) use keystrokes and pastes as one of
two signs of this, and estimate that 33 to 46 % of the workers of a summarisation task did it. Pasting is no
proof, and typing does not prove the contrary. So pasting excludes no worker, neither from the filter nor from
the scores. This module only computes how much the scores depend on such conversations.

**A conversation looks pasted** if at least the share PASTED of the characters in its messages was pasted or
dropped. Words from an input method, keyboard suggestions and dictation do not count as pasted (`composed`).
The threshold is our choice, not measured: a worker who quotes a line stays below it, and a worker who pastes
every message is far above it.
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
    """How workers wrote, including conversations with the QC bot, and the scores without pasted ones.

    Shares `pasted_share` and `typed_share` are of the written characters; NaN if there are none. `pace` is
    the number of typed or composed characters per minute of writing.

    Attributes:
        threshold: smallest share of pasted characters at which a conversation looks pasted.
        groups: a row for the workers who `passed` the filter, those who `failed`, and `all`: `group`,
            `workers`, `conversations` (recorded), `pasted` (number that look pasted), `share` (of the
            conversations), `low`, `high` (its interval; NaN as in `means_by_group`); medians over
            conversations: `pace`, `pause` (the longest, seconds), `away` (times), `away_seconds`.
        workers: every worker with recorded data: `worker`, `passed`, `conversations`, `pasted` (number that
            look pasted), `pasted_share`, `typed_share` (of all their characters), and the medians as above.
        scores: by system, best first: `system`, `n` (counted conversations), `left` (of these, not pasted),
            `z`, `z_left` (overall z of all, and of those left), `change`, `low`, `high` (interval of the
            change, for the same share of pasted conversations; NaN as in `interval_of_difference`). Empty if
            no counted conversation looks pasted.
    """

    threshold: float
    groups: pd.DataFrame
    workers: pd.DataFrame
    scores: pd.DataFrame

    @property
    def changed(self) -> list[str]:
        """The systems whose score changes significantly without these conversations."""
        apart = (self.scores["low"] > 0) | (self.scores["high"] < 0)
        return list(self.scores.loc[apart.to_numpy(bool), "system"])

    @property
    def order_changes(self) -> bool:
        """Whether the order of the systems changes without these conversations."""
        left = self.scores["z_left"].astype(float)
        return not left.sort_values(ascending=False, kind="stable").index.equals(self.scores.index)


def describe_writing(sample: Sample, scores: Scores, draws: int, seed: int) -> WritingResults | None:
    """Return how workers wrote; None if that was not recorded.

    Args:
        sample: the conversations.
        scores: gives the order of the systems.
        draws: number of resamples of workers.
        seed: seed of the resamples.
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
    """Add to each conversation whether it looks pasted, and the columns of the medians."""
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
    # The mean of all is a weighted mean of the pasted and the others, so the change of the mean is the pasted
    # share times the difference of the two.
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
