"""The synthetic study beside the specification: filter, κ, z in both conventions, scores of the systems."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qc.method.sample import Sample, oriented
from qc.method.scores import score
from qc.run import Run, codes
from qc.statistics.correlation import beyond_chance
from qc.transcripts.controls import SelfAgreement, describe_controls, describe_repeats
from qc.transcripts.filter import of_kind, twins
from qc.transcripts.judgments import take_judgments
from qc.transcripts.results import compare_conventions
from tests.qc.support.transcripts import fixture_ratings, loaded

pytestmark = pytest.mark.published
TOLERANCE = 1e-5  # as the file says
Golden = dict[str, Any]


@pytest.fixture(scope="module")
def rating_data(published: Path) -> Path:
    path = published / "estimators" / "transcript_rating"
    if not path.is_dir():
        pytest.fail(f"PUBLISHED DATA INCOMPLETE: nothing at {path}.")
    return path


@pytest.fixture(scope="module")
def golden(rating_data: Path) -> Golden:
    content: Golden = json.loads((rating_data / "golden.json").read_text(encoding="utf-8"))
    return content["fixture"]  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def run(rating_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("fixture")
    return loaded(fixture_ratings(rating_data / "fixture_ratings.csv"), folder)


@pytest.fixture(scope="module")
def sample(run: Run) -> Sample:
    return take_judgments(run)


def test_the_filter(run: Run, sample: Sample, golden: Golden) -> None:
    workers = sample.screening.workers.set_index("worker")
    owners = codes(run.conversations["worker"])[twins(run, "bad").control]
    pairs = dict(zip(workers.index, np.bincount(owners, minlength=len(workers)), strict=True))
    assert list(workers.index) == list(golden["workers"])
    for worker, expected in golden["workers"].items():
        assert pairs[worker] == expected["pairs"]
        assert workers.loc[worker, "p"] == pytest.approx(expected["p"], abs=TOLERANCE)
        assert workers.loc[worker, "passed"] == expected["passed"]
    assert workers["passed"].mean() == golden["pass_rate"]


def test_mean_and_spread_of_each_worker(run: Run, golden: Golden) -> None:
    scores, owners = oriented(run)[:, 0], codes(run.conversations["worker"])
    for number, expected in enumerate(golden["workers"].values()):
        for rows, suffix in (
            (owners == number, ""),
            ((owners == number) & ~of_kind(run, "bad"), "_without_bad"),
        ):
            assert scores[rows].mean() == pytest.approx(expected[f"mean{suffix}"], abs=TOLERANCE)
            assert scores[rows].std(ddof=1) == pytest.approx(expected[f"sd{suffix}"], abs=TOLERANCE)


def test_references(run: Run, sample: Sample, golden: Golden) -> None:
    found = describe_controls(run, sample).by_worker.set_index("worker")["reference"]
    for worker, expected in golden["workers"].items():
        assert found[worker] == pytest.approx(expected["mean_of_references"], abs=TOLERANCE)


def test_scores_in_both_conventions(run: Run, sample: Sample, golden: Golden) -> None:
    table = compare_conventions(run, sample, score(sample)).table.set_index("system")
    assert list(table.index) == list(golden["systems"])
    for system, expected in golden["systems"].items():
        for name, value in expected.items():
            assert table.loc[system, name] == pytest.approx(value, abs=TOLERANCE), name
    # One worker rated each item, so that there are as many judgments as items.
    assert (table["judgments"] == table["items"]).all()


@pytest.mark.parametrize("group", ["passed", "failed"])
def test_kappa(run: Run, sample: Sample, golden: Golden, group: str) -> None:
    found = describe_repeats(run, sample.screening)
    assert found is not None
    agreement: SelfAgreement = getattr(found, group)
    for each in agreement.kappas:
        expected = golden["kappa"][group][str(each.categories)]
        assert each.pairs == expected["pairs"]
        assert each.observed == pytest.approx(expected["p_o"], abs=TOLERANCE)
        assert each.expected == pytest.approx(expected["p_e"], abs=TOLERANCE)
        assert each.kappa == pytest.approx(expected["kappa"], abs=TOLERANCE)


def test_table_3_7_of_the_thesis_follows_from_its_own_shares(rating_data: Path) -> None:
    content = json.loads((rating_data / "golden.json").read_text(encoding="utf-8"))["kappa"]
    for row in content["table_3_7"]:
        for group in ("passed", "failed"):
            p = row[group]
            assert beyond_chance(p["p_o"], p["p_e"]) == pytest.approx(p["kappa"], abs=content["tolerance"])
