"""Commands as child processes: limited, listened to, and ended in any case."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
import uvloop

from server.jobs.child import ChildCommand, ChildFailed, ChildLimits, reading, run_child
from server.jobs.limited import NICENESS

ROOMY = ChildLimits(megabytes=4096, seconds=60)


@pytest.fixture
def children() -> Callable[[], set[psutil.Process]]:
    """Return a function that finds the children that this process has got since the test began."""
    before = set(psutil.Process().children())
    return lambda: set(psutil.Process().children()) - before


@pytest.fixture
def pretend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], object]:
    """Return a function that writes the module `pretended`, which a child can run."""
    monkeypatch.setenv("PYTHONPATH", f"{Path(__file__).parents[3]}:{tmp_path}")
    return (tmp_path / "pretended.py").write_text


async def lines_of(limits: ChildLimits = ROOMY, *arguments: str) -> list[str]:
    lines: list[str] = []
    await run_child(ChildCommand("pretended", arguments, {"OF_ITS_OWN": "here"}), limits, lines.append)
    return lines


async def test_its_lines_are_heard_and_it_is_nice(pretend: Callable[[str], object]) -> None:
    pretend("import os, sys; print(os.nice(0)); print(os.environ['OF_ITS_OWN'], *sys.argv[1:])")
    assert await lines_of(ROOMY, "; echo", "$HOME") == [
        str(min(os.nice(0) + NICENESS, 19)),
        "here ; echo $HOME",
    ]


async def test_its_last_words_are_the_reason(pretend: Callable[[str], object]) -> None:
    pretend("import sys; print('Error: there is no such run', file=sys.stderr); sys.exit(2)")
    with pytest.raises(ChildFailed, match=r"^there is no such run$"):
        await lines_of()


async def test_it_gets_no_more_memory_than_it_may(pretend: Callable[[str], object]) -> None:
    pretend("x = bytearray(2**30)")
    with pytest.raises(ChildFailed, match="more than 512 MB"):
        await lines_of(ChildLimits(megabytes=512, seconds=60))


async def test_it_gets_no_more_time_than_it_may(pretend: Callable[[str], object]) -> None:
    pretend("import time; time.sleep(600)")
    with pytest.raises(ChildFailed, match="not done within"):
        await lines_of(ChildLimits(megabytes=4096, seconds=1))


async def test_it_is_ended_when_it_is_cancelled(pretend: Callable[[str], object]) -> None:
    pretend("import os, time; print(os.getpid(), flush=True); time.sleep(600)")
    lines: list[str] = []
    heard = asyncio.Event()

    def hear(line: str) -> None:
        lines.append(line)
        heard.set()

    task = asyncio.create_task(run_child(ChildCommand("pretended", (), {}), ROOMY, hear))
    await heard.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(ProcessLookupError):
        os.kill(int(lines[0]), 0)


async def test_it_is_ended_however_often_it_is_cancelled(
    pretend: Callable[[str], object], children: Callable[[], set[psutil.Process]]
) -> None:
    """Who gives a job up cancels it, and so does its beat, which sees that it was given up."""
    pretend("import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True); time.sleep(60)")
    started = asyncio.Event()
    command = ChildCommand("pretended", (), {})
    running = asyncio.ensure_future(run_child(command, ROOMY, lambda _: started.set()))
    await started.wait()
    running.cancel()
    for _ in range(10):
        await asyncio.sleep(0)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert running.cancelled()
    assert children() == set()


def test_it_is_ended_whenever_it_is_cancelled(
    pretend: Callable[[str], object], children: Callable[[], set[psutil.Process]]
) -> None:
    """With the event loop that the server has: none is left behind that was about to be started."""
    pretend("import time; time.sleep(60)")

    async def cancelled_after(turns: int) -> None:
        command = ChildCommand("pretended", (), {})
        running = asyncio.ensure_future(run_child(command, ROOMY, lambda _: None))
        for _ in range(turns):
            await asyncio.sleep(0)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        assert children() == set()

    for turns in range(6):
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(cancelled_after(turns))


def test_a_password_is_in_no_command_line() -> None:
    url, variables = reading("postgresql+psycopg://ann:s%40crt@db/candor")
    assert url == "postgresql+psycopg://ann@db/candor"
    assert variables == {"PGPASSWORD": "s@crt"}
    assert reading("sqlite:////data/candor.db") == ("sqlite:////data/candor.db", {})
