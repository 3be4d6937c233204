"""Files that jobs make have workers' words in them: nobody but the server's user comes to them."""

import stat
from pathlib import Path

import pytest

from server.export.formats import replaced
from server.jobs.background import JobFiles


@pytest.mark.parametrize("mode", [None, 0o755])
def test_the_folder_of_all_jobs_is_the_servers_alone(tmp_path: Path, mode: int | None) -> None:
    folder = tmp_path / "exports"
    if mode is not None:  # as an earlier version made it
        folder.mkdir()
        folder.chmod(mode)
    assert JobFiles(folder).prepared("a-job") == folder / "a-job"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_private_file_is_its_owners_alone_from_the_first_byte(tmp_path: Path) -> None:
    path = tmp_path / "worker_ids.csv"
    (tmp_path / ".worker_ids.csv.part").touch(mode=0o644)  # of a process that was killed
    with replaced(path) as file:
        file.write(b"W0001,ann")
        (unfinished,) = tmp_path.iterdir()
        assert stat.S_IMODE(unfinished.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
