"""`python -m qc.metrics`, as an analyst meets it."""

import csv
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook
from typer.testing import CliRunner, Result

from qc.convert import save
from qc.judgments import Selection, read_judgments
from qc.loading import load
from qc.metrics.__main__ import app
from qc.options import no_step
from tests.needs import need_hf
from tests.qc.support.judge_server import Answer, Json, judging, rated, statements_in
from tests.qc.support.spoken import spoken_run

REPOSITORY = Path(__file__).parents[3]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A run of 12 workers with words: chatty, plain, echo and the qc bot."""
    path = tmp_path / "run.json"
    save(spoken_run(), path, "hits", no_step)
    return path


@pytest.fixture
def metrics(source: Path, tmp_path: Path) -> Callable[..., Result]:
    """Return a function that runs the command on the run with the given options."""

    def run(*options: object, of: Path = source) -> Result:
        fixed = ["--cache", tmp_path / "cache.db", "--bootstrap", 100]
        return CliRunner().invoke(app, [str(each) for each in (of, *fixed, *options)])

    return run


@pytest.fixture
def refused(metrics: Callable[..., Result]) -> Callable[..., str]:
    """Return a function that runs the command, asserts that it refuses, and returns its message."""

    def run(*options: object, **given: Any) -> str:
        result = metrics(*options, **given)
        assert result.exit_code == 2, result.output
        assert result.stderr.startswith("Error: ")
        assert "Traceback" not in result.output
        return " ".join(result.stderr.split())

    return run


def test_without_options_it_scores_the_replies(metrics: Callable[..., Result]) -> None:
    result = metrics()
    assert result.exit_code == 0, result.output
    assert "agrees best with people: r = " in result.stdout
    assert "over n = 3 systems, no interval." in result.stdout
    assert "3 systems are few" in result.stdout
    for name in ("distinct_1", "distinct_2", "words_per_reply", "repeated_replies", "repeated_trigrams"):
        assert name in result.stdout
    assert "metrics=distinct_1,distinct_2," in result.stdout
    assert "Nothing was written." in result.stdout


def test_everything_that_is_written(metrics: Callable[..., Result], tmp_path: Path) -> None:
    scores = tmp_path / "mine.csv"
    scores.write_text("system,mine,-worse\nchatty,3,1\nplain,2,2\necho,1,3\n", encoding="utf-8")
    result = metrics("--scores", scores, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    written = {file.name for file in (tmp_path / "out").iterdir()}
    assert written == {
        "metrics.html",
        "metrics.json",
        "metrics.xlsx",
        "metrics_agreement.csv",
        "metrics_criteria.csv",
        "metrics_conversations.csv",
        "metrics_prefilter.csv",
        "metrics_systems.csv",
        "metrics_conversation_scores.csv",
        "metrics_for_estimate.csv",
        "metric-agreement.svg",
        "metric-ranks.svg",
        "metric-scatter.svg",
    }
    document = json.loads((tmp_path / "out" / "metrics.json").read_text(encoding="utf-8"))
    mine = [row for row in document["agreement"] if row["metric"] == "mine" and row["on"] == "overall"]
    assert mine[0]["pairwise_accuracy"] == 1
    # With 3 systems there is no interval, which JSON says by null.
    assert mine[0]["r_low"] is None
    book = load_workbook(tmp_path / "out" / "metrics.xlsx")
    assert book.sheetnames[:2] == ["report", "metrics_agreement"]
    page = (tmp_path / "out" / "metrics.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert 'src="http' not in page
    assert page.count("<svg") == 6  # three figures, each wide and narrow


def test_names_of_the_data_are_escaped_on_the_page(metrics: Callable[..., Result], tmp_path: Path) -> None:
    scores = tmp_path / "mine.csv"
    scores.write_text("system,<script>x</script>\nchatty,3\nplain,2\necho,1\n", encoding="utf-8")
    assert metrics("--scores", scores, "--out", tmp_path / "out").exit_code == 0
    assert "<script" not in (tmp_path / "out" / "metrics.html").read_text(encoding="utf-8")


def test_one_format(metrics: Callable[..., Result], tmp_path: Path) -> None:
    assert metrics("--out", tmp_path / "out", "--format", "json").exit_code == 0
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["metrics.json"]


def test_the_scores_of_conversations_are_metrics_for_the_estimators(
    metrics: Callable[..., Result], source: Path, tmp_path: Path
) -> None:
    assert metrics("--out", tmp_path / "out").exit_code == 0
    scores = tmp_path / "out" / "metrics_for_estimate.csv"
    judgments = read_judgments(str(source), Selection(metrics=scores))
    assert "distinct_1" in judgments.metrics
    # 12 workers who all pass, with 3 systems: the qc bot's conversations do not join the pool.
    assert len(judgments.metrics) == 36


def test_references(metrics: Callable[..., Result], source: Path, tmp_path: Path) -> None:
    references = tmp_path / "references.csv"
    lines = [f"{name},1,I love long walks too!" for name in load(source).conversations["conversation"]]
    references.write_text("\n".join(["conversation,turn,reference", *lines]), encoding="utf-8")
    result = metrics("--references", references, "--out", tmp_path / "out", "--format", "csv")
    assert result.exit_code == 0, result.output
    with (tmp_path / "out" / "metrics_systems.csv").open(encoding="utf-8") as file:
        rows = {row["system"]: row for row in csv.DictReader(file)}
    for name in ("bleu", "chrf", "rouge_l", "meteor_exact_stem", "gleu"):
        assert float(rows["chatty"][name]) > float(rows["echo"][name])
    assert "bleu=nrefs:1|" in result.stdout


def better_for_walks(body: Json) -> Answer:
    """Rate conversations about walks higher than the others."""
    high = "long walks" in body["messages"][0]["content"]
    return rated(*[80 if high else 30 for _ in statements_in(body)])


def test_a_judge_with_its_cost(metrics: Callable[..., Result], tmp_path: Path) -> None:
    with judging(better_for_walks) as server:
        options = ["--judge", server.url, "--judge-model", "tiny", "--judge-price", 1, 10]
        asked = metrics(*options)
        assert asked.exit_code == 2
        # 16 calls, as is said below, whose prompts have 4 characters to a token; answers of 2 ratings 18.
        told = " ".join(asked.stderr.split())
        assert f"The judge may cost money: about 16 calls to tiny at {server.url}: about 0.0" in told
        assert "at 1 and 10 for a million tokens in and out" in told
        assert "nothing was done: there is no terminal to ask at. To do it, add --yes to the command." in told
        assert not server.bodies
        first = metrics(*options, "--out", tmp_path / "out", "--format", "csv", "--yes")
        second = metrics(*options)  # all of it is kept: nothing costs anything
    assert first.exit_code == second.exit_code == 0, first.output
    assert "judge_fun" in first.stdout
    assert "The judge's own noise" in first.stdout
    # The conversations of a system are word for word the same here, so 4 systems × 2 orders × 2 repeats are
    # asked about: 16 answers of 100 and 10 tokens. 1,600 × 1 + 160 × 10 millionths of a dollar.
    words = " ".join(first.stdout.split())
    assert "16 answers took 1,600 tokens of prompts and 160 of answers" in words
    assert "At the price given that is 0.0032 dollars, 0.0032 of them now." in words
    assert len(server.bodies) == 16
    assert "0 of them were asked for now" in " ".join(second.stdout.split())
    with (tmp_path / "out" / "metrics_judge.csv").open(encoding="utf-8") as file:
        assert [row["criterion"] for row in csv.DictReader(file)] == ["fun", "topic"]


@pytest.mark.hf
def test_models_are_asked_once(metrics: Callable[..., Result], tmp_path: Path) -> None:
    need_hf()
    from tests.qc.support.tiny_scorers import save_tiny_scorers

    folders = save_tiny_scorers(tmp_path / "models")
    options = ["--model", folders["causal"], "--model", folders["masked"]]
    first = metrics(*options)
    assert first.exit_code == 0, first.output
    for name in ("perplexity [causal]", "bertscore [masked]", "masked_word_sum [masked]"):
        assert name in first.stdout
    kept = (tmp_path / "cache.db").read_bytes()
    assert metrics(*options).stdout == first.stdout
    assert (tmp_path / "cache.db").read_bytes() == kept


def test_scores_alone_need_no_words(
    metrics: Callable[..., Result], tmp_path: Path, refused: Callable[..., str]
) -> None:
    from dataclasses import replace

    silent = tmp_path / "silent.json"
    save(replace(spoken_run(), words=None), silent, "hits", no_step)
    scores = tmp_path / "mine.csv"
    scores.write_text("system,mine\nchatty,3\nplain,2\necho,1\n", encoding="utf-8")
    result = metrics("--scores", scores, of=silent)
    assert result.exit_code == 0, result.output
    assert "mine agrees best with people" in result.stdout
    assert "holds no replies of the systems" in refused(of=silent)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--judge", "http://x/v1"], "--judge-model is not given"),
        (["--judge-model", "m"], "of no use without --judge URL"),
        (["--judge", "localhost", "--judge-model", "m"], "which is no address"),
        (["--judge", "http://x", "--judge-model", "m", "--judge-key", "CANDOR_NO_SUCH"], "CANDOR_NO_SUCH"),
        (["--judge", "http://x", "--judge-model", "m", "--statements", "none.toml"], "cannot be read"),
        (["--format", "pdf", "--out", "x"], "--format is 'pdf'"),
        (["--bootstrap", "5"], "at least 100 resamples"),
        (["--model", "nowhere"], "it has no config.json"),
        (["--references", "nowhere.csv"], "cannot be read"),
    ],
)
def test_what_cannot_be_done_is_said(refused: Callable[..., str], options: list[str], message: str) -> None:
    if "--model" in options:
        need_hf()
    assert message in refused(*options)


def test_two_metrics_of_one_name_are_refused(refused: Callable[..., str], tmp_path: Path) -> None:
    scores = tmp_path / "mine.csv"
    scores.write_text("system,distinct_1\nchatty,3\n", encoding="utf-8")
    assert "distinct_1: is the name of two metrics." in refused("--scores", scores)


def test_help_imports_no_model() -> None:
    """What takes seconds to import is left to those who use it."""
    code = (
        "import sys, qc.metrics.__main__; "
        "print({'torch', 'transformers', 'sacrebleu', 'matplotlib'} & sys.modules.keys())"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=REPOSITORY
    )
    assert shown.stdout.strip() == "set()"
