"""`candor study preregister`: what is in the file, and when it is refused."""

import hashlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
import yaml

from qc.loading.registration import read_registration
from server.study import DEMO, load_study
from tests.server.support.commands import Candor, assert_refused

STUDY = load_study(DEMO)[0]
A, B = (system.name for system in STUDY.systems[:2])


@pytest.fixture
def data(candor: Candor, folder: Path, tmp_path: Path) -> Path:
    """The data folder of a server with the run `pilot`, which is to gather 40 assignments."""
    rules = tmp_path / "rules.yaml"
    rules.write_text("target:\n  assignments: 40\n", encoding="utf-8")
    done = candor(
        "study", "open", DEMO, "--run", "pilot", "--data", folder, "--rules", rules, "--despite-failing-bots"
    )
    assert done.exit_code == 0, done.output
    return folder


def content_of(path: Path) -> dict[str, Any]:
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def begin(data: Path) -> None:
    """Put an assignment into the run, as the server does when a worker comes."""
    with sqlite3.connect(data / "candor.db") as database:
        run = database.execute("SELECT id FROM run").fetchone()[0]
        worker = {
            "platform": "link",
            "external_id": "w",
            "pseudonym": "p",
            "created_at": "2026-01-01 00:00:00",
        }
        _insert(database, "worker", worker)
        _insert(
            database,
            "assignment",
            {"id": "a", "run_id": run, "worker_id": 1, "status": "open", "created_at": "2026-01-01 00:00:00"},
        )


def _insert(database: sqlite3.Connection, table: str, values: dict[str, Any]) -> None:
    """Insert a row; columns that must have a value and were given none get an empty one."""
    columns = database.execute(f"PRAGMA table_info({table})").fetchall()
    empty = {"INTEGER": 0, "BIGINT": 0, "FLOAT": 0.0, "BOOLEAN": 0}
    row = {
        name: values.get(name, empty.get(kind, ""))
        for _, name, kind, required, default, key in columns
        if name in values or (required and default is None and not (key and kind == "INTEGER"))
    }
    marks = ", ".join("?" * len(row))
    database.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", list(row.values()))  # noqa: S608


def test_what_is_fixed_is_in_the_file_with_its_hash(candor: Candor, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "plan.yaml"
    done = candor(
        "study", "preregister", DEMO, "--run", "pilot", "--out", out, "--data", data,
        "--hypothesis", f"{A} > {B}", "--alpha", "0.01", "--familywise", "0.1",
        "--stopping", "at the end of May", "--exclude", "a second window",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    content = content_of(out)
    assert content["hypotheses"] == [{"higher": A, "lower": B}]
    assert content["filter"] == {"alpha": 0.01}
    assert content["familywise"] == 0.1
    assert content["target"] == {"assignments": 40}
    assert content["exclusions"] == ["a second window"]
    assert content["begun_before"] == 0
    assert [one["label"] for one in content["criteria"]] == [
        one.label for one in STUDY.criteria if one.is_scored
    ]
    kept = {key: value for key, value in content.items() if key != "hash"}
    text = json.dumps(kept, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert content["hash"] == f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    assert content["hash"] in done.output
    # The report reads what the server has written.
    assert read_registration(out).hash == content["hash"]
    with sqlite3.connect(data / "candor.db") as database:
        row = database.execute(
            "SELECT subject, detail FROM audit_entry WHERE action = 'run.preregister'"
        ).fetchone()
    assert row == ("pilot", content["hash"])


def test_a_run_that_is_not_open_yet_has_no_target(candor: Candor, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "plan.yaml"
    done = candor("study", "preregister", DEMO, "--run", "later", "--out", out, "--data", data)
    assert done.exit_code == 0, done.output
    assert content_of(out)["target"] is None


def test_where_there_is_no_database_nobody_says_that_nothing_had_begun(
    candor: Candor, tmp_path: Path
) -> None:
    out, wrong = tmp_path / "plan.yaml", tmp_path / "none"
    done = candor("study", "preregister", DEMO, "--run", "pilot", "--out", out, "--data", wrong)
    assert_refused(done, f"There is no {wrong / 'candor.db'}", "--data")
    assert not out.exists()
    assert not wrong.exists()


def test_after_the_first_assignment_it_is_refused_or_says_so(
    candor: Candor, data: Path, tmp_path: Path
) -> None:
    begin(data)
    out = tmp_path / "plan.yaml"
    asked = ("study", "preregister", DEMO, "--run", "pilot", "--out", out, "--data", data)
    assert_refused(candor(*asked), "The run “pilot” has begun (1 assignment)")
    assert not out.exists()
    assert candor(*asked, "--after-the-fact").exit_code == 0
    assert content_of(out)["begun_before"] == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--hypothesis", f"{A} > {A}"), "is not a hypothesis about two systems"),
        (("--hypothesis", f"{A} > nobody"), "is not a hypothesis about two systems"),
        (("--hypothesis", f"{A} beats {B}"), "Write it as 'A > B'"),
        (("--alpha", "1"), "A level must be between 0 and 1"),
        (("--run", "a b"), "cannot be the name of a run"),
    ],
)
def test_what_makes_no_sense_is_refused(
    candor: Candor, data: Path, tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    out = tmp_path / "plan.yaml"
    asked = ("study", "preregister", DEMO, "--run", "pilot", "--out", out, "--data", data)
    assert_refused(candor(*asked, *options), said)
    assert not out.exists()


def test_no_file_is_replaced(candor: Candor, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "plan.yaml"
    out.write_text("mine", encoding="utf-8")
    done = candor("study", "preregister", DEMO, "--run", "pilot", "--out", out, "--data", data)
    assert_refused(done, "cannot be written")
    assert out.read_text(encoding="utf-8") == "mine"
