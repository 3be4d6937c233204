"""`make run-lineup` for real: five trained models and the qc bot, whole assignments over WebSocket."""

import json
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from bots.host.parlai import ParlaiModel
from bots.parlai.training import LINEUP
from tests.lineup.stored import Conversation, assert_said_by, assert_whole, conversations
from tests.parlai.support.tiny_lineup import EPOCHS
from tests.support.local_process import free_port
from tests.support.waiting import ENOUGH

REPOSITORY = Path(__file__).parents[2]
NAMES = [architecture.name for architecture in LINEUP]
WORKERS = 1


@dataclass
class Running:
    """The command under way: its process, where its server and its bot host are, what it printed so far."""

    process: subprocess.Popen[bytes]
    url: str
    ports: tuple[int, int]
    log: Path

    def stop(self) -> int:
        """End it as Ctrl-C does; return its exit status."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(ENOUGH)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def run_lineup(folder: Path, corpus: Path, bot_port: int, log: Path) -> Iterator[Running]:
    """Run the command on models in `folder` until its server is ready."""
    port = free_port()
    command = [sys.executable, "scripts/run_lineup.py", "--models", str(folder), "--corpus", str(corpus)]
    command += ["--epochs", EPOCHS, "--port", str(port), "--bot-port", str(bot_port)]
    command += ["--despite-failing-bots"]  # with twenty dialogues, replies of lan_model break off
    with log.open("wb") as out:
        process = subprocess.Popen(command, cwd=REPOSITORY, stdout=out, stderr=subprocess.STDOUT)
    running = Running(process, f"http://127.0.0.1:{port}", (port, bot_port), log)
    try:
        while "Candor is ready" not in log.read_text():
            assert process.poll() is None, log.read_text()
            time.sleep(0.1)
        yield running
    finally:
        if process.poll() is None:
            running.stop()


@pytest.fixture(scope="module")
def folder(models: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the trained line-up, whose study file the command may write anew."""
    return Path(shutil.copytree(models, tmp_path_factory.mktemp("run") / "models"))


@pytest.fixture(scope="module")
def bot_port() -> int:
    """One port for every start: it is in the study, and a run is of one study."""
    return free_port()


@pytest.fixture(scope="module")
def found(
    folder: Path, corpus_file: Path, bot_port: int, tmp_path_factory: pytest.TempPathFactory
) -> list[Conversation]:
    """What is stored once a worker went all the way and the command was ended."""
    log = tmp_path_factory.mktemp("first") / "log"
    with run_lineup(folder, corpus_file, bot_port, log) as running:
        token = json.loads((folder / "data" / "secrets.json").read_text())["researcher_token"]
        assert token not in log.read_text()
        crowd = [sys.executable, "-m", "bots.crowd", "--url", f"{running.url}/w/lineup", "--token", token]
        subprocess.run([*crowd, "--workers", str(WORKERS)], cwd=REPOSITORY, check=True, timeout=ENOUGH)
        assert running.stop() == 130
        assert not any(_listens(port) for port in running.ports)
    return conversations(folder / "data" / "candor.db", "lineup")


@pytest.mark.soak  # test_lineup trains the five; test_hf_assignments goes all the way with hosted models
def test_every_assignment_is_whole(found: list[Conversation], folder: Path) -> None:
    study = yaml.safe_load((folder / "lineup.yaml").read_text())
    criteria = {each["label"] for each in study["criteria"]}
    assert_whole(found, assignments=WORKERS, families=set(NAMES), inputs=10, criteria=criteria)
    assert {bool(each.persona) for each in found if each.system.endswith("_p")} <= {True}
    assert not any(each.persona for each in found if each.system in NAMES)


@pytest.mark.soak
def test_what_workers_were_shown_is_what_the_models_say(found: list[Conversation], folder: Path) -> None:
    assert_said_by(found, {name: ParlaiModel(str(folder / name / "model")).replies for name in NAMES})


@pytest.mark.soak  # that nothing is trained again, and that a run is opened twice, have tests of their own
def test_started_again_it_trains_nothing_and_goes_on_with_the_same_run(
    found: list[Conversation], folder: Path, corpus_file: Path, bot_port: int, tmp_path: Path
) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.glob("*/model")}
    assert len(before) == len(NAMES)
    with run_lineup(folder, corpus_file, bot_port, tmp_path / "log") as running:
        assert f"{running.url}/w/lineup" in running.log.read_text()
    assert {path: path.stat().st_mtime_ns for path in folder.glob("*/model")} == before
    assert conversations(folder / "data" / "candor.db", "lineup") == found


def test_without_its_bots_nothing_is_opened(folder: Path, corpus_file: Path, tmp_path: Path) -> None:
    """The bot host's port is taken, so that it ends at once, and the command with it."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [sys.executable, "scripts/run_lineup.py", "--corpus", str(corpus_file), "--epochs", EPOCHS]
        command += ["--models", str(shutil.copytree(folder, tmp_path / "models")), "--bot-port", str(port)]
        shutil.rmtree(tmp_path / "models" / "data", ignore_errors=True)
        done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"cannot listen on 127.0.0.1:{port}" in done.stderr
    assert not (tmp_path / "models" / "data").exists()
