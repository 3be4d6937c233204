"""Fixtures that tests of commands share: an installation to call them on."""

import shutil
from pathlib import Path

import pytest

from server.study import DEMO
from tests.server.support.commands import Candor


@pytest.fixture
def folder(migrated: Path, tmp_path: Path) -> Path:
    """A data folder with an empty database. To make one anew takes as long as two short tests."""
    made = tmp_path / "data"
    made.mkdir()
    shutil.copy(migrated, made)
    return made


@pytest.fixture
def data(candor: Candor, folder: Path) -> Path:
    """The data folder of a server with the run `pilot` of the demo study, to which nobody has come."""
    done = candor("study", "open", DEMO, "--run", "pilot", "--data", folder, "--despite-failing-bots")
    assert done.exit_code == 0, done.output
    return folder
