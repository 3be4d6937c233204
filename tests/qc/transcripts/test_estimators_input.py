"""Estimators get the judgments of a run of transcripts: an output is an item that several workers judged."""

from pathlib import Path

import numpy as np
import pytest

from qc.judgments import Selection, read_judgments
from qc.load import load
from qc.method.scores import score
from qc.transcripts.judgments import take_judgments
from tests.qc.support.transcripts import add_item_run, item_database, simulated


@pytest.fixture
def database(tmp_path: Path) -> Path:
    found = item_database(tmp_path / "candor.db")
    add_item_run(found, simulated(np.random.default_rng(1), raters=3))
    return found.path


def test_judgments_are_those_of_the_report(database: Path) -> None:
    judgments = read_judgments(str(database), Selection())
    sample = take_judgments(load(database))
    assert judgments.criteria == ("overall", "fluent", "clear")
    assert judgments.systems == ("ada", "bob", "cy", "dot")
    overall = judgments.of("overall")
    assert len(overall.values) == sample.counted.sum()
    assert overall.counts.max() > 1
    assert sorted(overall.values) == pytest.approx(sorted(sample.overall["raw"][sample.counted]))


def test_the_mean_over_outputs_is_the_score_of_the_report(database: Path) -> None:
    judgments = read_judgments(str(database))
    scores = score(take_judgments(load(database))).z.set_index("system")["fluent"]
    for system in judgments.systems:
        own = judgments.of("fluent", system)
        means = np.bincount(own.outputs, weights=own.z) / own.counts
        assert means.mean() == pytest.approx(scores[system])
