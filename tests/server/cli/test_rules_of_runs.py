"""`candor run rules`: what whoever changes the rules of a run is told of the change."""

from pathlib import Path

import pytest

from server.study import DEMO
from tests.server.support.commands import Candor, assert_refused
from tests.server.support.database import execute


@pytest.fixture
def data(candor: Candor, tmp_path: Path) -> Path:
    """The data folder of a server with the run `maxi`, and `maxi-2` that replicates it."""
    folder = tmp_path / "data"
    done = candor("study", "open", DEMO, "--run", "maxi", "--data", folder, "--despite-failing-bots")
    assert done.exit_code == 0, done.output
    assert candor("run", "replicate", "maxi", "--data", folder).exit_code == 0
    return folder


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    return tmp_path / "rules.yaml"


def test_who_is_no_longer_kept_out_is_said(candor: Candor, data: Path, rules: Path) -> None:
    rules.write_text("excluded_runs: [maxi]\nexcluded_workers: [ann, bob]\n")
    kept = candor("run", "rules", "maxi-2", rules, "--data", data)
    assert kept.exit_code == 0, kept.output
    assert "Note" not in kept.stderr
    rules.write_text("target: {assignments: 40}\nexcluded_workers: [bob]\n")
    done = candor("run", "rules", "maxi-2", rules, "--data", data)
    assert done.exit_code == 0, done.output
    assert "Workers of “maxi” may come now: the new rules do not exclude them." in done.stderr
    assert "1 worker who was excluded by id may come now" in done.stderr
    assert "ann" not in done.output


def test_it_is_said_where_a_run_is_opened_again_with_rules(candor: Candor, data: Path, rules: Path) -> None:
    rules.write_text("target: {assignments: 40}\n")
    done = candor("study", "open", DEMO, "--run", "maxi-2", "--rules", rules, "--data", data)
    assert done.exit_code == 0, done.output
    assert "Workers of “maxi” may come now" in done.stderr


def test_rules_that_end_the_run_at_once_are_said_to(candor: Candor, data: Path, rules: Path) -> None:
    rules.write_text("budget: {total: 2, pay: 3}\n")
    done = candor("run", "rules", "maxi", rules, "--data", data)
    assert "With these rules the run ends at once. The budget of 2.00 pays for no other" in done.stderr
    counted = "INSERT INTO assignment_count SELECT id, FALSE, 'completed', 12 FROM run WHERE slug = 'maxi'"
    execute(f"sqlite:///{data / 'candor.db'}", counted)
    rules.write_text("target: {assignments: 12}\n")
    done = candor("run", "rules", "maxi", rules, "--data", data)
    assert "ends at once. The run reached its target: 12 assignments." in done.stderr
    rules.write_text("target: {assignments: 13}\n")
    assert "at once" not in candor("run", "rules", "maxi", rules, "--data", data).output


def test_a_run_cannot_exclude_itself(candor: Candor, data: Path, rules: Path) -> None:
    rules.write_text("excluded_runs: [maxi, maxi-2]\n")
    done = candor("run", "rules", "maxi-2", rules, "--data", data)
    assert_refused(done, "include “maxi-2”, the run itself")
    assert candor("run", "rules", "maxi-2", "--data", data).stdout.split() == ["excluded_runs:", "-", "maxi"]
