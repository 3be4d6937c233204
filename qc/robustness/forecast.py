"""Forecast the correlation with a second run from this run alone.

The second run is assumed to have as many workers who pass as this one. All of them are new, are drawn from
the same population, and get the systems in the same way. The forecast cannot include other changes between
two runs: another season, another platform, another version of a system.

**Forecast.** The workers who passed are split at random into halves, many times. Each half gives scores of
the systems, and the scores of the two halves are correlated. A half has half the workers, so with the mean r
over the splits, the forecast is 2r / (1 + r), the Spearman-Brown formula for doubled length. Two runs of the
same systems cannot correlate negatively in the long run, so a negative mean counts as 0. The formula is
applied to the mean and not to every split, because it has a pole at r = −1.

**Interval.** The spread of the splits is not a valid interval, because all splits use the same data. A
prediction interval is needed for a single r: that of the second run. So second runs are drawn, and correlated
with the observed scores. A drawn run has true scores that are compatible with this run
(`qc.statistics.mixed_model`), plus new errors. Three things make the errors unequal or uncertain, and are
part of the draws:

- *The design.* Let h be a worker's share of a system's conversations. The error of the system's score has the
  variance e · c, where c = Σ h² and e is the same for all systems. With few workers, some systems are rated
  by chance much more often than others.
- *e is estimated.* Let u be the amount by which a worker moves the scores, each divided by √(1 - h), minus
  the mean over the systems (a shift common to all systems does not affect r). Then e = Σ u² / ((S - 1) / S ·
  Σ c). The sums Σ u² of single workers show how uncertain e is: e over its estimate is distributed like f /
  χ²(f), with the degrees of freedom that fit the variance of these sums: f = 2 W (their mean / their standard
  deviation)².
- *The second run allots its systems anew*: its c come from as many workers drawn with replacement. A system
  that none of them rated has no score, and is left out of r.

2.5 % of the drawn correlations are above the upper end. The lower end uses cautious draws of the true scores,
with 2.5 % of their correlations below it: with the other draws, the forecast for systems with similar scores
was too high. `benchmarks/qc_truth.py --part second` prints how often the second run's r lies in the interval.

Sources: Spearman, *British Journal of Psychology* 3 (1910) 271–295, and Brown, ibid. 296–322; the interval:
Nagashima, Noma and Furukawa, *Statistical Methods in Medical Research* 28, 2019; degrees of freedom:
Satterthwaite, *Biometrics Bulletin* 2 (1946) 110–114; √(1 - h): `qc.statistics.resampling`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.method.scores import Scores
from qc.robustness.intervals import means_of_sums, systems_alike, worker_sums
from qc.statistics.confidence import LEVEL
from qc.statistics.correlation import pearson_of_rows
from qc.statistics.mixed_model import true_means
from qc.statistics.resampling import (
    Influences,
    bootstrap_sums,
    generator,
    half_sums,
    influences,
    percentile_interval,
)

FEWEST_WORKERS = 4
FEWEST_SYSTEMS = 3
# Fewer workers do not show how much workers differ; `benchmarks/qc_truth.py` tests down to about 12 who pass.
FEW_WORKERS = 12
SPLITS = 1000


@dataclass(frozen=True)
class ReplicationForecast:
    """Pearson's r of the overall z scores of a second run with those of this one.

    Attributes:
        r: the forecast, from 0 to 1.
        low, high: prediction interval of the second run's r; NaN if this run's scores are all the same.
        splits: number of random splits.
        level: level of the interval.
        criteria: label → the forecast for the scores on that criterion; NaN if they do not vary.
        notes: sentences that a reader of the forecast must see.
    """

    r: float
    low: float
    high: float
    splits: int
    level: float
    criteria: dict[str, float]
    notes: tuple[str, ...]


def forecast(sample: Sample, scores: Scores, seed: int, splits: int = SPLITS) -> ReplicationForecast | None:
    """Forecast the correlation of this run with a second run.

    Returns:
        None if no forecast is possible: fewer than 4 workers passed, fewer than 3 systems have a score, all
        systems were rated alike (`systems_alike`), or in no split both halves have varying scores of at
        least 3 common systems.
    """
    sums = worker_sums(sample, scores, sample.z)
    sums = sums[:, sums[..., 0].any(axis=0)]
    workers, systems, columns = sums.shape
    if workers < FEWEST_WORKERS or systems < FEWEST_SYSTEMS or systems_alike(sample, scores):
        return None
    rng = generator(seed, "split halves of workers")
    halves = [
        _with_overall(half.reshape(splits, systems, columns))
        for half in half_sums(sums.reshape(workers, -1), splits, rng)
    ]
    r = [_spearman_brown(pearson_of_rows(halves[0][..., k], halves[1][..., k])) for k in range(columns)]
    if np.isnan(r[0]):
        return None
    found = influences(sums)
    observed = found.mean.mean(axis=1)
    usual, cautious = (
        percentile_interval(
            pearson_of_rows(observed, second_runs(found, sums[..., 0], splits, rng, cautious=cautious)), LEVEL
        )
        for cautious in (False, True)
    )
    return ReplicationForecast(
        r=r[0],
        low=float(cautious[0]),
        high=float(usual[1]),
        splits=splits,
        level=LEVEL,
        criteria=dict(zip(sample.run.criteria["label"], r[1:], strict=True)),
        notes=_notes(workers),
    )


def _with_overall(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (…, S, 1 + K) scores, overall first, from (…, S, 1 + K) counts and sums."""
    means = means_of_sums(sums)
    return np.concatenate([means.mean(axis=-1, keepdims=True), means], axis=-1)


