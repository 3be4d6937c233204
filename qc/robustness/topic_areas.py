"""Scores by area of the opening topic: of all systems together, and of each system.

The effect of an area is that of `qc.robustness.context`: the mean over its conversations of overall z minus
the mean of the same system, with errors by worker. A system's score in an area is the mean z of its
conversations there, with the interval of `means_by_group`.

Sources: Ji, PhD thesis, section 6.2 (performance by the domain of the topic); `qc.robustness.context`;
`qc.statistics.clustered_means`.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.method.scores import Scores, ranks_of
from qc.method.topic_areas import OTHER, area_names, topic_areas
from qc.robustness.context import Effect, effect_of, occurring
from qc.statistics.clustered_means import FEWEST_WORKERS, means_by_group
from qc.statistics.resampling import generator
from qc.table import listed, percent

# Of the topics; below it the areas say little. Their words are English.
FEWEST_RECOGNISED = 0.5
FEWEST_AREAS = 2


@dataclass(frozen=True)
class TopicAreas:
    """Scores by area of the opening topic, of the workers who passed.

    Attributes:
        why_not: why there are none; empty if there are. `effect` is then None, and `systems` empty.
        recognised: share of the topics that are in an area other than `OTHER`.
        effect: the effect of each area, and the test that areas do not differ.
        systems: `area`, `system`, `n` (conversations), `workers`, `z`, `low`, `high` (its interval; NaN as in
            `means_by_group`); by area, then best system first by overall scores. z is NaN with fewer than
            FEWEST_WORKERS workers.
        few: areas that too few workers chose for an interval.
    """

    why_not: str
    recognised: float
    effect: Effect | None
    systems: pd.DataFrame
    few: tuple[str, ...]


def score_topic_areas(sample: Sample, scores: Scores, draws: int, seed: int) -> TopicAreas | None:
    """Return the scores by area; None if the source holds no topics.

    Args:
        sample: the conversations.
        scores: gives the order of the systems.
        draws: number of draws for the intervals.
        seed: seed of the draws.
    """
    areas = topic_areas(sample)
    if areas is None:
        return None
    of_counted = areas[sample.counted]
    known = of_counted[of_counted >= 0]
    recognised = float((known != area_names().index(OTHER)).mean()) if len(known) else 0.0
    factor = occurring("topic area", area_names(), of_counted)
    if recognised < FEWEST_RECOGNISED:
        return _refused(
            f"Only {percent(recognised, 0)} of the opening topics have a word that the list of areas knows; "
            "the list is English.",
            recognised,
        )
    if len(factor.levels) < FEWEST_AREAS:
        return _refused(f"All topics are of one area: {listed(factor.levels)}.", recognised)
    effect = effect_of(sample, factor)
    few = tuple(level.name for level in effect.levels if not np.isfinite(level.low))
    return TopicAreas("", recognised, effect, _systems(sample, scores, areas, draws, seed), few)


def _refused(why: str, recognised: float) -> TopicAreas:
    return TopicAreas(why, recognised, None, pd.DataFrame(), ())


def _systems(sample: Sample, scores: Scores, areas: NDArray[np.intp], draws: int, seed: int) -> pd.DataFrame:
    rows = sample.counted & (areas >= 0)
    names = scores.z["system"].to_list()
    rank = ranks_of(sample, scores)[sample.systems[rows]]
    cells = np.asarray(areas[rows] * len(names) + rank, np.intp)
    count = len(area_names()) * len(names)
    rng = generator(seed, "bootstrap of topic areas")
    workers, z, low, high = means_by_group(
        sample.overall["z"][rows], sample.workers[rows], cells, count, draws, rng
    )
    table = pd.DataFrame(
        {
            "area": np.repeat(area_names(), len(names)),
            "system": np.tile(names, len(area_names())),
            "n": np.bincount(cells, minlength=count),
            "workers": workers,
            "z": np.where(workers >= FEWEST_WORKERS, z, np.nan),
            "low": low,
            "high": high,
        }
    )
    there = table.groupby("area")["n"].transform("sum") > 0
    return table[there].reset_index(drop=True)
