"""The command line, as a user meets it."""

import copy
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from qc.analysis import SECTIONS
from qc.convert import save
from qc.loading import load
from tests.qc.support.watched import Watched

REPOSITORY = Path(__file__).parents[3]
# What is there of any run; the rest depends on what the run holds.
FILES = {
    "report.html",
    "report.json",
    "report.xlsx",
    "signature.txt",
    "ranking.svg",
    "passrate.csv",
    "duration.csv",
    "system_scores.csv",
    "system_raw_scores.csv",
    "significance_pvalues.csv",
    "worker_pvalues.csv",
    "workers.csv",
}


def command(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "qc.report", *map(str, arguments)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        cwd=REPOSITORY,
    )


def test_a_real_process(
    small_hits: dict[str, Any], hits_file: Callable[[object], Path], tmp_path: Path
) -> None:
    result = command(hits_file(small_hits), "--out", tmp_path / "new" / "out")
    assert result.returncode == 0, result.stderr
    assert {path.name for path in (tmp_path / "new" / "out").iterdir()} > FILES
    assert "begin with report.html" in result.stdout
    assert result.stdout.index("alpha_p") < result.stdout.index("beta")
    assert "\x1b[" not in result.stdout


def test_what_others_read_does_not_say_where_the_source_lies(
    small_hits: dict[str, Any],
    hits_file: Callable[[object], Path],
    report: Callable[..., Result],
    tmp_path: Path,
) -> None:
    source, out = hits_file(small_hits), tmp_path / "out"
    report(source, "--out", out)
    first, second = (tmp_path / name for name in ("first.json", "second.json"))
    for copied in (first, second):
        copied.write_bytes((REPOSITORY / "docs" / "examples" / copied.name).read_bytes())
    report(first, "--with", second, "--out", out)
    assert json.loads((out / "report.json").read_text())["source"] == source.name
    for written in out.iterdir():
        read = written.read_bytes()
        if written.suffix == ".xlsx":
            with zipfile.ZipFile(written) as parts:
                read = b"".join(parts.read(name) for name in parts.namelist())
        assert str(source.parent).encode() not in read, written.name


def test_a_real_process_that_refuses(tmp_path: Path) -> None:
    result = command(tmp_path / "nowhere.json")
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert "Traceback" not in result.stderr


