"""Half-widths by empirical Bernstein bounds, beside which confidence sequences are to be seen.

Chaganty, Mussmann and Liang (ACL 2018) propose to stop by such a bound. At the sizes of human
evaluations they are too wide to be of use: with 107 judgments of sd 25 on 0 to 100, ±18, ±17 and ±44.
"""

import numpy as np

STOPPING_POWER = 1.1


def audibert(n: int, sd: float, reach: float, delta: float) -> float:
    """Return the half-width at a fixed n.

    Source: Audibert, Munos and Szepesvári, Theoretical Computer Science 410, 2009.

    Args:
        n: number of values.
        sd: of the values, with divisor n.
        reach: R, how far apart two values can be.
        delta: probability of missing.
    """
    log = np.log(3 / delta)
    return float(sd * np.sqrt(2 * log / n) + 3 * reach * log / n)


def maurer_pontil(n: int, sd: float, reach: float, delta: float) -> float:
    """Return the two-sided half-width at a fixed n: Maurer and Pontil, COLT 2009; `sd` has n − 1."""
    log = np.log(4 / delta)
    return float(sd * np.sqrt(2 * log / n) + 7 * reach * log / (3 * (n - 1)))


def stopping(n: int, sd: float, reach: float, delta: float) -> float:
    """Return the half-width of EBStop at time n: Mnih, Szepesvári and Audibert, ICML 2008.

    It may be looked at after each value, since time t gets δ (p − 1) / (p t^p) of δ, p = STOPPING_POWER.
    Arguments as for `audibert`.
    """
    share = (STOPPING_POWER - 1) / (STOPPING_POWER * n**STOPPING_POWER)
    return audibert(n, sd, reach, delta * share)
