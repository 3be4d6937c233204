"""Estimators get the judgments of a run of transcripts: an output is an item that several workers judged."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from qc.estimate import app as estimate
from qc.estimators.estimable import NotEstimable
from qc.estimators.spread import spread
from qc.judgments import Selection, read_judgments
from qc.load import load
from qc.method.scores import score
from qc.power import app as power
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


def test_items_judged_twice_make_gamma_and_rho_estimable(database: Path, tmp_path: Path) -> None:
    judgments = read_judgments(str(database))
    overall = judgments.of("overall")
    means = np.bincount(overall.outputs, overall.values, len(overall.names)) / overall.counts
    rng = np.random.default_rng(2)
    metric = means + rng.normal(0, 5, len(means))
    system = np.array(judgments.systems)[judgments.belongs.argmax(axis=1)]
    metrics = tmp_path / "metrics.csv"
    pd.DataFrame({"output": overall.names, "system": system, "llm": metric}).to_csv(metrics, index=False)
    options = ["--metrics", metrics, "--criterion", "overall", "--bootstrap", 200, "--out", tmp_path / "out"]
    result = CliRunner().invoke(estimate, [str(each) for each in (database, *options, "--format", "csv")])
    assert result.exit_code == 0, result.output
    assert "one judgment only" not in result.output
    spreads = pd.read_csv(tmp_path / "out" / "spread.csv").set_index(["system", "scale"])
    found = spread(overall.values, overall.outputs).unbiased
    assert not isinstance(found.gamma, NotEstimable)
    assert spreads.loc[("all systems", "raw"), "gamma"] == pytest.approx(found.gamma)
    # A judgment's noise, 8 on each of two criteria, is less than what outputs differ by: 8, and their systems'.
    assert 0.05 < found.gamma < 1
    rhos = pd.read_csv(tmp_path / "out" / "efficiency.csv")
    rho = rhos.loc[(rhos["metric"] == "llm") & (rhos["system"] == "all systems"), "rho"]
    assert 0.5 < rho.iloc[0] <= 1.2


def test_power_of_a_run_of_transcripts(database: Path, tmp_path: Path) -> None:
    options = ["--difference", "5", "--bootstrap", "200", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(power, [str(database), *options])
    assert result.exit_code == 0, result.output
    assert "workers for all systems" in " ".join(result.stdout.split())
    document = json.loads((tmp_path / "out" / "power.json").read_text(encoding="utf-8"))
    assert document["plan"]