def test_a_terminal_that_knows_only_ascii(
    small_hits: dict[str, Any], hits_file: Callable[[object], Path]
) -> None:
    result = command(hits_file(small_hits), PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")
    assert result.returncode == 0, result.stderr


def test_the_summary(
    small_hits: dict[str, Any], hits_file: Callable[[object], Path], report: Callable[..., Result]
) -> None:
    output = report(hits_file(small_hits), "--workers").stdout
    assert (
        output.index("Systems, best first") < output.index("Kept at α") < output.index("Workers who failed")
    )
    rows = [line.replace("│", " ").split() for line in output.splitlines()]
    assert ["workers", "1", "4", "5", "20.0", "%"] in rows
    assert ["conversations", "with", "systems", "3", "8", "11", "27.3", "%"] in rows
    assert ["minutes", "per", "conversation", "10.00", "4.00", "5.20"] in rows
    assert [
        "cleo",
        "1.0000",
        "no",
        "variance:",
        "every",
        "conversation",
        "is",
        "rated",
        "the",
        "same",
    ] in rows
    assert ["dan", "–", "no", "conversation", "with", "the", "quality-control", "bot"] in rows
    # z: (60, 20, -20) / 3 / √(4200 / 11) as derived in test_small.py.
    # One worker does not tell how much workers differ: no interval, and any rank.
    # Her one conversation with each is what she alone rated.
    assert [row for row in rows if row[1:2] == ["1–3"]] == [
        ["alpha_p", "1–3", "1.024", "–", "1", "1", "65.00"],
        ["beta", "1–3", "0.341", "–", "1", "1", "51.67"],
        ["alpha", "1–3", "-0.341", "–", "1", "1", "38.33"],
    ]
    assert "Signature: candor=" in output


def test_nothing_is_written_without_out(
    small_hits: dict[str, Any],
    hits_file: Callable[[object], Path],
    report: Callable[..., Result],
    tmp_path: Path,
) -> None:
    report(hits_file(small_hits))
    assert [path.name for path in tmp_path.iterdir()] == ["hits_data.json"]


def test_failed_workers_are_counted_and_listed_only_if_asked_for(
    small_hits: dict[str, Any],
    hits_file: Callable[[object], Path],
    report: Callable[..., Result],
    tmp_path: Path,
) -> None:
    ben = small_hits["data"][1]
    small_hits["data"] += [{**ben, "assignment": f"A{n}", "worker": f"x{n:03}"} for n in range(100)]
    source = hits_file(small_hits)
    assert "104 workers failed the filter; --workers lists them." in report(source).stdout
    result = report(source, "--workers", "--out", tmp_path / "out")
    assert "--workers" not in result.stdout
    assert all(f"x{n:03}" in result.stdout for n in range(100))
    content = json.loads((tmp_path / "out" / "report.json").read_text())
    assert len(content["workers"]["failed"]) == 104


def test_names_are_not_taken_for_markup(
    small_hits: dict[str, Any], hits_file: Callable[[object], Path], report: Callable[..., Result]
) -> None:
    small_hits["data"][1]["worker"] = "[bold]ben[/bold]"
    assert "[bold]ben[/bold]" in report(hits_file(small_hits), "--workers").stdout


@pytest.mark.parametrize("arguments", [[], ["--nonsense"], ["a.json", "--alpha", "much"]])
def test_wrong_usage(arguments: list[str], report: Callable[..., Result]) -> None:
    result = report(*arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_a_fee_that_is_a_share_is_refused(report: Callable[..., Result]) -> None:
    result = report("run.json", "--fee", 0.2)
    assert result.exit_code == 2
    assert "--fee is 0.2, but here it is in per cent. Write 20 for 20 %." in result.stderr


def test_help(report: Callable[..., Result]) -> None:
    result = report("--help")
    assert result.exit_code == 0
    for option in (
        "--run",
        "--replicate",
        "--replicate-run",
        "--out",
        "--format",
        "--only",
        "--alpha",
        "--bootstrap",
        "--seed",
        "--reward",
        "--criteria-file",
        "--include-partial",
    ):
        assert option in result.stdout
    for section in SECTIONS:
        assert section in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--only", "significance,luck"], "--only is 'significance,luck'; give names"),
        (["--only", ","], "--only is ','"),
        (["--format", "docx", "--out", "out"], "--format is 'docx'; give names separated by commas"),
        (["--bootstrap", "99"], "--bootstrap is 99, but an interval needs at least 100"),
        (["--seed", "-1"], "--seed is -1"),
        (["--reward", "-0.5"], "--reward is -0.5"),
        (["--reward", "inf"], "--reward is inf"),
        (["--replicate", "nowhere.json"], "--replicate is 'nowhere.json', but there is no such file"),
        (["--replicate", "x" * 300], "but there is no such file"),
        (["--replicate-run", "second"], "--replicate-run is 'second', but --replicate is not given"),
        (["--criteria-file", "nowhere.yaml"], "nowhere.yaml: the criteria file cannot be read"),
    ],
)
def test_options_that_make_no_sense(
    arguments: list[str],
    said: str,
    small_hits: dict[str, Any],
    hits_file: Callable[[object], Path],
    refused: Callable[..., str],
) -> None:
    assert said in refused(hits_file(small_hits), *arguments)


