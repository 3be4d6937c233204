"""From ratings to scores that can be compared between workers.

Source: Ji et al., ACL 2022, the section on scores: negative criteria are reversed, then every worker's
scores are brought to mean 0 and standard deviation 1. The authors divide by sd + 1e-6; without the 1e-6
no z moves by more than 4e-8, and z does not change at all when a worker's scale is stretched.
"""

import numpy as np
from numpy.typing import NDArray

from qc.run import Run
from qc.statistics.groups import group_means, group_sums, group_varies


def oriented(run: Run) -> NDArray[np.float64]:
    """Return the scores of `run`, (conversations, criteria): the ratings, with negative criteria reversed."""
    ratings = run.ratings.to_numpy(np.float64)
    negative = run.criteria["negative"].to_numpy(bool)
    return np.where(negative, run.criteria["maximum"].to_numpy(np.float64) - ratings, ratings)


def standardise(scores: NDArray[np.float64], workers: NDArray[np.intp], count: int) -> NDArray[np.float64]:
    """Return z = (score - mean) / sd, mean and sd (ddof = 1) over all scores of the worker.

    Args:
        scores: (conversations, criteria), the qc bot's included.
        workers: (conversations,), codes from 0 to `count` - 1.
        count: number of workers.

    Returns:
        (conversations, criteria); NaN for a worker whose scores are all the same.
    """
    deviation = scores - group_means(scores, workers, count)[workers, None]
    # Of a worker without variance the deviations may be rounding noise, so it is not told by sd = 0.
    uneven = (scores != scores[:, :1]).any(axis=1)
    varies = group_varies(scores, workers, count) | (np.bincount(workers[uneven], minlength=count) > 0)
    degrees = np.where(varies, np.bincount(workers, minlength=count) * scores.shape[1] - 1, np.nan)
    sd = np.sqrt(group_sums(deviation * deviation, workers, count) / degrees)
    return np.asarray(deviation / sd[workers, None])
