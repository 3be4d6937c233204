"""Becomes another command, with limits: `python -m server.jobs.limited MEGABYTES SECONDS COMMAND …`.

A process of its own sets the limits, because a function that runs between fork and exec is not safe in a
server with threads.
"""

import os
import resource
import sys
from collections.abc import Sequence

NICENESS = 10


def become(megabytes: int, seconds: int, command: Sequence[str]) -> None:
    """Run `command` in place of this process, at low priority.

    Args:
        megabytes: of address space that it may have.
        seconds: of a processor that it may use.
        command: the program's path and its arguments.
    """
    os.nice(NICENESS)
    bytes_ = megabytes * 1_048_576
    resource.setrlimit(resource.RLIMIT_AS, (bytes_, bytes_))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    os.execv(command[0], list(command))  # noqa: S606 - it is no shell, and the command is the server's own


if __name__ == "__main__":
    become(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
