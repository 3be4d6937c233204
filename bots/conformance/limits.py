"""Limits on shares of faulty replies, and when replies are too few to decide on which side of one a bot is.

Replies are drawn, so a bot near a limit would be accepted or refused at random. Wald's sequential
probability ratio test (1945) says when to stop asking. `benchmarks/check_errors.py` computes how often a
verdict is wrong.
"""

import math
from typing import NamedTuple

# The test's error rate for a bot with the share `low`, or `high`, if replies are asked for without end.
_ERROR = 0.01
# How often a check asks for more replies at most.
MOST_MORE = 6


class Limit(NamedTuple):
    """A tolerated share, with a share `low` that should pass and a share `high` that should fail."""

    low: float
    tolerated: float
    high: float

    def is_exceeded(self, found: int, of: int) -> bool:
        """Return whether `found` faults of `of` replies are more than tolerated."""
        return found > self.tolerated * of

    def is_open(self, found: int, of: int) -> bool:
        """Return whether chance may have decided on which side of the limit the faults are.

        Without any fault nothing is open: a check is long enough for that.
        """
        odds = found * math.log(self.high / self.low)
        odds += (of - found) * math.log((1 - self.high) / (1 - self.low))
        return found > 0 and abs(odds) < math.log((1 - _ERROR) / _ERROR)


# Failures and empty replies are requested again; as long as they are few, workers hardly notice. The same
# limit holds for other minor faults.
TOLERATED = Limit(0.05, 0.10, 0.20)
# A bot that answers more than half of all lines in the same way does not read them. Only a bot that would
# fail is asked more: up to half, a bot is warned of anyway.
DEAF = Limit(0.35, 0.50, 0.65)
