"""The fewest workers without whom systems are not told apart: against an exact search, and as published."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from qc.method.sample import Sample
from qc.method.scores import score
from qc.robustness.fragile_pairs import FragilePairs, Removal, fragile_pairs
from qc.robustness.fragility import without
from qc.robustness.intervals import intervals, told_apart
from tests.qc.support.samples import sample_of_arrays

DRAWS = 99


def fragile(sample: Sample) -> FragilePairs | None:
    scores = score(sample)
    return fragile_pairs(sample, scores, intervals(sample, scores, DRAWS, 0), 0)


def small(seed: int, items: bool) -> Sample:
    """Return three systems, 0.9 apart, that nearly all of 7 or 8 workers rated."""
    rng = np.random.default_rng(seed)
    rated = rng.random((int(rng.integers(7, 9)), 3)) < 0.85
    z = rng.normal(0, 0.7, rated.shape) + np.array([0.9, 0, -0.9])
    workers, systems = np.nonzero(rated)
    sample = sample_of_arrays(workers, systems, z[rated][:, None])
    # Items of three judgments or fewer, each of one system.
    return replace(sample, items=systems * 10 + workers // 3) if items else sample


def exact(sample: Sample, most: int) -> list[int]:
    """Return the fewest workers, of up to `most`, for a pair and for two groups; more if they take more."""
    scores = score(sample)
    found = intervals(sample, scores, DRAWS, 0)
    told = found.simultaneous_low > 0
    of = {name: number for number, group in enumerate(found.groups) for name in group}
    across = told & ~np.array([[of[a] == of[b] for b in found.systems] for a in found.systems])
    fewest = [most + 1, most + 1]
    names = sample.screening.workers["worker"].to_numpy()
    for count in range(most, 0, -1):
        for removed in combinations(range(len(names)), count):
            left = told_apart(without(sample, names[list(removed)]), scores, DRAWS, 0)
            lost = [bool((before & ~left).any()) for before in (told, across)]
            fewest = [count if gone else least for gone, least in zip(lost, fewest, strict=True)]
    return fewest


@pytest.mark.parametrize(("seed", "items"), [(3, False), (4, False), (11, True), (13, True)])
def test_exact_search_finds_no_fewer(seed: int, items: bool) -> None:
    sample = small(seed, items)
    found = fragile(sample)
    assert found is not None
    counts = [3 if each is None else len(each.workers) for each in (found.pair, found.border)]
    assert [min(count, 3) for count in counts] == exact(sample, 2)


def test_what_is_told_apart_without_workers_is_what_their_report_says() -> None:
    sample = small(1, items=False)
    left = without(sample, np.array(["w000002"]))
    scores = score(left)
    of_report = intervals(left, scores, DRAWS, 0).simultaneous_low > 0
    assert (told_apart(left, scores, DRAWS, 0) == of_report).all()


def test_nothing_told_apart_has_no_fragility() -> None:
    # Half of the workers prefer the one, and half the other.
    workers, systems = (each.ravel() for each in np.indices((12, 2)))
    assert fragile(sample_of_arrays(workers, systems, (systems == workers % 2)[:, None] * 1.0)) is None


def test_no_quarter_of_the_workers_joins_two_systems_that_all_tell_apart() -> None:
    # One is better by 2 in the eyes of all 40 workers, who differ by 0.1.
    workers, systems = (each.ravel() for each in np.indices((40, 2)))
    z = 2.0 * systems + np.random.default_rng(3).normal(0, 0.1, 80)
    assert fragile(sample_of_arrays(workers, systems, z[:, None])) == FragilePairs(40, None, None, None)


@pytest.mark.published
def test_published(published_sample: Callable[[str, str], Sample]) -> None:
    sample = published_sample("free_run2", "hits_data.json")
    scores = score(sample)
    found = fragile_pairs(sample, scores, intervals(sample, scores, 10_000, 0), 0)
    assert found is not None
    assert found.pair == Removal("polyencoder_p", "seq2seq", ("W31AAD7977EE19",))
    assert found.border is not None
    assert (found.passed, found.border.first, found.border.second) == (138, "seq2seq", "lan_model")
    assert len(found.border.workers) == 3


@pytest.mark.published
def test_few_workers_behind_the_lead_are_told(published_sample: Callable[[str, str], Sample]) -> None:
    """On run 1 two of 173 workers decide that kvmemnn is not among those that may be as good."""
    sample = published_sample("free_run1", "hits_data.json")
    scores = score(sample)
    found = fragile_pairs(sample, scores, intervals(sample, scores, 10_000, 0), 0)
    assert found is not None
    assert found.notes == (
        "Without 2 of the 173 workers who passed (1.2 %), kvmemnn would no longer be told apart from "
        "biencoder, which has the highest score.",
    )
