"""Compute the wait before the next try."""

from tenacity import wait_exponential, wait_random_exponential
from tenacity.wait import wait_base


def backoff(first: float, *, longest: float, growth: float) -> wait_base:
    """Return pauses of `first` seconds, then `growth` times as long up to `longest`, each times 0.5 to 1.5.

    Whoever lost the same server neither comes back at once nor in the same moment as the others.
    """
    half = wait_exponential(multiplier=first / 2, max=longest / 2, exp_base=growth)
    return half + wait_random_exponential(multiplier=first, max=longest, exp_base=growth)
