"""The delays that stand for all natural reply times, which the speed of a bot is held against."""

import math
from statistics import NormalDist, median

import pytest

from server.session.reply_time import ReplyTime

N = 200


def test_they_are_quantiles_of_the_log_normal() -> None:
    times = ReplyTime(median=2.0, spread=0.5, longest=120.0).quantiles(N)
    assert sorted(times) == list(times)
    assert median(times) == pytest.approx(2.0, rel=1e-3)
    # About 15.9 % lie below one standard deviation under the mean of the logarithm.
    below = sum(time < 2.0 * math.exp(-0.5) for time in times) / len(times)
    assert below == pytest.approx(NormalDist().cdf(-1), abs=1 / len(times))


def test_the_longest_cuts_them_off() -> None:
    assert max(ReplyTime(median=2.5, spread=0.35, longest=4.0).quantiles(N)) == 4.0


def test_a_study_without_delays_has_none() -> None:
    assert set(ReplyTime(median=0.0).quantiles(N)) == {0.0}
