"""The command `python -m qc.estimate`, as an analyst meets it."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner, Result

from qc.estimate import app
from qc.power import app as power
from qc.randomisation import app as randomisation
from tests.qc.support.judgments import write_judgments

REPOSITORY = Path(__file__).parents[2]
FILES = {
    "estimate.html",
    "estimate.json",
    "estimate.xlsx",
    "estimate_means.csv",
    "estimate_efficiency.csv",
    "estimate_spread.csv",
    "estimate_looks.csv",
    "estimate_widths.csv",
    "estimate_sequences.csv",
    "widths.svg",
    "looks.svg",
}


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def refused(*arguments: object) -> str:
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    return result.stderr


def test_a_real_process_writes_everything(tmp_path: Path) -> None:
    source, metrics = write_judgments(tmp_path)
    out = tmp_path / "out"
    command = [sys.executable, "-W", "error", "-m", "qc.estimate", str(source), "--metrics", str(metrics)]
    result = subprocess.run(
        [*command, "--bootstrap", "200", "--out", str(out)],
        capture_output=True,
        text=True,
        check=False,
        cwd=REPOSITORY,
        env=dict(os.environ),
    )
    assert result.returncode == 0, result.stderr
    assert {path.name for path in out.iterdir()} == FILES
    assert "with 60 of 200 outputs judged, judge saves" in " ".join(result.stdout.split())
    assert "begin with estimate.html" in result.stdout
    assert "\x1b[" not in result.stdout
    document = json.loads((out / "estimate.json").read_text(encoding="utf-8"))
    written = pd.read_csv(out / "estimate_efficiency.csv")
    assert len(document["efficiency"]) == len(written)
    constant = [row for row in document["efficiency"] if row["metric"] == "same"]
    assert constant
    assert all(row["de"] is None for row in constant)
    page = (out / "estimate.html").read_text(encoding="utf-8")
    assert "not estimable" in page
    assert "<script" not in page
    for figure in ("widths.svg", "looks.svg"):
        assert (out / figure).read_text(encoding="utf-8").startswith("<svg")


def test_names_from_the_data_are_text_on_the_page(tmp_path: Path) -> None:
    source, metrics = write_judgments(tmp_path)
    for path in (source, metrics):
        path.write_text(path.read_text().replace("good", "<b>&good"), encoding="utf-8")
    run(source, "--metrics", metrics, "--bootstrap", 200, "--out", tmp_path / "out", "--format", "html")
    page = (tmp_path / "out" / "estimate.html").read_text(encoding="utf-8")
    assert "<b>&good" not in page
    assert "&lt;b&gt;&amp;good" in page


def test_only_what_is_asked_for_is_written(tmp_path: Path) -> None:
    source, metrics = write_judgments(tmp_path)
    out = tmp_path / "out"
    result = run(
        source, "--metrics", metrics, "--metric", "noise", "--bootstrap", 200, "--out", out, "--format", "csv"
    )
    assert result.exit_code == 0, result.output
    assert {path.suffix for path in out.iterdir()} == {".csv"}
    assert set(pd.read_csv(out / "estimate_efficiency.csv")["metric"]) == {"noise"}


def test_a_small_run_is_estimated_as_far_as_it_goes(
    small_hits: dict[str, Any], hits_file: Callable[[object], Path]
) -> None:
    result = run(hits_file(small_hits), "--criterion", "fun", "--bootstrap", 200)
    assert result.exit_code == 0, result.output
    # One worker passed, and met each of the three systems once.
    assert "one judgment only" in " ".join(result.stdout.split())
    assert re.search(r"fun +│ all systems │ raw +│ none +│ +3 │ +3 │ +50.000 │ +– │", result.stdout)


def test_a_run_of_which_no_worker_passed_has_nothing_to_estimate_from(
    small_hits: dict[str, Any], hits_file: Callable[[object], Path]
) -> None:
    for assignment in small_hits["data"]:
        for conversation in assignment["result"]:
            conversation["score"] = dict.fromkeys(conversation["score"], 50)
    source = hits_file(small_hits)
    for refusal in (refused(source), refused(source, "--until", "12")):
        assert "No worker passed, so no system has a score." in refusal
    for command in (power, randomisation):
        result = CliRunner().invoke(command, [str(source)])
        assert (result.exit_code, "No worker passed" in result.stderr) == (2, True), result.output


@pytest.mark.published
def test_a_published_run(published: Path) -> None:
    source = published / "published" / "free_run1" / "hits_data.json"
    result = run(source, "--criterion", "overall", "--bootstrap", 200)
    assert result.exit_code == 0, result.output
    assert "γ and ρ are not estimable" in " ".join(result.stdout.split())
    assert "There is no metric" in " ".join(result.stdout.split())


def test_wrong_options_are_refused_in_words(tmp_path: Path) -> None:
    source, metrics = write_judgments(tmp_path)
    assert "write COLUMN=TEXT" in refused(source, "--where", "published")
    assert "write two numbers" in refused(source, "--scale", "0")
    assert "There is no column 'published'" in refused(source, "--where", "published=1")
    assert "--format is 'pdf'" in refused(source, "--out", tmp_path, "--format", "pdf")
    assert "cannot be read" in refused(tmp_path / "absent.csv")
    assert "There is no metric 'bleu'" in refused(source, "--metrics", metrics, "--metric", "bleu")
    (tmp_path / "file").touch()
    assert "Name another --out" in refused(source, "--bootstrap", 200, "--out", tmp_path / "file" / "out")


def test_the_help_says_what_files_look_like() -> None:
    shown = " ".join(run("--help").stdout.split())
    for word in ("A plain CSV", "Or one output per row", "A file of metrics", "join the pool"):
        assert word in shown


def until(source: Path, width: float, *more: object) -> Result:
    return run(source, "--until", width, *more)


def test_until_says_by_its_status_whether_it_is_narrow_enough(tmp_path: Path) -> None:
    source, _ = write_judgments(tmp_path)
    wide, narrow = until(source, 9), until(source, 0.01)
    assert wide.exit_code == 0, wide.output
    assert narrow.exit_code == 3, narrow.output
    first, good, poor, verdict = wide.stdout.splitlines()
    assert first.startswith("value, by the asymptotic confidence sequence: 95 % for each system")
    assert re.fullmatch(r"good: [\d.]+ ± [\d.]+ after \d+ workers\.", good)
    assert poor.startswith("poor: −")
    assert verdict.startswith("Narrow enough: the widest is ± ")
    assert narrow.stdout.splitlines()[-1].startswith("Not yet: the widest is ± ")
    assert narrow.stdout.splitlines()[-1].endswith("and ± 0.01 was asked for.")


def test_until_points_to_the_exact_sequence_where_nearly_all_judgments_are_the_same(tmp_path: Path) -> None:
    source = tmp_path / "judgments.csv"
    rows = [f"i{item},bot,w{item},{int(item % 10 == 9)}" for item in range(40)]
    source.write_text("\n".join(["item,system,worker,value", *rows]) + "\n", encoding="utf-8")
    found = until(source, 0.5)
    assert found.exit_code == 3, found.output
    said = found.stdout.splitlines()[1]
    assert said.startswith("bot: 40 judgments, nearly all the same, or a few far from the others; there")
    assert "--sequence exact with --scale LOW,HIGH" in said
    exact = until(source, 0.5, "--sequence", "exact", "--scale", "0,1")
    assert exact.exit_code == 0, exact.output


def test_until_refuses_what_it_cannot_say(tmp_path: Path) -> None:
    source, metrics = write_judgments(tmp_path)
    assert "half-width above 0" in refused(source, "--until", 0)
    assert "Say them with --scale" in refused(source, "--until", 1, "--sequence", "exact")
    assert "Leave out --metrics" in refused(source, "--until", 1, "--metrics", metrics)
    joined = (source, "--until", 1, "--metrics", metrics, "--metric")
    assert "Leave out --metrics" in refused(*joined, "judge,noise")
    assert "human judgments only" in refused(*joined, "judge", "--sequence", "exact", "--scale", "-9,9")
    assert "no metric 'nose'" in refused(*joined, "judge+nose")
    together = run(*joined, "judge+noise")
    assert together.stdout.startswith("value, by the asymptotic confidence sequence with judge+noise: 95 %")
    assert "--sequence needs --until WIDTH" in refused(source, "--sequence", "exact")
    assert "is -1,1, but value goes from" in refused(source, "--until", 1, "--scale", "-1,1")
