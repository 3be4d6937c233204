"""Secrets in the place of those that a database was used with: refused, until somebody wants new ones."""

import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from server.access.auth import key_file, load_auth, make_secrets, token_file
from server.bots.opened_bots import OpenedBots
from server.cli.serve import open_runs, prepare
from server.config import Settings
from server.errors import CandorError, DatabaseUnfit
from tests.server.support.commands import Candor, assert_refused
from tests.server.support.database import execute, query
from tests.support.warm_process import at_once

OTHER_SECRET = "contains another secret than the one that this database was used with"


@pytest.fixture
def served(url: str, tmp_path: Path) -> Settings:
    """The settings of an installation that was served once."""
    settings = Settings(data=tmp_path / "data", database_url=url)
    prepare(settings, OpenedBots(refuse_private=False))
    return settings


def start(settings: Settings) -> None:
    prepare(settings, OpenedBots(refuse_private=False))


def outcome(settings: Settings) -> str:
    """Start a server; return what it says if it cannot serve."""
    try:
        start(settings)
    except CandorError as error:
        return error.message
    return "serves"


def outcome_together(settings: Settings, together: Callable[[], object]) -> str:
    together()
    return outcome(settings)


def exchange(settings: Settings, *, token_only: bool = False) -> None:
    """Put other secrets in the place of the right ones."""
    path = token_file(settings.data)
    kept = json.loads(path.read_text())
    others = {"researcher_token": "another"} | ({} if token_only else {"secret": "another"})
    path.write_text(json.dumps(kept | others))


@pytest.mark.databases("sqlite", in_soak=["postgresql"])
def test_other_secrets_in_the_place_of_the_right_ones_are_refused(served: Settings, candor: Candor) -> None:
    right = token_file(served.data).read_text()
    exchange(served)
    with pytest.raises(DatabaseUnfit, match=OTHER_SECRET) as refused:
        start(served)
    assert str(token_file(served.data)) in refused.value.message
    assert "candor data new-secrets" in refused.value.hint
    # So does a process that the supervisor starts in the place of another, long after the first start.
    with pytest.raises(DatabaseUnfit, match=OTHER_SECRET):
        open_runs(served, OpenedBots(refuse_private=False))
    assert_refused(
        candor("data", "audit", "--data", served.data, CANDOR_DATABASE_URL=served.database_url or ""),
        OTHER_SECRET,
    )
    token_file(served.data).write_text(right)
    start(served)


@pytest.mark.databases("sqlite", "postgresql")
def test_an_installation_of_before_takes_its_secrets_for_the_right_ones_once(served: Settings) -> None:
    execute(str(served.database_url), "DELETE FROM secret_mark WHERE purpose = 'signing'")
    exchange(served)
    start(served)
    exchange(served, token_only=True)  # the installation's own token may change: nothing is made from it
    start(served)
    token_file(served.data).write_text('{"secret": "again another", "researcher_token": "t"}')
    with pytest.raises(DatabaseUnfit, match=OTHER_SECRET):
        start(served)


@pytest.mark.databases("sqlite", in_soak=["postgresql"])
def test_no_mark_tells_a_secret(served: Settings) -> None:
    auth = load_auth(served.data, 7)
    marks = dict(query(str(served.database_url), "SELECT purpose, mark FROM secret_mark"))
    assert marks == {"signing": auth.mark, "worker_ids": auth.ids.marks[0]}
    assert not any(secret in str(marks) for secret in auth.secrets)


@pytest.mark.databases("postgresql")
def test_of_machines_with_secrets_of_their_own_one_begins_a_database(url: str, tmp_path: Path) -> None:
    machines = [Settings(data=tmp_path / str(n), database_url=url, worker_id_key="k" * 32) for n in range(4)]
    for machine in machines:
        make_secrets(machine.data)

    outcomes = at_once(outcome_together, machines)
    assert outcomes.count("serves") == 1
    assert sum(OTHER_SECRET in said for said in outcomes) == 3
    # With the same file each of them serves.
    first = machines[outcomes.index("serves")]
    for machine in machines:
        if machine is not first:
            shutil.copy(token_file(first.data), machine.data)
        assert outcome(machine) == "serves"


@pytest.mark.databases("sqlite", in_soak=["postgresql"])
def test_new_secrets_are_made_on_purpose_only(served: Settings, candor: Candor) -> None:
    url, path = str(served.database_url), token_file(served.data)
    command = ("data", "new-secrets", "--data", served.data)
    assert_refused(candor(*command, CANDOR_DATABASE_URL=url), f"{path} exists", "move it away")
    before = json.loads(path.read_text())["secret"]
    path.unlink()
    done = candor(*command, CANDOR_DATABASE_URL=url)
    assert done.exit_code == 0, done.output
    assert json.loads(path.read_text())["secret"] != before
    assert query(url, "SELECT kind, action FROM audit_entry ORDER BY id DESC LIMIT 1") == [
        ("command", "secrets.replace")
    ]
    start(served)
    assert candor("data", "audit", "--data", served.data, CANDOR_DATABASE_URL=url).exit_code == 0


def test_no_backup_is_made_or_restored_with_other_secrets(tmp_path: Path, candor: Candor) -> None:
    served = Settings(data=tmp_path / "data")
    start(served)
    file, mixed = tmp_path / "right.tar", tmp_path / "mixed.tar"
    assert candor("data", "backup", file, "--data", served.data).exit_code == 0
    exchange(served)
    assert_refused(candor("data", "backup", tmp_path / "wrong.tar", "--data", served.data), OTHER_SECRET)
    assert not (tmp_path / "wrong.tar").exists()
    with tarfile.open(file) as tar:
        tar.extract("candor.db", tmp_path, filter="data")
    with tarfile.open(mixed, "w") as tar:
        tar.add(tmp_path / "candor.db", "candor.db")
        tar.add(token_file(served.data), "secrets.json")
    refused = candor("data", "restore", mixed, "--data", tmp_path / "new")
    assert_refused(refused, f"secrets.json {OTHER_SECRET}", "Nothing was restored")
    assert list((tmp_path / "new").iterdir()) == []
    assert candor("data", "restore", file, "--data", tmp_path / "new").exit_code == 0
    shutil.copy(key_file(served.data), tmp_path / "new")
    start(Settings(data=tmp_path / "new"))


@pytest.mark.databases("sqlite", "postgresql")
def test_another_key_of_workers_ids_is_refused_by_whatever_reads_the_database(
    served: Settings, candor: Candor
) -> None:
    other = served.model_copy(update={"worker_id_key": "k" * 32})
    for opens in (prepare, open_runs):
        with pytest.raises(DatabaseUnfit, match="under another key"):
            opens(other, OpenedBots(refuse_private=False))
    given = {"CANDOR_DATABASE_URL": str(served.database_url), "CANDOR_WORKER_ID_KEY": "k" * 32}
    assert_refused(candor("data", "audit", "--data", served.data, **given), "under another key")
