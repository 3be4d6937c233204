"""The published experiment: every number equals what the authors' own scripts print."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from qc.analysis import Analysis, analyse
from qc.loading import load
from qc.render import tables, write
from qc.run import Run
from qc.signature import data_hash, words_hash
from tests.qc.support.same import same_run

pytestmark = pytest.mark.published

RUNS = ["free_run1", "free_run2"]
FORMATS = ["hits_data.json", "mturk_batch.csv"]
WITHOUT_ANSWERS = {
    "free_run1": ["A148"],
    "free_run2": ["A150", "A113"],
}


@pytest.fixture(scope="module")
def analysed(published_run: Callable[[str, str], Run]) -> Callable[[str, str], Analysis]:
    return cache(lambda run, source: analyse(published_run(run, source)))


@pytest.fixture
def analysis(analysed: Callable[[str, str], Analysis], run: str, source: str) -> Analysis:
    return analysed(run, source)


@pytest.mark.parametrize("source", FORMATS)
@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize(
    ("name", "tolerance"),
    [
        ("passrate.csv", 1e-6),
        ("duration.csv", 1e-6),
        ("system_scores.csv", 1e-6),
        ("system_raw_scores.csv", 1e-6),
        ("worker_pvalues.csv", 1e-9),
    ],
)
def test_written_tables_equal_the_golden_files(
    analysis: Analysis, published: Path, tmp_path: Path, run: str, name: str, tolerance: float
) -> None:
    write(analysis, tmp_path, frozenset({"csv"}))
    golden = (published / "golden" / run / name).read_text()
    ours = (tmp_path / name).read_text()
    assert ours.splitlines()[0] == golden.splitlines()[0]
    ours_table, golden_table = pd.read_csv(tmp_path / name), pd.read_csv(published / "golden" / run / name)
    pd.testing.assert_frame_equal(ours_table, golden_table, check_exact=False, rtol=0, atol=tolerance)


@pytest.mark.parametrize("source", FORMATS)
@pytest.mark.parametrize("run", RUNS)
def test_the_same_workers_pass_and_fail(analysis: Analysis, published: Path, run: str) -> None:
    workers = analysis.sample.screening.workers.set_index("worker")["passed"]
    passed = json.loads((published / "golden" / run / "passed_workers.json").read_text())
    failed = json.loads((published / "golden" / run / "failed_worker.json").read_text())
    assert list(workers.index[workers]) == sorted(passed)
    assert list(workers.index[~workers]) == sorted(failed)


# METHOD.md section 5. Run 1: 248 workers, 173 passed; 1520 dialogues, 1075 kept. Run 2: 166 of 294
# assignments are kept; each holds five conversations with systems.
@pytest.mark.parametrize("source", FORMATS)
@pytest.mark.parametrize(
    ("run", "workers", "assignments", "conversations"),
    [
        ("free_run1", (173, 248), (215, 304), (1075, 1520)),
        ("free_run2", (138, 246), (166, 294), (830, 1470)),
    ],
)
def test_counts(
    analysis: Analysis, workers: tuple[int, int], assignments: tuple[int, int], conversations: tuple[int, int]
) -> None:
    rates = analysis.rates
    assert (rates.workers.passed, rates.workers.total) == workers
    assert (rates.assignments.passed, rates.assignments.total) == assignments
    assert (rates.conversations.passed, rates.conversations.total) == conversations


@pytest.mark.parametrize("run", RUNS)
def test_the_batch_holds_the_same_data_as_the_normative_file(
    published_run: Callable[[str, str], Run], run: str
) -> None:
    one, other = (published_run(run, source) for source in FORMATS)
    # The batch holds no personas; the normative file no rewards, and not who came back without answers.
    same_run(one, other, apart_from=("persona", "reward", "left_out"))
    assert data_hash(one) == data_hash(other)
    assert one.words is not None
    assert other.words is not None
    assert words_hash(one.words) == words_hash(other.words)


@pytest.mark.parametrize("run", RUNS)
def test_what_only_one_of_the_formats_holds(published_run: Callable[[str, str], Run], run: str) -> None:
    one, other = (published_run(run, source) for source in FORMATS)
    # METHOD.md section 2: a persona has five or more sentences, and only a system with persona speaks as one.
    persona = one.conversations["persona"].dropna()
    assert persona.str.split("\n").str.len().min() >= 5
    assert set(one.conversations["system"][persona.index].str[-2:]) == {"_p"}
    # Six conversations of run 2 with such systems came without; none of run 1.
    with_persona = one.conversations["system"].isin(one.systems.query("has_persona")["system"])
    assert with_persona.sum() - len(persona) == {"free_run1": 0, "free_run2": 6}[run]
    assert one.assignments["reward"].isna().all()
    assert other.conversations["persona"].isna().all()
    assert set(other.assignments["reward"]) == {0.99}


@pytest.mark.parametrize("source", ["mturk_batch.csv"])
@pytest.mark.parametrize("run", RUNS)
def test_assignments_without_answers_are_named(analysis: Analysis, run: str) -> None:
    assert [out.assignment for out in analysis.run.left_out] == WITHOUT_ANSWERS[run]
    assert {out.reason for out in analysis.run.left_out} == {"no answers"}


@pytest.mark.parametrize("source", ["hits_data.json"])
@pytest.mark.parametrize("run", RUNS)
def test_leaving_out_the_authors_constant_moves_z_by_less_than_4e_8(
    analysis: Analysis, published: Path, run: str
) -> None:
    golden = pd.read_csv(published / "golden" / run / "system_scores.csv").set_index("model")
    ours = tables(analysis)["system_scores.csv"].frame.set_index("model")
    difference = (ours - golden).abs().to_numpy()
    assert 0 < np.max(difference) < 4e-8


@pytest.mark.parametrize("source", ["hits_data.json"])
@pytest.mark.parametrize("run", ["free_run1"])
def test_shuffled_assignments_give_the_same_bits(analysis: Analysis, published: Path, tmp_path: Path) -> None:
    content = json.loads((published / "published" / "free_run1" / "hits_data.json").read_text())
    content["data"] = content["data"][::-1]
    shuffled = tmp_path / "hits_data.json"
    shuffled.write_text(json.dumps(content))
    again = analyse(load(str(shuffled)))
    assert again.signature == analysis.signature
    for name, table in tables(analysis).items():
        pd.testing.assert_frame_equal(tables(again)[name].frame, table.frame, check_exact=True)
