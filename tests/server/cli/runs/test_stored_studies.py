"""`candor study`: names that no study can have, files that are not there, and what is noted of a study."""

from pathlib import Path

import pytest

from server.study import DEMO
from tests.server.support.commands import Candor, assert_refused


@pytest.mark.parametrize("name", ["Pilot", "my-study", "1st", "a" * 41])
def test_a_study_that_could_never_be_opened_is_not_stored(candor: Candor, tmp_path: Path, name: str) -> None:
    said = f"“{name}” cannot be the name of a study", "lowercase letters, digits and _"
    assert_refused(candor("study", "new", name, "--demo", "--data", tmp_path), *said)
    assert not (tmp_path / "candor.db").exists()
    assert candor("study", "new", "pilot", "--demo", "--data", tmp_path).exit_code == 0
    assert_refused(candor("study", "copy", "pilot", name, "--data", tmp_path), *said)


@pytest.mark.parametrize("command", [["check"], ["open", "--run", "pilot"]])
def test_neither_a_file_nor_a_stored_study(candor: Candor, tmp_path: Path, command: list[str]) -> None:
    done = candor("study", *command, "nofile.yaml", "--data", tmp_path)
    assert_refused(done, "There is neither a file nofile.yaml nor a stored study of that name", "study list")
    assert "Errno" not in done.output


def test_a_study_that_tests_no_worker_is_noted_and_not_refused(candor: Candor, tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    text = DEMO.read_text(encoding="utf-8")
    assert text.count("qc_per_assignment: 1") == 1
    study.write_text(text.replace("qc_per_assignment: 1", "qc_per_assignment: 0"), encoding="utf-8")
    for command in (["check", study], ["open", study, "--run", "pilot", "--despite-failing-bots"]):
        done = candor("study", *command, "--data", tmp_path)
        assert done.exit_code == 0, done.output
        assert "Note: No worker can be tested" in done.output
    assert "No worker" not in candor("study", "check", DEMO, "--data", tmp_path).output
