"""The public data sets as they are, and runs of ours, as judgments."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qc.judgments import Selection, read_judgments
from qc.method.sample import Sample
from tests.qc.support.database import Database


@pytest.mark.published
def test_the_judgments_of_chaganty(published: Path) -> None:
    folder = published / "estimators" / "chaganty"
    judgments = read_judgments(
        str(folder / "lqual_judgments.csv"),
        Selection(folder / "lqual_outputs.csv", where=("published", "1")),
    )
    # SPEC.md, section 2: 2,514 outputs; golden.json: 5,133 judgments a prompt, 500 outputs of seq2seq, 513
    # references, 502 of ml+rl (one shared with ml).
    assert len(judgments.outputs) == 2514
    assert judgments.criteria == ("fluency", "redundancy", "overall", "edit")
    assert len(judgments.of("overall").values) == 5133
    assert {name: judgments.of("edit", name).pool for name in judgments.systems} == {
        "ml": 500,
        "ml+rl": 502,
        "pointer": 500,
        "reference": 513,
        "seq2seq": 500,
    }
    assert list(judgments.metrics) == [
        "rouge_1",
        "rouge_2",
        "rouge_l",
        "tfidf_cosine",
        "distinct_2",
        "tokens",
    ]


@pytest.mark.published
def test_the_judgments_of_wei_and_jia(published: Path) -> None:
    judgments = read_judgments(str(published / "estimators" / "wei_jia" / "summeval_turker.csv"))
    assert judgments.criteria == ("coherence", "consistency", "fluency", "relevance")
    assert len(judgments.systems) == 16
    assert (judgments.of("fluency").counts == 5).all()
    assert list(judgments.metrics)[:2] == ["rouge_1", "rouge_2"]


@pytest.mark.published
def test_a_published_run(published: Path, published_sample: Callable[[str, str], Sample]) -> None:
    judgments = read_judgments(str(published / "published" / "free_run1" / "hits_data.json"))
    sample = published_sample("free_run1", "hits_data.json")
    overall = judgments.of("overall")
    # METHOD.md, section 5: 1,075 conversations with systems are kept.
    assert overall.pool == len(overall.values) == 1075
    np.testing.assert_array_equal(overall.z, sample.overall["z"][sample.counted])
    assert "one judgment only" in judgments.notes[-1]


def test_a_database_and_a_file_of_the_same_run_give_the_same_judgments(
    database: Database, small_hits: dict[str, Any], hits_file: Callable[[object], Path]
) -> None:
    selection = Selection(run="first", alpha=0.9)
    ours = read_judgments(str(database.path), selection)
    theirs = read_judgments(str(hits_file(small_hits)), Selection(alpha=0.9))
    assert ours.systems == theirs.systems
    assert ours.ends == theirs.ends == (0.0, 100.0)
    # The criteria of a run have one scale, however far their values go on it.
    assert not any("different ranges" in note for each in (ours, theirs) for note in each.notes)
    for system in ours.systems:
        one, other = (each.of("overall", system) for each in (ours, theirs))
        assert sorted(one.values) == sorted(other.values)
        np.testing.assert_allclose(sorted(one.z), sorted(other.z))
    assert len(ours.of("fun").values) > 0


def test_a_run_and_a_metric_of_conversations_nobody_rated(
    small_hits: dict[str, Any], hits_file: Callable[[object], Path], tmp_path: Path
) -> None:
    run = hits_file(small_hits)
    alone = read_judgments(str(run), Selection(alpha=0.9))
    held = alone.outputs["output"].tolist()
    system = alone.systems[0]
    metrics = tmp_path / "metrics.csv"
    lines = [
        f"{name},{alone.systems[int(np.flatnonzero(row)[0])]},{n}"
        for n, (name, row) in enumerate(zip(held, alone.belongs, strict=True))
    ]
    metrics.write_text("\n".join(["conversation,system,llm", *lines, f"unrated,{system},7"]))
    judgments = read_judgments(str(run), Selection(metrics, alpha=0.9))
    assert judgments.of("overall", system).pool == alone.of("overall", system).pool + 1
    np.testing.assert_array_equal(judgments.of("overall").values, alone.of("overall").values)
