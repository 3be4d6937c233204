"""Scores by the length of the reference: of all systems together, and of each system.

Items are sorted into quarters by the words of their references; equal lengths are in one group. The effect
of a group is the mean over its judgments of z less the mean of the same system. A system's score in a group
is the mean z of its items there. Errors are by worker and by item (`qc.transcripts.results`). For the effect,
the influence of a judgment includes its part in its system's mean. With r = z − the system's mean, e the
effect and w the weight, it is w (r − e) / Σ w over the group, if it is in the group, less the system's share
of the group times w r / Σ w over the system.

Sources: Ji, PhD thesis, section 3.4.6 (scores by the length of the reference); `qc.transcripts.results`.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.method.scores import Scores, ranks_of
from qc.table import whole
from qc.transcripts.filter import of_kind
from qc.transcripts.results import TwoWayErrors, influences

QUARTERS = (0.25, 0.5, 0.75)
FEWEST_ITEMS = 20


@dataclass(frozen=True)
class ReferenceLengths:
    """Scores by the length of the reference.

    Attributes:
        why_not: why there are none; empty if there are. The tables are then empty.
        items: items whose reference is known.
        groups: `group`, `items`, `workers`, `judgments`, `effect`, `low`, `high` (95 % interval for other
            workers and other items; NaN with fewer than three of either). Shortest references first.
        systems: `group`, `system`, `items`, `workers`, `z`, `low`, `high`; by group, then best system first.
    """

    why_not: str
    items: int
    groups: pd.DataFrame
    systems: pd.DataFrame


def score_by_reference(sample: Sample, scores: Scores) -> ReferenceLengths | None:
    """Return the scores by the length of the reference; None unless references were given for items."""
    lengths = sample.run.reference_words
    if sample.items is None or lengths is None:
        return None
    of_rows = lengths.to_numpy(np.float64)[of_kind(sample.run, "ordinary")]
    there = sample.counted & np.isfinite(of_rows)
    items = sample.items[there]
    _, first = np.unique(items, return_index=True)
    known = of_rows[there]
    cuts = np.unique(np.floor(np.quantile(known[first], QUARTERS))) if len(first) else np.empty(0)
    group = np.searchsorted(cuts, known).astype(np.intp)
    names = _names(cuts)
    if len(first) < FEWEST_ITEMS:
        return _refused(f"{FEWEST_ITEMS} items with a known reference are needed.", len(first))
    if len(np.unique(group)) < 2:
        return _refused("All references have the same length.", len(first))
    judged = _Judged(
        sample.overall["z"][there],
        sample.weights[there],
        ranks_of(sample, scores)[sample.systems[there]],
        sample.workers[there],
        items,
    )
    systems = scores.z["system"].to_list()
    used = [each for each in range(len(names)) if (group == each).any()]
    groups = [{"group": names[each], **judged.effect(group == each, len(systems))} for each in used]
    rows = [
        {"group": names[each], "system": name, **judged.mean((group == each) & (judged.systems == rank))}
        for each in used
        for rank, name in enumerate(systems)
        if ((group == each) & (judged.systems == rank)).any()
    ]
    return ReferenceLengths("", len(first), pd.DataFrame(groups), pd.DataFrame(rows))


def _refused(why: str, items: int) -> ReferenceLengths:
    return ReferenceLengths(why, items, pd.DataFrame(), pd.DataFrame())


def _names(cuts: NDArray[np.float64]) -> list[str]:
    """Return the names of the groups: lengths up to each cut, and above the last."""
    between = [
        whole(high) if high == low + 1 else f"{whole(low + 1)} to {whole(high)}"
        for low, high in pairwise(cuts)
    ]
    return [
        *(f"up to {whole(cut)}" for cut in cuts[:1]),
        *between,
        *(f"{whole(cut + 1)} or more" for cut in cuts[-1:]),
    ]


@dataclass(frozen=True)
class _Judged:
    """Judgments: z, weight, rank of the system, worker and item of each, all (J,)."""

    z: NDArray[np.float64]
    weights: NDArray[np.float64]
    systems: NDArray[np.intp]
    workers: NDArray[np.intp]
    items: NDArray[np.intp]

    def mean(self, there: NDArray[np.bool_]) -> dict[str, float]:
        """Return the mean z of the judgments `there`, at least one, with its interval."""
        moved, _ = influences(self.z, self.weights * there, np.zeros(len(there), np.intp), 1)
        error = TwoWayErrors.of(moved, there, self.workers, self.items)
        mean = float(np.average(self.z[there], weights=self.weights[there]))
        half = error.quantile * error.both
        ends = {"low": mean - half, "high": mean + half}
        return {"items": error.items, "workers": error.workers, "z": mean, **ends}

    def effect(self, there: NDArray[np.bool_], count: int) -> dict[str, float]:
        """Return the effect of the group of the judgments `there`, with its interval."""
        of_system = np.bincount(self.systems, self.weights, count)
        left = (
            self.z
            - (
                np.bincount(self.systems, self.weights * self.z, count)
                / np.where(of_system > 0, of_system, 1)
            )[self.systems]
        )
        inside = self.weights * there
        total = float(inside.sum())
        effect = float((inside * left).sum() / total)
        share = np.bincount(self.systems, inside, count) / total
        moved = (
            inside * (left - effect) / total
            - share[self.systems] * self.weights * left / of_system[self.systems]
        )
        everywhere = TwoWayErrors.of(moved, np.ones(len(there), bool), self.workers, self.items)
        own = TwoWayErrors.of(moved, there, self.workers, self.items)
        half = own.quantile * everywhere.both if np.isfinite(own.both) else np.nan
        return {
            "items": own.items,
            "workers": own.workers,
            "judgments": int(there.sum()),
            "effect": effect,
            "low": effect - half,
            "high": effect + half,
        }
