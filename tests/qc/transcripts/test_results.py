"""Errors by workers and items: against a sum over pairs of judgments, and against runs of known truth."""

from dataclasses import replace

import numpy as np
import pytest

from qc.method.sample import Sample
from qc.method.scores import score
from qc.statistics.confidence import holm
from qc.transcripts.results import TwoWay, errors_two_ways
from tests.qc.support.analyses import rated


@pytest.fixture(scope="module")
def sample() -> Sample:
    return rated().sample


def found_in(sample: Sample) -> TwoWay:
    return errors_two_ways(sample, score(sample))


def test_the_variance_is_the_sum_over_judgments_that_share_a_worker_or_an_item(sample: Sample) -> None:
    """Without the factors G / (G − 1) the terms are Σ uᵢuⱼ over all i, j that share the one or the other."""
    row = found_in(sample).systems.iloc[0]
    code = sample.run.systems["system"].to_list().index(row["system"])
    assert sample.items is not None
    of = sample.counted & (sample.systems == code)
    weights, values = sample.weights[of], sample.overall["z"][of]
    assert row["z"] == pytest.approx(np.average(values, weights=weights))
    u = weights * (values - row["z"]) / weights.sum()
    shared = {
        "worker": sample.workers[of][:, None] == sample.workers[of],
        "item": sample.items[of][:, None] == sample.items[of],
    }
    products = np.outer(u, u)
    workers, items, judgments = len(set(sample.workers[of])), len(set(sample.items[of])), int(of.sum())
    assert (row["workers"], row["items"]) == (workers, items)
    terms = [
        products[shared["worker"]].sum() * workers / (workers - 1),
        products[shared["item"]].sum() * items / (items - 1),
        products[shared["worker"] & shared["item"]].sum() * judgments / (judgments - 1),
    ]
    assert row["by_worker"] == pytest.approx(np.sqrt(terms[0]))
    assert row["by_item"] == pytest.approx(np.sqrt(terms[1]))
    assert row["both"] == pytest.approx(np.sqrt(max(terms[0] + terms[1] - terms[2], *terms[:2])))
    either = products[shared["worker"] | shared["item"]].sum()
    assert either == pytest.approx(
        sum(products[each].sum() for each in shared.values())
        - products[shared["worker"] & shared["item"]].sum()
    )


def test_pairs_are_all_and_corrected_together(sample: Sample) -> None:
    found = found_in(sample)
    names = found.systems["system"].to_list()
    assert len(found.pairs) == len(names) * (len(names) - 1) // 2
    z = found.systems.set_index("system")["z"]
    for row in found.pairs.itertuples():
        assert row.difference == pytest.approx(z[row.first] - z[row.second])
    assert (found.pairs["difference"] >= 0).all()
    np.testing.assert_array_equal(found.pairs["holm"], holm(found.pairs["p"].to_numpy()))


def test_scores_of_all_alike_have_no_error(sample: Sample) -> None:
    found = found_in(replace(sample, z=np.zeros_like(sample.z)))
    assert found.systems["both"].isna().all()
    assert found.pairs["p"].isna().all()


def test_intervals_hold_the_truth_where_items_differ(sample: Sample) -> None:
    # 150 runs of four systems with the truth 0, whose items differ more than workers. Of 600 intervals 30 are
    # missed, with a standard error of 5.3; 49 would be more than 3.5 of these. By worker alone far more are.
    rng, missed, by_worker = np.random.default_rng(3), 0, 0
    assert sample.items is not None
    few = sample.systems * 8 + np.random.default_rng(1).integers(8, size=len(sample.items))  # judged by many
    for _ in range(150):
        items = rng.normal(0, 2, int(few.max()) + 1)[few]
        workers = rng.normal(0, 0.5, int(sample.workers.max()) + 1)[sample.workers]
        values = items + workers + rng.normal(0, 0.5, len(items))
        z = np.repeat(values[:, None], sample.z.shape[1], axis=1)
        found = found_in(replace(sample, z=z, items=few)).systems
        missed += int(((found["low"] > 0) | (found["high"] < 0)).sum())
        by_worker += int((found["z"].abs() > 2.1 * found["by_worker"]).sum())
    assert missed <= 49
    assert by_worker > 60
