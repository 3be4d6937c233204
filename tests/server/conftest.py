"""Databases and servers for the tests, each test its own."""

import itertools
import logging
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from typer.testing import CliRunner, Result

from candor.common.terminal import console, stderr
from server.bots.lineup import OpenRun
from server.bots.opened_bots import OpenedBots
from server.cli import command_line
from server.cli import serve as serve_command
from server.db.store import Store
from server.process import server as process_server
from tests.server.support.database import audit, make_run
from tests.server.support.server import House
from tests.support.local_process import free_port
from tests.support.postgres import Postgres

_NUMBERS = itertools.count()
SOAK = bool(os.environ.get("CANDOR_SOAK"))  # `make soak`


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """A store over the database, started."""
    opened = Store(url)
    opened.start()
    yield opened
    opened.stop()


@pytest.fixture
def log_as_before() -> Iterator[None]:
    """Have the log as it was, after a test that configures it."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test once for each of the databases that its marker `databases` names.

    Those of `in_soak` are for tests that no database decides: they run there in `make soak`.
    """
    marker = metafunc.definition.get_closest_marker("databases")
    if marker is not None and "backend" in metafunc.fixturenames:
        marks = {"postgresql": [pytest.mark.services]}
        names = [*marker.args, *(marker.kwargs.get("in_soak", ()) if SOAK else ())]
        metafunc.parametrize("backend", [pytest.param(name, marks=marks.get(name, [])) for name in names])


@pytest.fixture
def backend() -> str:
    """The kind of database that the test has: SQLite, unless its marker `databases` says otherwise."""
    return "sqlite"


@pytest.fixture
def url(backend: str, migrated: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """A migrated, empty database."""
    if backend == "postgresql":
        postgres: Postgres = request.getfixturevalue("postgres")
        with postgres.database() as made:
            yield made
        return
    path = tmp_path / "candor.db"
    shutil.copy(migrated, path)
    yield f"sqlite:///{path}"


@pytest.fixture
def run(url: str) -> OpenRun:
    """A run of the small study, every bot an Echo."""
    return make_run(url)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., House]]:
    """Return a function that starts a server over runs of one database."""
    houses: list[House] = []

    def start(url: str, *runs: OpenRun, opened_bots: OpenedBots | None = None, **settings: Any) -> House:
        house = House(url, list(runs), tmp_path, settings)
        house.opened_bots = opened_bots or house.opened_bots
        house.start()
        houses.append(house)
        return house

    yield start
    for house in houses:
        house.stop()
        assert audit(house.url) == []


@pytest.fixture
def house(url: str, run: OpenRun, serve: Callable[..., House]) -> House:
    """A server over one run of the small study, every bot an Echo."""
    return serve(url, run)


@pytest.fixture(scope="session")
def shared(migrated: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A server for tests that need no database of their own. Each brings `someone` of its own."""
    folder = tmp_path_factory.mktemp("shared")
    shutil.copy(migrated, folder / "candor.db")
    url = f"sqlite:///{folder / 'candor.db'}"
    house = House(url, [make_run(url)], folder)
    house.start()
    yield house
    house.stop()


@pytest.fixture(scope="session")
def shared_publicly(
    migrated: Path, tmp_path_factory: pytest.TempPathFactory, shared: House
) -> Iterator[House]:
    """Like `shared`, but served as where our connections do not fit the installed uvicorn."""
    folder = tmp_path_factory.mktemp("shared-publicly")
    shutil.copy(migrated, folder / "candor.db")
    url = f"sqlite:///{folder / 'candor.db'}"
    house = House(url, [make_run(url)], folder)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(process_server, "misfit", "a test says so")
        house.start()
    yield house
    house.stop()


@pytest.fixture(params=["shared", "shared_publicly"], ids=["own connections", "public path"])
def either(request: pytest.FixtureRequest) -> House:
    """Return a server with connections of our own, and then one with those of uvicorn."""
    house: House = request.getfixturevalue(request.param)
    return house


@pytest.fixture
def someone() -> str:
    """A worker whom no other test knows."""
    return f"visitor-{next(_NUMBERS)}"


@pytest.fixture
def candor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Return a function that runs a command in this process, with pages as if they were built."""
    pages = tmp_path / "pages"
    pages.mkdir(exist_ok=True)  # a server of the same test has made it
    (pages / "worker.html").write_text("<!doctype html>")
    monkeypatch.setattr(serve_command, "PAGES", pages)
    monkeypatch.setenv("COLUMNS", "200")
    for each in (console, stderr):
        monkeypatch.setattr(each, "_width", None)  # a worker of xdist has COLUMNS, kept when they were made
    monkeypatch.setenv("CANDOR_PORT", str(free_port()))

    def run(*arguments: str | Path, **environment: str) -> Result:
        return CliRunner().invoke(command_line.cli, [str(a) for a in arguments], env=environment)

    return run
