"""Shares of workers who rate at random: within 0 and 1 whatever the run; their intervals hold the truth."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qc.method.sample import Sample, take_sample
from qc.method.scores import score
from qc.robustness.filter_check import RandomShares, Screened, Share, check_filter, random_shares
from tests.qc.support.runs import run_of

SYSTEMS = ["x", "qc", "y", "z", "x", "y"]


def every(shares: RandomShares) -> tuple[Share, ...]:
    return shares.random, shares.among_passed, shares.honest_pass, shares.among_failed


def assert_shares(*shares: Share) -> None:
    for share in shares:
        assert math.isnan(share.value) or 0 <= share.low <= share.high <= 1, share
        assert math.isnan(share.value) or 0 <= share.value <= 1, share


@given(
    st.integers(0, 60).flatmap(
        lambda tested: st.builds(
            Screened,
            tested=st.just(tested),
            passed=st.integers(0, tested),
            high=st.integers(0, tested),
            constant=st.integers(0, 5),
            random_pass=st.floats(0, 1) | st.just(math.nan),
        )
    )
)
def test_a_share_is_between_0_and_1_whatever_was_counted(counts: Screened) -> None:
    shares = random_shares(counts, seed=0)
    assert_shares(*every(shares))
    assert shares.honest_failed >= 0 or math.isnan(shares.honest_failed)
    assert math.isnan(counts.most_among_passed) or 0 <= counts.most_among_passed <= 1


def test_no_more_rate_at_random_than_those_who_failed_can_be() -> None:
    # Of 10 workers 6 failed, and a random one fails in 90 %: there are at most 6 / 0.9 = 6.67 of them, though
    # 4 with p above 1/2 speak for 8. Of the 4 who passed 0.67 are random, a sixth; the other 3.33 are all of
    # the honest ones, so that none of these failed.
    found = random_shares(Screened(tested=10, passed=4, high=4, constant=0, random_pass=0.1), seed=0)
    assert found.random.value == pytest.approx(2 / 3)
    assert found.among_passed.value == pytest.approx(1 / 6)
    assert found.honest_pass.value == pytest.approx(1)
    assert found.honest_failed == pytest.approx(0)


def run(honest: int, random: int, flat: int, seed: int) -> Sample:
    """Return workers of whom so many rate honestly, at random, and everything 50."""
    rng = np.random.default_rng(seed)
    count = honest + random + flat
    ratings = 50 + rng.normal(scale=12, size=(count, 6, 1)) + rng.normal(scale=15, size=(count, 6, 5))
    ratings[:honest, 1] -= 45
    ratings[honest + random :] = 50
    names = np.repeat([f"w{n:04}" for n in range(count)], 6).tolist()
    return take_sample(run_of(names, SYSTEMS * count, ratings.reshape(-1, 5), [1, 2, 3, 4, 5, 6] * count))


@pytest.mark.parametrize("crowd", [(0, 60, 0), (0, 0, 12), (60, 0, 0), (0, 25, 25), (1, 40, 0)])
@pytest.mark.parametrize("seed", range(2))
def test_crowds_of_one_kind(crowd: tuple[int, int, int], seed: int) -> None:
    sample = run(*crowd, seed)
    found = check_filter(sample, score(sample), seed=0)
    assert_shares(found.random_share, found.random_among_passed, found.honest_pass, found.honest_among_failed)
    if crowd[0] == 0:
        assert found.random_share.high == 1
    if crowd == (60, 0, 0):
        assert found.random_share.low == 0


def test_the_interval_of_the_share_of_random_workers_holds_the_truth() -> None:
    # A third of 120 rate at random: p is uniform. Of honest ones 85 % have p below 0.05, none above 1/2.
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(200):
        random = rng.binomial(120, 1 / 3)
        p_of_random = rng.random(random)
        passed = rng.binomial(120 - random, 0.85) + int((p_of_random < 0.05).sum())
        counts = Screened(120, passed, int((p_of_random > 0.5).sum()), 0, 0.05)
        share = random_shares(counts, seed=0).random
        held += share.low <= 1 / 3 <= share.high
    # of 200 intervals at 95 %, 180 or fewer hold the truth with a probability of 0.3 %
    assert held > 180