def test_only_what_is_asked_for(
    small_hits: dict[str, Any],
    hits_file: Callable[[object], Path],
    report: Callable[..., Result],
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    arguments = ("--only", "significance", "--format", "json,csv", "--out", out)
    assert report(hits_file(small_hits), *arguments).exit_code == 0
    assert {path.suffix for path in out.iterdir()} == {".json", ".csv", ".txt"}
    content = json.loads((out / "report.json").read_text())
    assert "significance" in content
    assert not {"forecast", "agreement", "topics", "replication", "persona"} & content.keys()


def test_a_criteria_file(
    small_hits: dict[str, Any],
    hits_file: Callable[[object], Path],
    report: Callable[..., Result],
    tmp_path: Path,
) -> None:
    declared = tmp_path / "criteria.yaml"
    declared.write_text("criteria:\n  - label: clear\n  - label: fun\n    negative: true\n")
    out = tmp_path / "out"
    result = report(hits_file(small_hits), "--criteria-file", declared, "--format", "json", "--out", out)
    assert result.exit_code == 0, result.output
    content = json.loads((out / "report.json").read_text())
    assert content["criteria"] == [
        {"label": "clear", "negative": False, "counts_for_qc": True, "maximum": 100},
        {"label": "fun", "negative": True, "counts_for_qc": True, "maximum": 100},
    ]
    assert "criteria=clear*,-fun*" in content["signature"]


def test_a_second_run_of_the_same_database(database: Any, report: Callable[..., Result]) -> None:
    database.add_run("r2", "second")
    for worker in ("anna", "ben"):
        database.add_assignment("r2", worker)
    result = report(database.url, "--run", "first", "--replicate", "second")
    assert result.exit_code == 0, result.output
    assert "second run, second," in result.stdout


@pytest.mark.parametrize("option", ["--replicate", "--with"])
def test_what_is_wrong_with_one_run_of_several_says_with_which(
    option: str, database: Any, refused: Callable[..., str]
) -> None:
    database.add_run("r2", "second")
    database.add_assignment("r2", "anna")
    both = (database.url, "--run", "first", option, "second")
    database.execute("UPDATE v1_rating SET value = 101 WHERE run_id = 'r2'")
    said = refused(*both)
    assert said.startswith("Error: Run second: ")
    assert "problems" in said.splitlines()[0]
    database.execute("UPDATE v1_rating SET value = 50 WHERE run_id = 'r2'")
    database.execute("UPDATE v1_criterion SET counts_for_qc = 0 WHERE run_id = 'r2'")
    said = refused(*both)
    assert said.startswith("Error: Run second: ")
    assert "no criterion counts for quality control" in said


def test_what_names_its_run_already_is_left_as_it_is(database: Any, refused: Callable[..., str]) -> None:
    database.add_run("r2", "second")
    said = refused(database.url, "--run", "first", "--with", "second")
    assert "the run 'second' is empty" in said
    assert not said.startswith("Error: Run second")


def test_runs_without_anything_in_common_are_named(database: Any, refused: Callable[..., str]) -> None:
    database.add_run("r2", "second")
    for worker in ("anna", "ben"):
        database.add_assignment("r2", worker)
    renamed = "SET system = system || '2' WHERE run_id = 'r2' AND system <> 'qc'"
    database.execute("UPDATE v1_system " + renamed)
    database.execute("UPDATE v1_conversation " + renamed)
    said = refused(database.url, "--run", "first", "--replicate", "second")
    assert "first (" in said
    assert "second (" in said


def test_a_folder_of_the_same_name_hides_no_run(
    database: Any, report: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.add_run("r2", "second")
    for worker in ("anna", "ben"):
        database.add_assignment("r2", worker)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "second").mkdir()
    result = report(database.url, "--run", "first", "--replicate", "second")
    assert result.exit_code == 0, result.output
    assert "second run, second," in result.stdout


def test_a_run_of_another_database(
    database: Any,
    small_hits: dict[str, Any],
    hits_file: Callable[[object], Path],
    report: Callable[..., Result],
    refused: Callable[..., str],
) -> None:
    database.add_run("r2", "second")
    for worker in ("anna", "ben"):
        database.add_assignment("r2", worker)
    source = hits_file(small_hits)
    for second in (database.url, database.path):
        result = report(source, "--replicate", second, "--replicate-run", "second")
        assert result.exit_code == 0, result.output
        assert "second run, second," in result.stdout
        message = refused(source, "--replicate", second)
        assert "holds 2 runs. Choose one with --replicate-run: first, second" in message
    message = refused(database.url, "--run", "first", "--replicate", source, "--replicate-run", "second")
    assert "--replicate-run chooses a run of a database, but" in message


def test_neither_a_run_nor_a_file(database: Any, refused: Callable[..., str]) -> None:
    message = refused(database.url, "--replicate", "third")
    assert "there is no run 'third'. The database holds: first" in message
    assert "there is no such file" in refused(
        database.url, "--replicate", "third", "--replicate-run", "first"
    )


def test_the_reward_is_in_the_signature(
    small_hits: dict[str, Any],
    hits_file: Callable[[object], Path],
    report: Callable[..., Result],
    tmp_path: Path,
) -> None:
    lines = set()
    for options in ((), ("--reward", "1"), ("--reward", "1.0000001")):
        out = tmp_path / "out"
        arguments = ("--only", "criteria", "--format", "csv", "--out", out, *options)
        assert report(hits_file(small_hits), *arguments).exit_code == 0
        lines.add((out / "signature.txt").read_text())
    assert len(lines) == 3


@pytest.mark.parametrize(
    ("options", "replicate", "expected"),
    [
        # Reading, the scores, and each of the sections but the replication.
        ((), False, 2 + len(SECTIONS) - 1),
        ((), True, 3 + len(SECTIONS)),
        (("--only", "criteria,replication", "--format", "json,csv"), False, 2 + 1 + 2),
        (("--only", "context", "--format", "json"), True, 3 + 1 + 1),
        # The figures are drawn before the page that shows them is written.
        (("--only", "criteria", "--format", "html,csv"), False, 2 + 1 + 3),
    ],
)
def test_the_bar_ends_where_the_work_ends(
    options: tuple[str, ...],
    replicate: bool,
    expected: int,
    small_hits: dict[str, Any],
    hits_file: Callable[[object], Path],
    report: Callable[..., Result],
    watch: Callable[[str], Watched],
    tmp_path: Path,
) -> None:
    watched, source = watch("qc.report.reporting"), hits_file(small_hits)
    out = ("--out", tmp_path / "out") if "--format" in options else ()
    second = ("--replicate", source) if replicate else ()
    result = report(source, *options, *out, *second)
    assert result.exit_code == 0, result.output
    assert (len(watched.said), watched.announced) == (expected, expected)


def test_what_was_said_is_read_of_the_first_run_alone(
    small_hits: dict[str, Any],
    hits_file: Callable[[object], Path],
    report: Callable[..., Result],
    watch: Callable[[str], Watched],
) -> None:
    watched, source = watch("qc.report.reporting"), hits_file(small_hits)
    report(source, "--replicate", source)
    first, second = watched.loads
    assert first.words
    assert not second.words


def test_the_seed_decides_every_digit(
    small_hits: dict[str, Any],
    hits_file: Callable[[object], Path],
    report: Callable[..., Result],
    tmp_path: Path,
) -> None:
    # Three more who pass, so that there is something to resample.
    anna = small_hits["data"][0]
    for number in range(3):
        given = copy.deepcopy(anna) | {"assignment": f"A{number}", "worker": f"x{number}"}
        for position, conversation in enumerate(given["result"]):
            conversation["score"]["robotic"] = (17 * number + 29 * position) % 100
        small_hits["data"].append(given)
    texts = {}
    for name, seed in (("one", 1), ("again", 1), ("other", 2)):
        out = tmp_path / name
        assert report(hits_file(small_hits), "--seed", seed, "--format", "json", "--out", out).exit_code == 0
        texts[name] = (out / "report.json").read_text()
    assert texts["one"] == texts["again"]
    assert texts["one"].replace("seed=1", "seed=2").replace('"seed": 1', '"seed": 2') != texts["other"]


def test_the_fee_of_the_platform_is_in_the_costs_and_in_the_signature(
    small_hits: dict[str, Any],
    hits_file: Callable[[object], Path],
    report: Callable[..., Result],
    tmp_path: Path,
) -> None:
    source, out = hits_file(small_hits), tmp_path / "out"
    report(source, "--reward", 2, "--fee", 20, "--out", out, "--only", "effort", "--format", "json,html")
    content = json.loads((out / "report.json").read_text())
    # Five assignments of 2 dollars, and a fifth on top.
    assert content["cost"]["total"] == pytest.approx(12.0)
    assert content["cost"]["fee"] == 0.2
    assert content["signature"].endswith("|fee=0.2")
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "with a fee of 20" in page
    assert content["workload"]["distribution"] == [{"assignments": 1, "passed": 1, "failed": 4}]


def test_the_help_loads_nothing_that_takes_long() -> None:
    code = (
        "import sys\nfrom qc.report.__main__ import app\n"
        "try:\n    app(['--help'])\nfinally:\n"
        "    slow = {'numpy', 'pandas', 'pyarrow', 'scipy', 'matplotlib'}\n"
        "    print('loaded:', sorted(sys.modules.keys() & slow))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "loaded: []"


def test_a_file_of_people_has_no_simulated_workers_to_report_on(
    small_hits: dict[str, Any],
    hits_file: Callable[[object], Path],
    report: Callable[..., Result],
    refused: Callable[..., str],
    tmp_path: Path,
) -> None:
    people, programs = tmp_path / "people", tmp_path / "programs"
    save(load(hits_file(small_hits)), people, "hits")
    small_hits["metadata"]["simulated"] = True
    save(load(hits_file(small_hits)), programs, "hits")
    assert f"--simulated chooses simulated workers, but {people} is a file of people" in refused(
        people, "--simulated"
    )
    assert report(programs, "--simulated", "--only", "criteria").exit_code == 0
