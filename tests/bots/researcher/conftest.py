"""A real Candor server, a real bot beside it, and the two commands as they are typed."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bots.__main__ import cli
from tests.bots.support.app_server import hosting, running
from tests.bots.support.commands import Command
from tests.bots.support.wrong_bots import Person
from tests.server.support.database import make_run
from tests.server.support.server import House


@pytest.fixture
def person() -> Iterator[str]:
    """The address of a bot that is as it should be."""
    with running(hosting(Person())) as url:
        yield url


@pytest.fixture
def house(migrated: Path, tmp_path: Path) -> Iterator[House]:
    """A server with one run, in which no registered bot takes part, that lets two keys be sent to itself."""
    shutil.copy(migrated, tmp_path / "candor.db")
    url = f"sqlite:///{tmp_path / 'candor.db'}"
    keys = {"GPU_API_KEY": ["127.0.0.1"], "NO_SUCH_API_KEY": ["127.0.0.1"]}
    house = House(url, [make_run(url)], tmp_path, {"bot_keys": keys})
    house.start()
    yield house
    house.stop()


def _runner(house: House, *before: str) -> Command:
    environment = {"CANDOR_TOKEN": house.auth.researcher_token, "COLUMNS": "200", "NO_COLOR": "1"}
    where = ["--server", f"http://127.0.0.1:{house.port}"]

    def run(*arguments: object, **more: str | None) -> Result:
        return CliRunner().invoke(cli, [*before, *map(str, arguments), *where], env=environment | more)

    return run


@pytest.fixture
def register(house: House) -> Command:
    """`candor bots`, told where the server is."""
    return _runner(house)


@pytest.fixture
def checking(house: House) -> Command:
    """`candor bots check`, told where the server is."""
    return _runner(house, "check")
