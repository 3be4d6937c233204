"""Fixtures that tests of commands share: an installation to call them on."""

from pathlib import Path

import pytest

from server.study import DEMO
from tests.server.support.commands import Candor


@pytest.fixture
def data(candor: Candor, tmp_path: Path) -> Path:
    """The data folder of a server with the run `pilot` of the demo study, to which nobody has come."""
    folder = tmp_path / "data"
    done = candor("study", "open", DEMO, "--run", "pilot", "--data", folder, "--despite-failing-bots")
    assert done.exit_code == 0, done.output
    return folder
