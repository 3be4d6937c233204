"""Limits on shares of faulty replies, and when replies are too few to decide on which side of one a bot is.

Replies are drawn, so a bot near a limit would be refused at random. Before a bot is refused, Wald's
sequential probability ratio test (1945) says whether to ask it more. `benchmarks/check_errors.py` computes
how often a verdict is wrong.
"""

import math
from typing import NamedTuple

# The test's error rate for a bot with the tolerated share, or with `high`, if it is asked without end.
_ERROR = 0.01
# How often a check asks for more replies at most.
MOST_MORE = 6


class Limit(NamedTuple):
    """A tolerated share of faults, and a `high` one that has to be told apart from it."""

    tolerated: float
    high: float

    @property
    def middle(self) -> float:
        """The share of faults found that speaks for neither of the two."""
        fault, none = self._weights
        return none / (fault + none)

    def is_exceeded(self, found: int, of: int, *, again: bool = False) -> bool:
        """Return whether `found` faults of `of` replies are too many.

        `again`: the bot was asked more, because the first replies had too many. Then the faults must speak
        for the high share: those first replies are among them, and were not drawn at random.
        """
        return found > (self.middle if again else self.tolerated) * of

    def is_open(self, found: int, of: int) -> bool:
        """Return whether there are more faults than tolerated, and chance may have made them."""
        fault, none = self._weights
        odds = found * fault - (of - found) * none
        return self.is_exceeded(found, of) and abs(odds) < math.log((1 - _ERROR) / _ERROR)

    @property
    def _weights(self) -> tuple[float, float]:
        """How much a fault speaks for the high share, and any other reply for the tolerated one."""
        low, high = self.tolerated, self.high
        return math.log(high / low), math.log((1 - low) / (1 - high))


# Failures and empty replies are requested again; as long as they are few, workers hardly notice. The same
# limit holds for other minor faults.
TOLERATED = Limit(0.10, 0.20)
# A bot that answers more than half of all lines in the same way does not read them.
DEAF = Limit(0.50, 0.65)
