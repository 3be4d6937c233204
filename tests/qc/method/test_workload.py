"""Assignments by worker and the cost of a run, worked out by hand and from the published data."""

import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qc.loading import load
from qc.method.sample import Sample, take_sample
from qc.method.workload import Cost, Spread, cost, workload

Hits = dict[str, Any]


def test_spreads_by_hand(small_hits: Hits, hits_file: Callable[[object], Path]) -> None:
    # Two more assignments of ben and one of anna. anna (2) passes; ben (3), cleo, dan, eve (1 each) fail.
    for number, index in enumerate([1, 1, 0]):
        again = copy.deepcopy(small_hits["data"][index])
        small_hits["data"].append({**again, "assignment": f"B{number}"})
    result = workload(take_sample(load(str(hits_file(small_hits)))))
    assert result.passed == Spread(2.0, 2.0, 2.0, 1)
    assert result.failed == Spread(1.5, 1.0, 3.0, 4)
    assert result.all == Spread(1.6, 1.0, 3.0, 5)


def test_nobody_passed(small_hits: Hits, hits_file: Callable[[object], Path]) -> None:
    result = workload(take_sample(load(str(hits_file(small_hits))), alpha=0.001))
    assert result.passed.count == 0
    assert np.isnan([result.passed.mean, result.passed.median, result.passed.maximum]).all()
    assert result.failed == result.all == Spread(1.0, 1.0, 1.0, 5)


# 304 assignments of 248 workers, 215 of them of the 173 who passed (METHOD.md, section 5).
@pytest.mark.published
def test_the_published_run(published_sample: Callable[[str, str], Sample]) -> None:
    result = workload(published_sample("free_run1", "hits_data.json"))
    assert (result.passed.count, result.failed.count, result.all.count) == (173, 75, 248)
    assert result.passed.mean == pytest.approx(215 / 173)
    assert result.failed.mean == pytest.approx(89 / 75)
    assert result.all.mean == pytest.approx(304 / 248)


@pytest.fixture
def sample(small_hits: Hits, hits_file: Callable[[object], Path]) -> Sample:
    """Five assignments; anna, the only one who passed, held 3 conversations with systems in one of them."""
    return take_sample(load(str(hits_file(small_hits))))


def paid(sample: Sample, *rewards: float) -> Sample:
    assignments = sample.run.assignments.assign(reward=np.array(rewards))
    return replace(sample, run=replace(sample.run, assignments=assignments))


def test_rewards_of_the_data(sample: Sample) -> None:
    # 1 + 2 + 2 + 0.5 + 0.5 = 6 dollars for 5 assignments, of which 1 is kept with 3 conversations.
    assert cost(paid(sample, 1, 2, 2, 0.5, 0.5)) == Cost(1.2, 5, 6.0, 6.0, 2.0)


def test_a_reward_that_is_given_overrides_the_data(sample: Sample) -> None:
    for known in (paid(sample, 1, 2, 2, 0.5, 0.5), paid(sample, 1, 2, 2, 0.5, np.nan)):
        assert cost(known, 3.0) == Cost(3.0, 5, 15.0, 15.0, 5.0)
    assert cost(sample, 0.0) == Cost(0.0, 5, 0.0, 0.0, 0.0)


def test_one_unknown_reward_makes_all_unknown(sample: Sample) -> None:
    result = cost(paid(sample, 1, 2, 2, 0.5, np.nan))
    assert result.paid_assignments == 5
    unknown = (result.reward, result.total, result.per_kept_assignment, result.per_kept_conversation)
    assert np.isnan(unknown).all()


def test_nobody_kept(small_hits: Hits, hits_file: Callable[[object], Path]) -> None:
    result = cost(take_sample(load(str(hits_file(small_hits))), alpha=0.001), 2.0)
    assert result.total == 10.0
    assert np.isnan([result.per_kept_assignment, result.per_kept_conversation]).all()


# The batch pays $0.99 for each of 304 answered assignments, 215 of them kept with 1075 conversations.
@pytest.mark.published
def test_the_published_batch(published_sample: Callable[[str, str], Sample]) -> None:
    result = cost(published_sample("free_run1", "mturk_batch.csv"))
    assert result.paid_assignments == 304
    assert result.reward == pytest.approx(0.99)
    assert result.total == pytest.approx(300.96)
    assert result.per_kept_assignment == pytest.approx(300.96 / 215)
    assert result.per_kept_conversation == pytest.approx(300.96 / 1075)
