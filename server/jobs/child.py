"""Run one of our commands in a child process, with limits, and always end it."""

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
_KEPT_LINES = 20  # last lines of standard error, for the error message
_POLITE_SECONDS = 5.0


class ChildFailed(Exception):
    """The command failed. The message is the command's own error, if it printed one."""


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """Limits of a child process: address space in megabytes, and seconds, both of CPU and wall-clock time."""

    megabytes: int
    seconds: int


@dataclass(frozen=True, slots=True)
class ChildCommand:
    """A module to run, its arguments, and environment variables in addition to the server's."""

    module: str
    arguments: Sequence[str]
    variables: Mapping[str, str]


def reading(url: str) -> tuple[str, Mapping[str, str]]:
    """Return a database's URL without its password, for a command line, and variables with the password."""
    parsed = make_url(url)
    if parsed.password is None:
        return url, {}
    shown = URL.create(
        parsed.drivername, parsed.username, None, parsed.host, parsed.port, parsed.database, parsed.query
    )
    return shown.render_as_string(hide_password=False), {"PGPASSWORD": parsed.password}


def told_progress(tell: Callable[[str, int, int], None]) -> Callable[[str], None]:
    """Return a function that parses lines of a command with `--progress-lines`, and calls `tell`."""

    def hear(line: str) -> None:
        if line.startswith("{"):
            told: Mapping[str, Any] = json.loads(line)
            tell(told["step"], told["done"], told["total"])

    return hear


async def run_child(command: ChildCommand, limits: ChildLimits, on_line: Callable[[str], None]) -> None:
    """Run a command to its end, and pass each line of its output to `on_line`.

    Cancelling this call ends the command.

    Raises:
        ChildFailed: the command cannot be started, exceeded a limit, or exited with a status other than 0.
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
        # Users of the server should not see the database's location, which precedes the message.
        raise ChildFailed(reason.removeprefix(f"{command.arguments[0]}: ") if command.arguments else reason)


async def _started(arguments: Sequence[str], command: ChildCommand) -> asyncio.subprocess.Process:
    """Start a child process; end it if this is cancelled. Raises ChildFailed if it cannot be started."""
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
    """Wait until `work` is done, even if this is cancelled meanwhile. The caller raises afterwards."""
    while not work.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait([work])


async def _read(stream: asyncio.StreamReader | None, on_line: Callable[[str], None]) -> None:
    if stream is None:
        raise AssertionError("the child has pipes")
    async for line in stream:
        on_line(line.decode(errors="replace").rstrip("\n"))


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the child process if it is still running: first with SIGTERM, then with SIGKILL."""
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


def _reason(status: int, complaint: Sequence[str], limits: ChildLimits) -> str:
    said = [line for line in complaint if line.strip()]
    if said and "MemoryError" in said[-1]:
        return f"it needed more than {limits.megabytes} MB of memory: raise CANDOR_JOB_MEGABYTES"
    if said:
        return said[-1].removeprefix("Error: ")
    return f"it ended with status {status}"
