"""Tests of the number of assignments by worker, worked out by hand and from the published run."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qc.loading import load
from qc.method.sample import Sample, take_sample
from qc.method.workload import Spread, workload

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
