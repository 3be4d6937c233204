"""A real Candor server, a real bot beside it, and the two commands as they are typed."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
from fastapi import FastAPI, HTTPException, Request
from typer.testing import CliRunner, Result

from bots import Bot, BotError, Chat, Turn
from bots.__main__ import cli
from server.db.engine import migrate
from tests.bots.conformance.wrong import Person
from tests.bots.endpoints.test_http import running
from tests.server.support.database import make_run
from tests.server.support.server import House

Command = Callable[..., Result]


def hosting(bot: Bot) -> FastAPI:
    """Return a server that has `bot` answer, as anybody may write it."""
    app = FastAPI()

    @app.post("/reply")
    async def reply(request: Request) -> dict[str, str]:
        body = await request.json()
        turns = tuple(Turn(**turn) for turn in body["turns"])
        chat = Chat(body["conversation_id"], body["seed"], tuple(body["persona"]), turns)
        try:
            return asdict(await bot.reply(chat))
        except BotError as error:
            raise HTTPException(500, str(error)) from error

    return app


@pytest.fixture
def person() -> Iterator[str]:
    """The address of a bot that is as it should be."""
    with running(hosting(Person())) as url:
        yield url


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database that was migrated once, to be copied."""
    path = tmp_path_factory.mktemp("migrated") / "candor.db"
    migrate(f"sqlite:///{path}")
    return path


@pytest.fixture
def house(migrated: Path, tmp_path: Path) -> Iterator[House]:
    """A server with one run, in which no registered bot takes part."""
    shutil.copy(migrated, tmp_path / "candor.db")
    url = f"sqlite:///{tmp_path / 'candor.db'}"
    house = House(url, [make_run(url)], tmp_path)
    house.start()
    yield house
    house.stop()


def _runner(house: House, *before: str) -> Command:
    environment = {"CANDOR_TOKEN": house.auth.researcher_token, "COLUMNS": "200", "NO_COLOR": "1"}
    where = ["--server", f"http://127.0.0.1:{house.port}"]

    def run(*arguments: object, answer: str | None = None, **more: str | None) -> Result:
        return CliRunner().invoke(
            cli, [*before, *map(str, arguments), *where], input=answer, env=environment | more
        )

    return run


@pytest.fixture
def register(house: House) -> Command:
    """`candor bots`, told where the server is."""
    return _runner(house)


@pytest.fixture
def checking(house: House) -> Command:
    """`candor bots check`, told where the server is."""
    return _runner(house, "check")


def good(result: Result) -> str:
    """Return what a command that did its work has printed, its blanks made single ones."""
    assert result.exit_code == 0, result.output
    return " ".join(result.stdout.split())


def refused(result: Result, *told: str) -> str:
    """Return what a command that did not do its work has complained of."""
    assert result.exit_code == 2, result.output
    complaint = " ".join(result.stderr.split())
    assert complaint.startswith("Error:")
    assert "Traceback" not in result.output
    for words in told:
        assert words in complaint, complaint
    return complaint


def process(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of Python as a process of its own."""
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120, check=False)
