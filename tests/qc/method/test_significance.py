"""Tests of significance between systems: by hand, as published, and against statsmodels' correction."""

import gc
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from qc.method.sample import Sample, take_sample
from qc.method.scores import score
from qc.method.significance import Significance, compare_systems
from qc.run import Run
from qc.statistics.confidence import holm
from tests.qc.support.runs import run_of
from tests.qc.support.samples import sample_of

Z = {"a": [0.9, 0.8, 0.1], "b": [0.5, 0.4, 0.3], "c": [-1.0, -2.0]}


def compared(z: dict[str, list[float]], **more: object) -> Significance:
    sample = sample_of([("w", system, value) for system, values in z.items() for value in values], **more)  # type: ignore[arg-type]
    return compare_systems(sample, score(sample))


def test_by_hand() -> None:
    # Without ties all is exact. a against b: b is higher in 3 of 9 pairs, and U is at most 3 in 7 of the
    # C(6, 3) = 20 orders (U = 0, 1, 2, 3 come from 1, 1, 2, 3). The other way it is higher in 6, and at most
    # 6 in all but the 4 orders of U = 7, 8, 9. c is below every value of both: 1 order of C(5, 2) = 10.
    found = compared(Z)
    assert found.systems == ("a", "b", "c")
    assert found.p == pytest.approx(
        np.array([[1, 7 / 20, 1 / 10], [16 / 20, 1, 1 / 10], [1, 1, 1]]), abs=1e-15
    )
    # Six tests, ascending: .1, .1, .35, .8, 1, 1; times 6, 5, 4, …: .6, .5 → .6, 1.4 → 1, then all 1.
    assert found.holm == pytest.approx(np.array([[1, 1, 0.6], [1, 1, 0.6], [1, 1, 1]]), abs=1e-15)
    assert found.conclusions(0.36).tolist() == [[False, True, True], [False, False, True], [False] * 3]
    assert found.conclusions(0.1).sum() == 0
    assert found.conclusions(0.61, adjusted=True).tolist() == [[False, False, True]] * 2 + [[False] * 3]


def strong_tastes(seed: int) -> Sample:
    """Return 11 workers with 8 conversations with each of two equal systems, for which they have tastes."""
    rng = np.random.default_rng(seed)
    tastes = rng.normal(size=(11, 2))
    return sample_of(
        [
            (f"w{worker}", "ab"[system], tastes[worker, system] + rng.normal())
            for worker in range(11)
            for system in (0, 1)
            for _ in range(8)
        ]
    )


def test_strong_tastes_are_no_difference_between_systems() -> None:
    # 80 runs, two tests each, one of which rejects at most: at 5 % the number is 8 with a standard error of
    # 2.7. The published test, which takes all 88 conversations of a system as independent, has far more.
    found = [compare_systems(sample, score(sample)) for sample in map(strong_tastes, range(80))]
    assert sum((each.by_worker < 0.05).any() for each in found) <= 16
    assert sum((each.p < 0.05).any() for each in found) > 28


def test_by_worker_has_its_own_correction_and_gaps() -> None:
    rows = [
        (f"w{n}", system, value) for n in range(12) for system, value in (("a", n / 9), ("b", -n / 9 - 1))
    ]
    sample = sample_of([*rows, ("w0", "c", 5.0)], systems=["unseen"])
    found = compare_systems(sample, score(sample))
    a, b, c, unseen = (found.systems.index(name) for name in ("a", "b", "c", "unseen"))
    # All workers have the same order, and no exchange of 12 workers is rarer than one in 4,096.
    assert found.by_worker[a, b] == 0.5**12
    assert found.by_worker_holm[a, b] == 2 * 0.5**12
    assert np.isnan(found.by_worker[c, [a, b]]).all(), "a single worker rated it"
    assert found.by_worker[c, c] == 1
    assert np.isnan(found.by_worker[unseen]).all()


def test_a_system_without_a_kept_conversation_is_not_tested() -> None:
    found = compared(Z, systems=["unseen"])
    assert found.systems == ("a", "b", "c", "unseen")
    for table in (found.p, found.holm):
        assert np.isnan(table[3]).all()
        assert np.isnan(table[:, 3]).all()
    np.testing.assert_array_equal(found.holm[:3, :3], compared(Z).holm)
    assert not found.conclusions(1.0)[3].any()


