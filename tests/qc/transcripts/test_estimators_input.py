"""Estimators get the judgments of a run of transcripts: an output is an item that several workers judged."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from qc.estimate import app as estimate
from qc.judgments import Selection, read_judgments
from qc.loading import load
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
    levels = np.array([40.0, 48.0, 56.0, 64.0])[judgments.belongs.argmax(axis=1)]
    metrics = tmp_path / "metrics.csv"
    llm = levels + np.random.default_rng(2).normal(0, 4, len(levels))
    pd.DataFrame({"output": judgments.outputs["output"], "llm": llm}).to_csv(metrics, index=False)
    options = ["--metrics", metrics, "--criterion", "overall", "--bootstrap", 200, "--out", tmp_path / "out"]
    result = CliRunner().invoke(estimate, [str(each) for each in (database, *options, "--format", "csv")])
    assert result.exit_code == 0, result.output
    assert "one judgment only" not in result.output
    found = (
        pd.read_csv(tmp_path / "out" / "estimate_spread.csv")
        .set_index(["system", "scale"])
        .loc["all systems", "raw"]
    )
    # A judgment's noise is 8 on each of two criteria: 64 / 2. Outputs differ by 8 and by their
    # systems' levels, whose variance is 80: 64 + 80.
    assert found["sigma_a2_unbiased"] == pytest.approx(32, rel=0.25)
    assert found["sigma_f2_unbiased"] == pytest.approx(144, rel=0.25)
    gamma = found["sigma_a2_unbiased"] / found["sigma_f2_unbiased"]
    assert found["gamma_unbiased"] == pytest.approx(gamma)
    rows = pd.read_csv(tmp_path / "out" / "estimate_efficiency.csv").set_index(["system", "scale", "metric"])
    # Cov = 80, so 80 / (12 × √96).
    assert rows.loc[("all systems", "raw", "llm"), "rho"] == pytest.approx(0.68, abs=0.12)


def test_power_of_a_run_of_transcripts(database: Path, tmp_path: Path) -> None:
    options = ["--difference", "5", "--bootstrap", "200", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(power, [str(database), *options])
    assert result.exit_code == 0, result.output
    assert "workers for all systems" in " ".join(result.stdout.split())
    document = json.loads((tmp_path / "out" / "power.json").read_text(encoding="utf-8"))
    assert {row["system"] for row in document["systems"]} == {"ada", "bob", "cy", "dot"}
    independent = next(row for row in document["sizes"] if row["basis"] == "independent judgments")
    # Within a system: √(64 + 32).
    assert independent["sd"] == pytest.approx(9.8, rel=0.15)
    # The normal approximation, 2 (z_.975 + z_.95)² (sd / d)², is a little low.
    normal = 2 * (1.96 + 1.645) ** 2 * (independent["sd"] / 5) ** 2
    assert normal < independent["per_system"] < normal + 3
