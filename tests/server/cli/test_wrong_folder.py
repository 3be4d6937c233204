"""Commands where there is no installation, or one whose key is lost: they begin nothing by themselves."""

import shutil
from pathlib import Path

import pytest

from server.access.auth import key_file, token_file
from server.bots.opened_bots import OpenedBots
from server.cli.serve import prepare
from server.config import Settings
from server.errors import CandorError
from server.study import DEMO
from tests.server.support.commands import Candor, assert_refused

READING: dict[str, list[str]] = {
    "run list": [],
    "run pause": ["demo"],
    "run rules": ["demo"],
    "run replicate": ["demo"],
    "data export": ["--run", "demo"],
    "people add": ["ann@example.org"],
    "people list": [],
    "people link": ["ann"],
    "token new": ["--name", "gpu"],
    "token list": [],
    "token revoke": ["gpu"],
    "study list": [],
    "study show": ["demo"],
    "study copy": ["demo", "other"],
    "run close": ["demo"],
    "worker show": ["ann"],
    "worker forget": ["ann", "--yes"],
    "data audit": [],
    "recruit credits": ["demo"],
    "recruit show": ["demo"],
    "demo transcripts": [],
}
BEGINNING: dict[str, list[str | Path]] = {
    "study new": ["pilot", "--demo"],
    "study open": [DEMO, "--run", "pilot"],
}


@pytest.mark.parametrize("command", READING)
def test_what_no_installation_begins_with_makes_none(candor: Candor, tmp_path: Path, command: str) -> None:
    wrong = tmp_path / "wrong"
    done = candor(*command.split(), *READING[command], "--data", wrong)
    assert_refused(
        done, f"There is no {wrong / 'candor.db'}", "Name the data folder of the installation with --data"
    )
    assert not wrong.exists()


def test_links_make_no_installation_either(candor: Candor, tmp_path: Path) -> None:
    workers, wrong = tmp_path / "workers.txt", tmp_path / "wrong"
    workers.write_text("ann\n")
    assert_refused(candor("recruit", "links", "demo", "--workers", workers, "--data", wrong), "There is no")
    assert not wrong.exists()


@pytest.mark.parametrize("command", BEGINNING)
def test_what_an_installation_begins_with_makes_one(candor: Candor, tmp_path: Path, command: str) -> None:
    done = candor(*command.split(), *BEGINNING[command], "--data", tmp_path / "new")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "new" / "candor.db").exists()
    assert f"A new installation was begun: {tmp_path / 'new' / 'candor.db'}\n" in done.stderr
    again = candor("study", "new", "another", "--demo", "--data", tmp_path / "new")
    assert again.exit_code == 0, again.output
    assert "installation" not in again.stderr


@pytest.fixture
def restored(migrated: Path, tmp_path: Path) -> Path:
    """An installation that was served, in a folder to which its key was not brought."""
    begun, folder = tmp_path / "begun", tmp_path / "restored"
    begun.mkdir()
    shutil.copy(migrated, begun)
    prepare(Settings(data=begun), OpenedBots(refuse_private=False))
    assert key_file(begun).exists()
    folder.mkdir()
    for name in ("candor.db", "secrets.json"):
        shutil.copy(begun / name, folder)
    return folder


@pytest.mark.parametrize(
    "command", ["worker show ann", "run rules demo", "export --run demo --worker-ids --out ids.csv"]
)
def test_no_key_is_made_in_the_place_of_a_lost_one(candor: Candor, restored: Path, command: str) -> None:
    done = candor(*command.split(), "--data", restored)
    assert_refused(done, f"There is no {key_file(restored)}", "Put worker-ids.key back")
    assert not key_file(restored).exists()


def test_a_server_says_that_its_key_is_lost_and_makes_none(restored: Path) -> None:
    with pytest.raises(CandorError, match=r"There is no .*worker-ids\.key"):
        prepare(Settings(data=restored), OpenedBots(refuse_private=False))
    assert not key_file(restored).exists()


def test_links_are_signed_without_the_key(candor: Candor, restored: Path, tmp_path: Path) -> None:
    workers = tmp_path / "workers.txt"
    workers.write_text("ann\n")
    done = candor("recruit", "links", "demo", "--workers", workers, "--data", restored)
    assert done.exit_code == 0, done.output
    assert not key_file(restored).exists()


@pytest.mark.parametrize("command", ["links demo --workers workers.txt", "export --run demo --worker-ids"])
def test_no_secrets_are_made_in_the_place_of_lost_ones(
    candor: Candor, restored: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(restored)
    token_file(restored).unlink()
    Path("workers.txt").write_text("ann\n")
    done = candor(*command.split(), "--data", restored)
    assert_refused(
        done, f"There is no {token_file(restored)}", "Put the file back", "candor data new-secrets"
    )
    assert not token_file(restored).exists()


def test_a_server_says_that_its_secrets_are_lost_and_makes_none(restored: Path) -> None:
    kept = token_file(restored).read_text()
    token_file(restored).unlink()
    settings = Settings(data=restored, worker_id_key="k" * 32)
    with pytest.raises(CandorError, match=r"There is no .*secrets\.json") as refused:
        prepare(settings, OpenedBots(refuse_private=False))
    assert "completion codes" in refused.value.message
    assert not token_file(restored).exists()
    # Whoever accepts the loss makes new ones. Here the old ones come back.
    token_file(restored).write_text(kept)
    begun = Settings(data=restored.parent / "begun")
    shutil.copy(key_file(begun.data), restored)
    assert prepare(Settings(data=restored), OpenedBots(refuse_private=False))
