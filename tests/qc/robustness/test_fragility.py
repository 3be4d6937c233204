"""The fewest workers whose removal changes the leader: by hand, against an exact search, and as published."""

import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from qc.method.sample import Sample
from qc.method.scores import leaders, score
from qc.robustness.fragility import Fragility, fragility, without
from qc.robustness.intervals import means_of_sums, worker_sums
from tests.qc.support.samples import sample_of, sample_of_arrays


def fragile(sample: Sample) -> Fragility | None:
    return fragility(sample, score(sample))


def leaders_without(sample: Sample, removed: list[str]) -> list[str]:
    workers = sample.screening.workers
    passed = workers["passed"] & ~workers["worker"].isin(removed)
    return leaders(
        score(replace(sample, screening=replace(sample.screening, workers=workers.assign(passed=passed))))
    )


def met(worker: str, **z: float) -> list[tuple[str, str, float]]:
    return [(worker, system, value) for system, value in z.items()]


def test_by_hand() -> None:
    # a: (5 + 3 + 0 + 0) / 4 = 2; b: (0 + 0 + 1 + 1) / 4 = 0.5. Without u, a: 3 / 3 = 1 and b: 2 / 3. Without
    # u and v, a: 0 and b: 1. c stays below both. Without any single worker, a stays above b.
    rows = [*met("u", a=5, b=0, c=-9), *met("v", a=3, b=0), *met("w", a=0, b=1), *met("x", a=0, b=1)]
    found = fragile(sample_of(rows, p={"failed": 0.5}))
    assert found is not None
    assert (found.leader, found.successor, found.passed, found.share) == ("a", "b", 4, 0.5)
    assert found.workers["worker"].to_list() == ["u", "v"]
    assert found.workers["conversations"].to_list() == [2, 2]
    assert found.workers["leader_z"].to_list() == pytest.approx([1, 0])
    assert found.workers["successor_z"].to_list() == pytest.approx([2 / 3, 1])
    assert found.notes == ()  # half of the workers are not few


def test_one_of_twenty_is_said() -> None:
    # Nineteen workers find b better by 0.1, and one finds a better by 3: 3 - 1.9 > 0.
    rows = [*met("v", a=3, b=0), *(row for n in range(19) for row in met(f"w{n:02}", a=0, b=0.1))]
    found = fragile(sample_of(rows))
    assert found is not None
    assert found.notes == (
        "Without 1 of the 20 workers who passed (5.0 %), b would have the highest score instead of a.",
    )


def test_no_leader_to_overtake() -> None:
    tied = [*met("u", a=1, b=1), *met("v", a=0, b=0)]
    assert fragile(sample_of(tied)) is None
    assert fragile(sample_of(met("u", a=1), systems=["b"])) is None  # b has no score


def test_a_leader_whom_all_prefer() -> None:
    found = fragile(sample_of([*met("u", a=1, b=0), *met("v", a=2, b=1, c=-1)]))
    assert found is not None
    # Without u the means are 2 and 1, without v 1 and 0.
    assert (found.leader, found.successor, len(found.workers), found.notes) == ("a", None, 0, ())
    assert np.isnan(found.share)


def exact(sample: Sample) -> float:
    """Return the fewest workers in all 2^W removals that leave the leader a score, but not the highest."""
    sums = worker_sums(sample, score(sample), sample.overall["z"][:, None])
    kept = (np.arange(2 ** len(sums))[:, None] >> np.arange(len(sums))) & 1
    means = means_of_sums(np.tensordot(kept.astype(np.float64), sums, axes=1))[..., 0]
    overtaken = (means[:, 1:] > means[:, :1] + 1e-9).any(axis=1)
    removed = (len(sums) - kept.sum(axis=1)).astype(np.float64)
    return float(removed[overtaken].min(initial=np.inf))


