"""How long replies naturally take: what a bot's speed is held against."""

import math
from statistics import NormalDist

MEDIAN, SPREAD, LONGEST = 2.5, 0.35, 8.0  # seconds; what a study has unless its `reply_time` says otherwise
_DRAWS = 200


def typing_times(
    median: float = MEDIAN, spread: float = SPREAD, longest: float = LONGEST
) -> tuple[float, ...]:
    """Return seconds after which replies are shown in a study: quantiles of its log-normal `reply_time`.

    `spread` is the standard deviation of the logarithm, `longest` cuts the tail off.
    """
    normal = NormalDist()
    draws = (normal.inv_cdf((i + 0.5) / _DRAWS) for i in range(_DRAWS))
    return tuple(min(median * math.exp(spread * draw), longest) for draw in draws)
