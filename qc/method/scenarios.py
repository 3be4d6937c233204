"""Scores by scenario: the scores of the systems in each situation or task that a study gives to workers."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from qc.method.sample import Sample
from qc.method.scores import Scores, ranks_of
from qc.run import codes
from qc.statistics.clustered_means import FEWEST_WORKERS, means_by_group
from qc.statistics.resampling import generator

# With fewer workers, a score depends strongly on each of them.
FEW_WORKERS = 10


@dataclass(frozen=True)
class ScenarioScores:
    """Scores by scenario, over the workers who passed, like the overall scores.

    Attributes:
        table: `scenario`, `system` (empty: all systems), `n` (conversations), `workers` (int), `z` (mean
            overall z), `low`, `high` (its interval; NaN as in `means_by_group`). By scenario, all
            systems first, then the systems, best first.
        notes: scenarios with few workers.
    """

    table: pd.DataFrame
    notes: tuple[str, ...]


def score_scenarios(sample: Sample, scores: Scores, draws: int, seed: int) -> ScenarioScores | None:
    """Return the scores by scenario; None if the run has no scenarios, or they are unknown.

    Args:
        sample: the conversations.
        scores: gives the order of the systems.
        draws: number of draws for the intervals.
        seed: seed of the draws.
    """
    given = sample.run.scenarios
    if given is None:
        return None
    counted = sample.counted & given.notna().to_numpy(bool)
    labels = given.cat.categories.to_list()
    scenario = codes(given)[counted]
    values, workers = sample.overall["z"][counted], sample.workers[counted]
    systems = scores.z["system"].to_list()
    rank = ranks_of(sample, scores)[sample.systems[counted]]
    cell = np.asarray(scenario * len(systems) + rank, np.intp)
    rng = generator(seed, "bootstrap of scenarios")
    whole = means_by_group(values, workers, scenario, len(labels), draws, rng)
    single = means_by_group(values, workers, cell, len(labels) * len(systems), draws, rng)
    rows = []
    for at, label in enumerate(labels):
        rows.append((label, "", int((scenario == at).sum()), *(part[at] for part in whole)))
        for place, system in enumerate(systems):
            here = at * len(systems) + place
            rows.append((label, system, int((cell == here).sum()), *(part[here] for part in single)))
    columns = ["scenario", "system", "n", "workers", "z", "low", "high"]
    return ScenarioScores(pd.DataFrame(rows, columns=columns), tuple(_few(labels, whole[0].tolist())))


def _few(labels: list[str], workers: list[int]) -> list[str]:
    few = [f"{label} ({n})" for label, n in zip(labels, workers, strict=True) if n < FEW_WORKERS]
    if not few:
        return []
    return [
        f"Scenarios rated by fewer than {FEW_WORKERS} workers who passed, in brackets: {', '.join(few)}. "
        f"Their scores stand on few shoulders, and below {FEWEST_WORKERS} workers there are no intervals."
    ]
