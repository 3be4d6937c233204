"""Standardise ratings, so that scores can be compared between workers.

Source: Ji et al., ACL 2022, the section on scores: negative criteria are reversed, then every worker's
scores are scaled to mean 0 and standard deviation 1. The authors divide by sd + 1e-6. Without the 1e-6 no z
changes by more than 4e-8, and z does not depend on how widely a worker spreads their ratings.

The filter and z pool a worker's ratings on several criteria, which is only valid on one scale. If the
criteria of a run have different maxima (the published ones do not), all ratings are rescaled to 0 to 100.
"""

import numpy as np
from numpy.typing import NDArray

from qc.run import Run
from qc.statistics.groups import group_means, group_sums, group_varies

COMMON_MAXIMUM = 100.0


def oriented(run: Run) -> NDArray[np.float64]:
    """Return the scores of `run`, (conversations, criteria): ratings on one scale, negative ones reversed."""
    ratings = run.ratings.to_numpy(np.float64)
    negative = run.criteria["negative"].to_numpy(bool)
    reversed_where_negative = np.where(negative, _maxima(run) - ratings, ratings)
    return _on_one_scale(reversed_where_negative, run)


def as_given(run: Run) -> NDArray[np.float64]:
    """Return the ratings of `run`, (conversations, criteria), on one scale, none of them reversed."""
    return _on_one_scale(run.ratings.to_numpy(np.float64), run)


def scale_maximum(run: Run) -> float:
    """Return the upper end of the scale of the scores of `run`; the lower end is 0."""
    return float(_maxima(run)[0]) if has_one_scale(run) else COMMON_MAXIMUM


def has_one_scale(run: Run) -> bool:
    """Return whether all criteria have the same maximum; if not, ratings are rescaled to 0 to 100."""
    return bool((_maxima(run) == _maxima(run)[:1]).all())


def _on_one_scale(values: NDArray[np.float64], run: Run) -> NDArray[np.float64]:
    # Multiply first, so that 1 of 3 and 2 of 6 give exactly the same number.
    return values if has_one_scale(run) else values * COMMON_MAXIMUM / _maxima(run)


def _maxima(run: Run) -> NDArray[np.float64]:
    return run.criteria["maximum"].to_numpy(np.float64)


def standardise(scores: NDArray[np.float64], workers: NDArray[np.intp], count: int) -> NDArray[np.float64]:
    """Return z = (score - mean) / sd, mean and sd (ddof = 1) over all scores of the worker.

    Args:
        scores: (conversations, criteria), including conversations with the QC bot.
        workers: (conversations,), codes from 0 to `count` - 1.
        count: number of workers.

    Returns:
        (conversations, criteria); NaN for a worker whose scores are all the same.
    """
    deviation = scores - group_means(scores, workers, count)[workers, None]
    # For a worker without variance the deviations may be rounding noise, so sd = 0 does not detect them.
    uneven = (scores != scores[:, :1]).any(axis=1)
    varies = group_varies(scores, workers, count) | (np.bincount(workers[uneven], minlength=count) > 0)
    degrees = np.where(varies, np.bincount(workers, minlength=count) * scores.shape[1] - 1, np.nan)
    sd = np.sqrt(group_sums(deviation * deviation, workers, count) / degrees)
    return np.asarray(deviation / sd[workers, None])
