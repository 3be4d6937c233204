"""Tests of choosing the judgments by which systems are compared."""

from pathlib import Path

import numpy as np
import pytest

from qc.errors import EmptyRunError, OptionError
from qc.judgments import read_judgments
from qc.planning.opinion import opinion
from qc.table import OVERALL
from tests.qc.support.crowd_ratings import CrowdRatings, crowd_ratings_file
from tests.qc.support.judgment_files import write_judgments

CRITERIA = """\
item,system,worker,criterion,value
i1,a,w1,fun,1
i1,a,w1,clear,3
i1,b,w1,fun,5
i1,b,w1,clear,7
i2,a,w2,fun,2
i2,a,w2,clear,4
i2,b,w2,clear,8
i2,b,w2,fun,6
i3,b,w2,fun,6
"""


@pytest.fixture
def two_criteria(tmp_path: Path) -> Path:
    path = tmp_path / "judgments.csv"
    path.write_text(CRITERIA, encoding="utf-8")
    return path


def test_without_a_criterion_the_mean_of_all(two_criteria: Path) -> None:
    found = opinion(read_judgments(str(two_criteria)))
    assert found.criterion == OVERALL
    assert found.systems == ("a", "b")
    assert sorted(zip(found.system_codes, found.values, strict=True)) == [(0, 2), (0, 3), (1, 6), (1, 7)]
    assert any("fun, clear" in note for note in found.notes)
    assert "Left out, not judged on every criterion: 1 judgment." in found.notes


def test_one_criterion(two_criteria: Path) -> None:
    found = opinion(read_judgments(str(two_criteria)), "fun")
    assert sorted(found.values) == [1, 2, 5, 6, 6]


def test_lower_is_better(two_criteria: Path) -> None:
    found = opinion(read_judgments(str(two_criteria)), "fun", reverse=frozenset({"fun"}))
    assert sorted(found.values) == [-6, -6, -5, -2, -1]


def test_a_metric_of_which_lower_is_better(tmp_path: Path) -> None:
    read = read_judgments(str(write_judgments(tmp_path / "j.csv")))
    plain, turned = opinion(read), opinion(read, reverse=frozenset({"overlap"}))
    assert (turned.metrics["overlap"] == -plain.metrics["overlap"]).all()
    np.testing.assert_array_equal(turned.values, plain.values)


def test_what_is_refused(two_criteria: Path, tmp_path: Path) -> None:
    read = read_judgments(str(two_criteria))
    with pytest.raises(OptionError, match="there are: fun, clear, overall"):
        opinion(read, "speed")
    with pytest.raises(OptionError, match="--lower-is-better names speed"):
        opinion(read, reverse=frozenset({"speed"}))
    alone = write_judgments(tmp_path / "alone.csv", ["i1,a,w1,1,0", "i2,a,w1,2,0", "i1,b,w1,3,0"])
    with pytest.raises(EmptyRunError, match="fewer than two systems"):
        opinion(read_judgments(str(alone)))


def test_the_crowd_ratings_are_the_mean_of_four_categories(
    crowd_ratings: CrowdRatings, published: Path
) -> None:
    found = opinion(read_judgments(str(crowd_ratings_file(published))))
    assert found.systems == crowd_ratings.names
    assert found.workers is None
    ours = np.lexsort((found.values, found.outputs))
    theirs = np.lexsort((crowd_ratings.values, crowd_ratings.outputs))
    np.testing.assert_array_equal(found.outputs[ours], crowd_ratings.outputs[theirs])
    np.testing.assert_allclose(found.values[ours], crowd_ratings.values[theirs])


def test_a_run_of_ours(published: Path) -> None:
    found = opinion(read_judgments(str(published / "published" / "free_run1" / "hits_data.json")), z=True)
    assert found.criterion == OVERALL
    assert len(found.systems) == 10
    # Of kept workers: conversations with the systems.
    assert len(found.values) == 1075
    assert found.workers is not None
    assert found.workers.max() + 1 == 173
