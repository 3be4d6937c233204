"""`candor data export`: where it cannot write, and what it says of a run that holds nothing."""

import stat
from pathlib import Path

import pytest

from tests.server.support.commands import Candor, assert_refused

FORMATS = pytest.mark.parametrize("form", ["hits_data", "jsonl", "bundle"])


@FORMATS
def test_a_folder_is_called_a_folder(candor: Candor, data: Path, tmp_path: Path, form: str) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    done = candor("data", "export", "--run", "pilot", "--format", form, "--out", folder, "--data", data)
    assert_refused(done, f"{folder} is a folder", "Name a file in it with --out")
    assert list(folder.iterdir()) == []


def test_ids_of_workers_take_no_place_of_a_folder_either(candor: Candor, data: Path, tmp_path: Path) -> None:
    done = candor("data", "export", "--run", "pilot", "--worker-ids", "--out", tmp_path, "--data", data)
    assert_refused(done, f"{tmp_path}: cannot be written: Is a directory")


@pytest.mark.parametrize("form", ["hits_data", "jsonl"])
def test_what_cannot_be_written_is_named_as_it_was_typed(
    candor: Candor, data: Path, tmp_path: Path, form: str
) -> None:
    out = tmp_path / "no folder" / "run.json"
    done = candor("data", "export", "--run", "pilot", "--format", form, "--out", out, "--data", data)
    assert_refused(done, f"{out}: cannot be written: No such file or directory")
    assert ".part" not in done.output


def test_a_run_that_holds_nothing_is_said_to(candor: Candor, data: Path, tmp_path: Path) -> None:
    for form, said in (("hits_data", "No assignment is completed yet"), ("jsonl", "No worker has come yet")):
        out = tmp_path / form
        done = candor("data", "export", "--run", "pilot", "--format", form, "--out", out, "--data", data)
        assert done.exit_code == 0, done.output
        assert f"{said}, so the file contains no assignment." in done.stderr
        assert out.exists()


@pytest.mark.parametrize("form", ["hits_data", "jsonl", "parquet", "csv"])
def test_only_you_can_read_what_is_exported(candor: Candor, data: Path, tmp_path: Path, form: str) -> None:
    out = tmp_path / form
    assert (
        candor("data", "export", "--run", "pilot", "--format", form, "--out", out, "--data", data).exit_code
        == 0
    )
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
