"""A real server process on a port of its own, that can be killed and started again."""

import itertools
import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path

from server.clock import utc_now
from server.db.engine import migrate, open_engine
from server.db.runs.runs import open_run
from server.items import items_of
from server.study import parse_study
from tests.support.local_process import free_port
from tests.support.waiting import ENOUGH
from tests.support.warm_process import WarmProcess

_CROWDS = itertools.count()


class Server:
    """`python -m server` over one data folder.

    Args:
        data: the folder.
        options: further options of `serve`.
        environment: variables besides the test's own.
        interpreter: what runs in place of `python -m server`, which starts warm.
    """

    def __init__(
        self,
        data: Path,
        *options: str,
        environment: Mapping[str, str] | None = None,
        interpreter: Sequence[str] = (),
    ) -> None:
        self.data = data
        self._options = options
        usual = {"CANDOR_EXEMPT_ADDRESSES": '["127.0.0.1"]', "CANDOR_RUNNING_ANALYSIS": "false"}
        self.environment = os.environ | usual | dict(environment or {})
        self._interpreter = interpreter
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.database = f"sqlite:///{data / 'candor.db'}"
        self._process: subprocess.Popen[bytes] | WarmProcess | None = None

    @property
    def token(self) -> str:
        return str(json.loads((self.data / "secrets.json").read_text())["researcher_token"])

    def start(self) -> None:
        command = ["serve", "--port", str(self.port), "--data", str(self.data), *self._options]
        log = self.data / "server.log"
        if self._interpreter:
            with log.open("ab") as said:
                self._process = subprocess.Popen(
                    [*self._interpreter, *command], env=self.environment, stdout=said, stderr=said
                )
        else:
            self._process = WarmProcess(command, self.environment, log)
        deadline = time.monotonic() + ENOUGH
        while not self._answers():
            assert self.process.poll() is None, (self.data / "server.log").read_text()
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.05)

    @property
    def process(self) -> "subprocess.Popen[bytes] | WarmProcess":
        """The process that was started."""
        assert self._process is not None
        return self._process

    def kill(self) -> None:
        """End it as a power cut would: no handler runs."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(ENOUGH)

    def open_run(self, study: Path, run: str, *options: str) -> None:
        log = self.data / "open.log"
        command = ["study", "open", str(study), "--run", run, "--data", str(self.data), *options]
        assert WarmProcess(command, self.environment, log).wait(ENOUGH) == 0, log.read_text()

    def open_unchecked(self, study: Path, run: str) -> None:
        """Open a run as `open_run` does, without the conversations that check the study's bots.

        Those take longer than the opening: that of hosted models as long as the test itself.
        """
        url = self.environment.get("CANDOR_DATABASE_URL", self.database)
        migrate(url)
        engine = open_engine(url, begin="BEGIN IMMEDIATE")
        with engine.begin() as connection:
            text = study.read_text(encoding="utf-8")
            items = items_of(parse_study(text), connection, study.parent)
            open_run(connection, text, run, utc_now(), items)
        engine.dispose()

    def crowd(self, run: str, *options: str) -> WarmProcess:
        """Start a simulated crowd in `run`."""
        command = ["crowd", "--url", f"{self.url}/w/{run}", "--token", self.token, *options]
        return WarmProcess(command, os.environ, self.data / f"crowd-{next(_CROWDS)}.log")

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=30) as answer:  # noqa: S310
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False