def _spearman_brown(halves: NDArray[np.float64]) -> float:
    """Return the correlation of whole runs from those of halves; NaN if no split has one."""
    known = halves[~np.isnan(halves)]
    mean = max(0.0, float(known.mean())) if len(known) else np.nan
    return float(2 * mean / (1 + mean))


def second_runs(
    found: Influences,
    counts: NDArray[np.float64],
    draws: int,
    rng: np.random.Generator,
    *,
    cautious: bool = False,
) -> NDArray[np.float64]:
    """Draw overall scores of second runs, as derived in the module's docstring.

    Args:
        found: contributions of the W workers to the scores of this run.
        counts: (W, S), their conversations.
        draws: number of draws.
        rng: source of the draws.
        cautious: as for `qc.statistics.mixed_model.true_means`.

    Returns:
        (draws, S); NaN if no drawn worker rated the system; all NaN if no system has two raters.
    """
    observed = found.mean.mean(axis=1)
    errors = _error_variances(found, draws, rng)[:, None]
    true = true_means(observed, errors * (found.h**2).sum(axis=0), rng, cautious=cautious)
    both = bootstrap_sums(np.hstack([counts, counts**2]), draws, rng)
    dealt, squares = np.split(both, 2, axis=1)
    c = squares / np.where(dealt > 0, dealt, np.nan) ** 2
    return np.asarray(true + np.sqrt(errors * c) * rng.normal(size=c.shape))


def _error_variances(found: Influences, draws: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return draws of e, (draws,); NaN if every system has only one rater."""
    workers, systems = found.h.shape
    moved = found.u.mean(axis=2) / np.sqrt(np.where(found.h < 1, 1 - found.h, 1))
    of_worker = ((moved - moved.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    told = found.raters > 1
    c = (found.h[:, told] ** 2).sum() * (systems - 1) / systems
    error = of_worker.sum() / c if told.any() else np.nan
    spread = of_worker.var(ddof=1)
    if not spread > 0:
        return np.full(draws, error)
    degrees = 2 * workers * of_worker.mean() ** 2 / spread
    return np.asarray(error * degrees / rng.chisquare(degrees, draws))


def _notes(workers: int) -> tuple[str, ...]:
    if workers >= FEW_WORKERS:
        return ()
    return (
        f"Only {workers} workers passed: their halves say little about how workers differ, so the forecast "
        "and its interval rest on few.",
    )
