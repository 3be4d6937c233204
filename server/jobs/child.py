"""A command of ours as a child process: started with limits, listened to, and ended in any case."""

import asyncio
import json
import os
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy import URL, make_url

_LONGEST_LINE = 32 * 1_048_576  # the analysis of a run with many workers is one line
_KEPT_LINES = 20  # of what it says of its failure
_POLITE_SECONDS = 5.0


class ChildFailed(Exception):
    """The command did not come to a good end. The message says why, in its own words where it has any."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a child may use: address space in megabytes, and seconds, both of a processor and of the clock."""

    megabytes: int
    seconds: int


@dataclass(frozen=True, slots=True)
class Command:
    """A module that is run, its arguments, and variables besides the server's own."""

    module: str
    arguments: Sequence[str]
    variables: Mapping[str, str]


def reading(url: str) -> tuple[str, Mapping[str, str]]:
    """Return a database's URL as a command line may show it, and the variables that hold its password."""
    parsed = make_url(url)
    if parsed.password is None:
        return url, {}
    shown = URL.create(
        parsed.drivername, parsed.username, None, parsed.host, parsed.port, parsed.database, parsed.query
    )
    return shown.render_as_string(hide_password=False), {"PGPASSWORD": parsed.password}


def told_progress(tell: Callable[[str, int, int], None]) -> Callable[[str], None]:
    """Return what hears the lines of a command that was given `--progress-lines`, and passes on its steps."""

    def hear(line: str) -> None:
        if line.startswith("{"):
            told: Mapping[str, Any] = json.loads(line)
            tell(told["step"], told["done"], told["total"])

    return hear


async def run_child(command: Command, limits: Limits, on_line: Callable[[str], None]) -> None:
    """Run a command to its end, and give each line of its output to `on_line`.

    It is ended when this is cancelled.

    Raises:
        ChildFailed: it cannot be started, used more than it may, or ended with another status than 0.
    """
    program = [sys.executable, "-m", command.module, *command.arguments]
    limited = ["-m", "server.jobs.limited", str(limits.megabytes), str(limits.seconds), *program]
    process = await _started(limited, command)
    complaint: deque[str] = deque(maxlen=_KEPT_LINES)
    try:
        async with asyncio.timeout(limits.seconds):
            await asyncio.gather(_read(process.stdout, on_line), _read(process.stderr, complaint.append))
            status = await process.wait()
    except TimeoutError as error:
        raise ChildFailed(f"it was not done within {limits.seconds / 60:g} minutes, and was ended") from error
    finally:
        await _to_its_end(asyncio.ensure_future(_end(process)))
    if status != 0:
        reason = _reason(status, complaint, limits)
        # Which database it read is no news to whoever uses the server, and where it lies is not for them.
        raise ChildFailed(reason.removeprefix(f"{command.arguments[0]}: ") if command.arguments else reason)


async def _started(arguments: Sequence[str], command: Command) -> asyncio.subprocess.Process:
    """Start a child; where this is cancelled meanwhile, end it. Raises ChildFailed: it cannot be started."""
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            sys.executable,
            *arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=os.environ | dict(command.variables),
            limit=_LONGEST_LINE,
        )
    )
    try:
        return await asyncio.shield(starting)
    except OSError as error:
        raise ChildFailed(f"{command.module} cannot be started: {error.strerror}") from error
    except asyncio.CancelledError:
        await _to_its_end(starting)
        if not starting.exception():
            await _to_its_end(asyncio.ensure_future(_end(starting.result())))
        raise


async def _to_its_end(work: "asyncio.Future[Any]") -> None:
    """Wait until it is done, however often this is cancelled: the next thing to do is to raise."""
    while not work.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait([work])


async def _read(stream: asyncio.StreamReader | None, on_line: Callable[[str], None]) -> None:
    if stream is None:
        raise AssertionError("the child has pipes")
    async for line in stream:
        on_line(line.decode(errors="replace").rstrip("\n"))


async def _end(process: asyncio.subprocess.Process) -> None:
    """Have the child end, if it has not: politely first."""
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):
        process.terminate()
    with suppress(TimeoutError):
        async with asyncio.timeout(_POLITE_SECONDS):
            await process.wait()
            return
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()


def _reason(status: int, complaint: Sequence[str], limits: Limits) -> str:
    said = [line for line in complaint if line.strip()]
    if said and "MemoryError" in said[-1]:
        return f"it needed more than {limits.megabytes} MB of memory: raise CANDOR_JOB_MEGABYTES"
    if said:
        return said[-1].removeprefix("Error: ")
    return f"it ended with status {status}"