@pytest.mark.parametrize("seed", range(100))
def test_exact_search_finds_no_fewer(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(20, 40))
    workers, systems = rng.integers(0, 11, count), rng.integers(0, 3, count)
    tastes = rng.normal(0, 0.4, (11, 3))
    z = (tastes[workers, systems] + rng.normal(0, 0.5, count) + 0.2 * (systems == 0))[:, None]
    sample = sample_of_arrays(workers, systems, z)
    found = fragile(sample)
    assert found is not None
    assert (len(found.workers) if found.successor else np.inf) == exact(sample)
    if found.successor:
        assert leaders_without(sample, found.workers["worker"].to_list()) == [found.successor]


@pytest.mark.parametrize("seed", range(12))
def test_exact_search_of_items_finds_no_fewer(seed: int) -> None:
    """A removal changes the weights of the other judgments of its items."""
    rng = np.random.default_rng(seed)
    rated = rng.random((7, 9)) < 0.4
    rated[0] = True
    workers, items = np.nonzero(rated)
    z = rng.normal(0, 0.6, len(items)) + 0.3 * (items % 3 == 0)
    sample = replace(sample_of_arrays(workers, items % 3, z[:, None]), items=items)
    found = fragile(sample)
    assert found is not None
    # Every column of `kept` is a judgment; a system's score is the mean over items of means.
    kept = ((np.arange(2**7)[:, None] >> np.arange(7)) & 1).astype(np.float64)[:, workers]
    of_item = (items[:, None] == np.arange(9)).astype(np.float64)
    left = kept @ of_item
    means = (kept * z) @ of_item / np.where(left > 0, left, np.nan)
    with warnings.catch_warnings(action="ignore"):
        by_system = np.nanmean(means.reshape(-1, 3, 3), axis=1)
    leads = int(found.leader.removeprefix("s"))
    overtaken = (np.delete(by_system, leads, axis=1) > by_system[:, [leads]] + 1e-9).any(axis=1)
    removed = 7 - ((np.arange(2**7)[:, None] >> np.arange(7)) & 1).sum(axis=1)
    fewest = removed[overtaken].min(initial=8)
    assert (len(found.workers) if found.successor else 8) == fewest
    if found.successor:
        left = without(sample, found.workers["worker"].to_numpy())
        after = score(left).z.set_index("system")["overall"]
        last = found.workers.iloc[-1]
        assert after[found.leader] == pytest.approx(last["leader_z"])
        assert after[found.successor] == pytest.approx(last["successor_z"])


def test_order_of_rows_changes_nothing() -> None:
    rng = np.random.default_rng(1)
    workers, systems = rng.integers(0, 40, 300), rng.integers(0, 4, 300)
    z = rng.normal(0, 1, (300, 3))
    one = fragile(sample_of_arrays(workers, systems, z))
    order = rng.permutation(300)
    other = fragile(sample_of_arrays(workers[order], systems[order], z[order]))
    assert one is not None
    assert other is not None
    assert one.workers["worker"].to_list() == other.workers["worker"].to_list()


@pytest.mark.published
@pytest.mark.parametrize(
    ("run", "fewest", "passed", "successor", "noted"),
    [("free_run1", 10, 173, "polyencoder", False), ("free_run2", 2, 138, "biencoder_p", True)],
)
def test_published(
    published_sample: Callable[[str, str], Sample],
    run: str,
    fewest: int,
    passed: int,
    successor: str,
    noted: bool,
) -> None:
    sample = published_sample(run, "hits_data.json")
    found = fragile(sample)
    assert found is not None
    assert (found.leader, len(found.workers), found.passed) == ("biencoder", fewest, passed)
    assert (found.successor, bool(found.notes)) == (successor, noted)
    assert leaders_without(sample, found.workers["worker"].to_list()) == [found.successor]


def test_removals_of_items_that_leave_no_worker() -> None:
    """Among the corrections is the removal of all three, after which no system has a score."""
    rng = np.random.default_rng(34)
    rated = rng.random((3, 6)) < 0.5
    rated[0] = True
    workers, items = np.nonzero(rated)
    z = rng.normal(0, 0.4, len(items)) + (items % 3 == 0)
    found = fragile(replace(sample_of_arrays(workers, items % 3, z[:, None]), items=items))
    assert found is not None
    assert found.successor is None
