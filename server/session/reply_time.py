"""Reply delays, from one distribution for every bot, so that speed does not tell bots apart."""

import math
from datetime import timedelta
from statistics import NormalDist
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from server.session.plan import derive_seed

_NORMAL = NormalDist()
_NO_TIME = timedelta(0)
_QUICKEST, _SLOWEST = 45, 120  # milliseconds a word: 500 to 1,300 words a minute, around reading speed


class ReplyTime(BaseModel):
    """Seconds until a reply may be shown: log-normal around `median`, one distribution for every bot."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    median: Annotated[float, Field(ge=0, le=60, strict=True)] = 2.5
    spread: Annotated[float, Field(ge=0, le=2, strict=True)] = Field(
        0.35, description="Standard deviation of the logarithm of the delay."
    )
    longest: Annotated[float, Field(ge=0, le=120, strict=True)] = Field(
        8.0, description="Longer delays are cut to this. Keep it well above the median."
    )

    def seconds(self, normal: float) -> float:
        """Return the delay for a value of the standard normal distribution."""
        return min(self.median * math.exp(self.spread * normal), self.longest)

    def quantile(self, share: float) -> float:
        """Return the seconds that a share of the delays does not exceed.

        Raises:
            StatisticsError: `share` is not between 0 and 1, both excluded.
        """
        return self.seconds(_NORMAL.inv_cdf(share))

    def quantiles(self, n: int) -> tuple[float, ...]:
        """Return `n` delays that represent the distribution: the middles of its n equal parts."""
        return tuple(self.quantile((i + 0.5) / n) for i in range(n))

    @property
    def floor(self) -> float:
        """The typing-time floor: 95 % of the delays are at least as long.

        A bot whose p95 of latency is below the floor cannot be recognised by its reply times. If it always
        answers below the floor, it changes only the shortest 5 % of its delays. So against a bot that answers
        at once, the chance that its reply time is the longer one (the AUC) is at most
        0.95 · (0.5 + 0.05² / 2) + 0.05 = 0.526.
        """
        return self.quantile(0.05)


def word_pace(seed: int, index: int) -> int:
    """Return the milliseconds for each word of line number `index`, if replies appear word by word.

    Between 45 and 120, with the logarithm evenly distributed. It depends only on the conversation's `seed`
    and the line, like the delay before it: not on the bot or its latency.
    """
    share = _share(seed, "pace", index)
    return round(_QUICKEST * math.exp(share * math.log(_SLOWEST / _QUICKEST)))


def reply_delay(reply_time: ReplyTime, pace: float, seed: int, index: int) -> timedelta:
    """Return how long after the worker's line the bot's line number `index` may be shown.

    The delay depends on the conversation's `seed` and the line's `index`, not on the bot or the length of the
    reply. `pace` scales it: 1 for people, less for simulated workers.
    """
    if reply_time.median * pace == 0:  # then every draw is 0
        return _NO_TIME
    return timedelta(seconds=reply_time.quantile(_share(seed, "reply", index)) * pace)


def _share(seed: int, purpose: str, index: int) -> float:
    return ((derive_seed(seed, purpose, index) >> 11) + 0.5) / 2**52  # between 0 and 1, never 1
