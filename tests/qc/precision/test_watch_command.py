"""The command `python -m qc.precision.watch`, as the server starts it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from qc.precision.watch import NOTHING_NOTE, PEOPLE_NOTE, app
from qc.run import SIMULATED_NOTE
from tests.qc.support.database import Database

REPOSITORY = Path(__file__).parents[3]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def document(*arguments: object) -> dict[str, Any]:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_a_real_process_prints_one_document(database: Database) -> None:
    """Of SMALL: anna passes, ben and cleo do not, dan and eve were tested against nothing."""
    command = [sys.executable, "-W", "error", "-m", "qc.precision.watch", database.url, "--run", "first"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=REPOSITORY)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found.keys() == {"at", "ratings", "pass_rate", "workers", "scores", "widest", "notes"}
    assert found["pass_rate"] == {"passed": 1, "failed": 4, "undecided": 0}
    assert found["ratings"] == 3 * (4 + 4 + 4 + 2 + 1)
    p = {worker["worker"]: worker["p"] for worker in found["workers"]}
    assert p.keys() == {"anna", "ben", "cleo", "dan", "eve"}
    assert p["anna"] < 0.05 < p["ben"]
    assert p["dan"] is p["eve"] is None
    assert [score["system"] for score in found["scores"]] == ["alpha", "alpha_p", "beta"]
    assert all(score["conversations"] == score["raters"] == 1 for score in found["scores"])
    assert found["widest"] is None
    assert PEOPLE_NOTE in found["notes"]


def test_who_is_under_way_is_undecided(empty_database: Database) -> None:
    empty_database.add_run("r1", "first")
    empty_database.add_assignment("r1", "anna", status="active", ended_at=None)
    empty_database.add_assignment("r1", "ben", status="expired")
    found = document(empty_database.url)
    assert found["pass_rate"] == {"passed": 0, "failed": 0, "undecided": 1}
    assert [worker["worker"] for worker in found["workers"]] == ["anna", "ben"]
    assert all(score["z"] is None and score["raters"] == 0 for score in found["scores"])


def test_simulated_workers_count_where_there_are_no_people(empty_database: Database) -> None:
    empty_database.add_run("r1", "first")
    empty_database.add_assignment("r1", "ben", simulated=1)
    assert SIMULATED_NOTE in document(empty_database.url)["notes"]
    empty_database.add_assignment("r1", "anna")
    found = document(empty_database.url)
    assert [worker["worker"] for worker in found["workers"]] == ["anna"]
    assert PEOPLE_NOTE in found["notes"]


def test_a_run_that_nobody_has_rated(empty_database: Database) -> None:
    empty_database.add_run("r1", "first")
    found = document(empty_database.url)
    assert found["ratings"] == 0
    assert found["notes"] == [NOTHING_NOTE]


def test_only_a_database_can_be_watched(tmp_path: Path) -> None:
    path = tmp_path / "hits_data.json"
    path.write_text("{}", encoding="utf-8")
    result = run(path)
    assert result.exit_code == 2
    assert "Give a database" in result.stderr
