"""Databases that cannot be used: what is wrong, where, and what to do; a password is in none of it."""

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from alembic import command

from server.bots.opened_bots import OpenedBots
from server.cli.installation import require_servable, transaction
from server.cli.serve import prepare
from server.clock import utc_now
from server.config import Settings
from server.db import engine as engine_module
from server.db.engine import alembic_config, migrate
from tests.server.support.commands import Candor, assert_refused
from tests.server.support.database import execute, make_run, query
from tests.server.support.study import RUN
from tests.support.local_process import free_port
from tests.support.postgres import PASSWORD, Postgres
from tests.support.warm_process import at_once

_COMMANDS = {"serve": ["serve"], "study": ["study", "list"]}
BOTH = pytest.mark.databases("sqlite", "postgresql")


@pytest.mark.parametrize("name", ["serve", "study"])
@pytest.mark.parametrize(
    ("url", "reasons"),
    [
        (
            "no url",
            ["no url cannot be opened: that is not a valid URL", "postgresql://USER:PASSWORD@HOST:PORT/NAME"],
        ),
        ("postgresql://ann:sec:ret@x/y@host:port/db", ["postgresql+psycopg://ann:***@host:port/db", "%40"]),
        ("delphi://host/db", ["its driver is missing", "sqlite:///… or postgresql://…"]),
        ("postgresql+psycopg2://ann:secret@host/db", ["its driver is missing", "psycopg2", "pip install"]),
        ("postgresql://ann:secret@no-such-host.invalid/db", ["cannot be opened", "PostgreSQL runs there"]),
    ],
)
def test_a_url_that_leads_nowhere(
    candor: Candor, tmp_path: Path, name: str, url: str, reasons: list[str]
) -> None:
    refused = candor(*_COMMANDS[name], "--data", tmp_path, CANDOR_DATABASE_URL=url)
    assert_refused(refused, *reasons)
    assert not re.search("sec:ret|secret|x/y", refused.output)


def test_a_port_on_which_nothing_listens(candor: Candor, tmp_path: Path) -> None:
    url = f"postgres://ann:secret@127.0.0.1:{free_port()}/db"
    refused = candor("serve", "--data", tmp_path, CANDOR_DATABASE_URL=url)
    assert_refused(refused, "ann:***@127.0.0.1", "refused", "PostgreSQL runs there")
    assert "secret" not in refused.output


@pytest.mark.services
def test_a_wrong_password(candor: Candor, postgres: Postgres, tmp_path: Path) -> None:
    url = f"postgresql://postgres:wrong-one@127.0.0.1:{postgres.port}/postgres"
    refused = candor("serve", "--data", tmp_path, CANDOR_DATABASE_URL=url)
    assert_refused(refused, "password authentication failed", "the user, the password")
    assert "wrong-one" not in refused.output


@pytest.mark.services
def test_a_database_that_is_not_there(candor: Candor, postgres: Postgres, tmp_path: Path) -> None:
    url = postgres.url("nowhere")
    refused = candor("serve", "--data", tmp_path, CANDOR_DATABASE_URL=url)
    assert_refused(refused, 'database "nowhere" does not exist', "the name of the database")
    assert PASSWORD not in refused.output
    assert "p%40ss" not in refused.output


@BOTH
def test_a_database_that_a_later_version_has_made(candor: Candor, url: str, tmp_path: Path) -> None:
    execute(url, "UPDATE alembic_version SET version_num = '9999'")
    refused = candor("serve", "--data", tmp_path, CANDOR_DATABASE_URL=url)
    assert_refused(refused, "later version", "9999", "Install the later version again")
    assert query(url, "SELECT version_num FROM alembic_version") == [("9999",)]


@BOTH
def test_a_database_of_the_first_version_is_brought_up_to_date(
    candor: Candor, url: str, tmp_path: Path
) -> None:
    make_run(url)
    command.downgrade(alembic_config(url), "0001")
    done = candor("study", "list", "--data", tmp_path, CANDOR_DATABASE_URL=url)
    assert done.exit_code == 0, done.output
    assert RUN in done.stdout
    migrate(url)


@pytest.mark.databases("postgresql")
def test_a_database_that_does_not_wait_for_the_disk(candor: Candor, url: str, tmp_path: Path) -> None:
    name = url.rpartition("/")[2]
    execute(url, f"ALTER DATABASE {name} SET synchronous_commit = off")
    refused = candor("serve", "--data", tmp_path, CANDOR_DATABASE_URL=url)
    assert_refused(refused, "synchronous_commit = off", "ALTER DATABASE")


def prepared(settings: Settings, together: Callable[[], object]) -> list[int]:
    together()
    return sorted(prepare(settings, OpenedBots(refuse_private=False)))


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.services)])
def test_many_that_start_at_once_migrate_and_open_the_demo_once(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    def start_together(url: str) -> None:
        machines = [Settings(data=tmp_path, database_url=url)] * 4
        assert at_once(prepared, machines) == [[1]] * 4
        assert query(url, "SELECT slug FROM run") == [("demo",)]

    if kind == "sqlite":
        start_together(f"sqlite:///{tmp_path / 'new.db'}")
        return
    postgres: Postgres = request.getfixturevalue("postgres")
    with postgres.database(migrated=False) as url:
        start_together(url)


@pytest.mark.parametrize(
    ("wrong", "said"), [(timedelta(minutes=-3), "ahead of"), (timedelta(minutes=3), "behind")]
)
@pytest.mark.databases("postgresql")
def test_a_clock_that_is_wrong_is_told(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    wrong: timedelta, said: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(engine_module, "utc_now", lambda: utc_now() + wrong)
    monkeypatch.setenv("COLUMNS", "200")
    with transaction(Settings(data=tmp_path, database_url=url)) as connection:
        require_servable(connection)
    assert f"the database's clock is 180 seconds {said} this machine's" in capsys.readouterr().err