def test_nobody_passed_and_one_system_only() -> None:
    nobody = compared(Z, p={"w": 1.0})
    assert np.isnan(nobody.p).all()
    assert np.isnan(nobody.holm).all()
    alone = compared({"a": [1.0, 2.0]})
    assert alone.p.tolist() == alone.holm.tolist() == [[1.0]]


def test_noise_of_sums_breaks_no_tie() -> None:
    tied = compared({"a": [0.1, 0.2, 0.3], "b": [0.1, 0.2, 0.3]})
    noisy = compared({"a": [0.1, 0.2 + 1e-15, 0.3], "b": [0.1 + 1e-16, 0.2, 0.3 - 1e-15]})
    np.testing.assert_array_equal(noisy.p, tied.p)
    assert noisy.p[0, 1] == noisy.p[1, 0]


@pytest.fixture
def frozen_garbage() -> Iterator[None]:
    """Keep what is alive out of the garbage collector, which statsmodels calls with every correction."""
    gc.freeze()
    yield
    gc.unfreeze()


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=30))
@pytest.mark.usefixtures("frozen_garbage")
def test_statsmodels_corrects_the_same(p: list[float]) -> None:
    expected = multipletests(p, method="holm")[1]
    assert holm(np.array(p)) == pytest.approx(expected, abs=1e-12)


def test_tests_that_were_not_made_do_not_count() -> None:
    # Two tests: 0.01 · 2 and 0.04 · 1.
    assert holm(np.array([np.nan, 0.04, 0.01])) == pytest.approx([np.nan, 0.04, 0.02], nan_ok=True)
    assert holm(np.array([])).shape == (0,)


def made_up_run(seed: int, workers: int = 12) -> Run:
    """Return a run in which every worker rates a, b, c and the qc bot, on the scale to 50."""
    ratings = np.random.default_rng(seed).integers(0, 51, (workers * 4, 3)) + np.tile(
        [[30], [20], [10], [0]], (workers, 1)
    )
    names = [f"w{number:02}" for number in range(workers) for _ in range(4)]
    return run_of(names, ["a", "b", "c", "qc"] * workers, ratings / 2, [1, 2, 3, 4] * workers)


def matrix_of(run: Run) -> Significance:
    sample = take_sample(run)
    return compare_systems(sample, score(sample))


@settings(max_examples=30)
@given(seed=st.integers(0, 99), factor=st.sampled_from([0.3, 0.7, 1.7, 2.4]), offset=st.floats(0, 4))
def test_stretching_and_shifting_a_worker_changes_no_p(seed: int, factor: float, offset: float) -> None:
    run = made_up_run(seed)
    straight = matrix_of(run)
    own = (run.conversations["worker"] == "w03").to_numpy()
    run.ratings.loc[own] = run.ratings.loc[own] * factor + offset
    moved = matrix_of(run)
    # Only whether rounding to 1e-9 ties two conversations can change, and here it does not.
    np.testing.assert_array_equal(moved.p, straight.p)
    np.testing.assert_array_equal(moved.holm, straight.holm)


@settings(max_examples=30)
@given(seed=st.integers(0, 99), data=st.data())
def test_the_order_of_conversations_changes_no_p(seed: int, data: st.DataObject) -> None:
    conversations = [
        (f"w{number % 7}", "abcd"[number % 4], value)
        for number, value in enumerate(np.random.default_rng(seed).normal(size=40).round(1).tolist())
    ]
    shuffled = data.draw(st.permutations(conversations))
    one, other = (sample_of(rows) for rows in (conversations, shuffled))
    np.testing.assert_array_equal(compare_systems(one, score(one)).p, compare_systems(other, score(other)).p)


@pytest.mark.published
@pytest.mark.parametrize("run", ["free_run1", "free_run2"])
def test_the_published_tables(
    published: Path, published_sample: Callable[[str, str], Sample], run: str
) -> None:
    sample = published_sample(run, "mturk_batch.csv")
    found = compare_systems(sample, score(sample))
    golden = pd.read_csv(published / "golden" / run / "significance_pvalues.csv", index_col=0)
    # The table of run 2 has its systems in the order of run 1.
    assert sorted(golden.index) == sorted(found.systems)
    expected = golden.loc[list(found.systems), list(found.systems)].to_numpy()
    np.testing.assert_allclose(found.p, expected, rtol=0, atol=1e-9)
    family = ~np.eye(10, dtype=bool)
    np.testing.assert_allclose(
        found.holm[family], multipletests(expected[family], method="holm")[1], atol=1e-12
    )
