"""Processes that need not load the server first: commands of `candor`, and functions that run at once.

Each process is forked from one that has loaded the server, the crowd and the bot host, has learned from the
shipped corpus, and was never used. It takes tenths of a second to start where a new interpreter takes
seconds. What it does, and how it is killed, is the same.
"""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import TypeVar

from server.cli.command_line import main
from tests.support.waiting import ENOUGH

Argument = TypeVar("Argument")
Returned = TypeVar("Returned")

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    [
        "tests.support.warm_process",
        "server.cli.serve",
        "server.cli.runs.study",
        "bots.crowd.__main__",
        "bots.host.__main__",
        "tests.support.warm_start",
    ]
)


class WarmProcess:
    """One command, running: as much of `subprocess.Popen` as tests of servers need."""

    def __init__(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        log: Path,
        folder: Path | None = None,
    ) -> None:
        """Start `candor` with `arguments`, in `folder` if there is one; what it says is added to `log`."""
        self._log = log
        self._process = _CONTEXT.Process(
            target=_run, args=(list(arguments), dict(environment), log, folder), daemon=True
        )
        self._process.start()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def poll(self) -> int | None:
        """Return how it ended, as `Popen` says it; None: it runs."""
        return self._process.exitcode

    @property
    def returncode(self) -> int | None:
        """How it ended, as `Popen` says it."""
        return self.poll()

    def communicate(self, timeout: float | None = None) -> tuple[str, None]:
        """Wait for its end; return its output, errors included, and None, as `Popen` does."""
        self.wait(timeout)
        return self._log.read_text(), None

    def wait(self, seconds: float | None = None) -> int:
        """Return how it ended, as soon as it has."""
        self._process.join(seconds)
        code = self._process.exitcode
        assert code is not None, f"the process {self.pid} has not ended"
        return code

    def send_signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


def at_once(
    work: Callable[[Argument, Callable[[], object]], Returned], arguments: Sequence[Argument]
) -> list[Returned]:
    """Return what `work` returns for each of `arguments`, each in a process of its own.

    The second argument of `work` returns when all of the processes have called it.
    """
    barrier = _CONTEXT.Barrier(len(arguments))
    with _CONTEXT.Pool(len(arguments), _meet, (barrier,)) as pool:
        return pool.map_async(partial(_work, work), arguments, chunksize=1).get(ENOUGH)


_all: Barrier


def _meet(barrier: Barrier) -> None:
    global _all  # noqa: PLW0603 - a barrier is handed over at the start of a process, and not later
    _all = barrier


def _work(work: Callable[[Argument, Callable[[], object]], Returned], argument: Argument) -> Returned:
    return work(argument, _all.wait)


def _run(arguments: list[str], environment: dict[str, str], log: Path, folder: Path | None) -> None:
    said = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.dup2(said, 1)
    os.dup2(said, 2)
    os.environ.clear()
    os.environ.update(environment)
    if folder is not None:
        os.chdir(folder)
    sys.argv = ["candor", *arguments]
    main()
