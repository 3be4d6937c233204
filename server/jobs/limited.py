"""Run another command with limits: `python -m server.jobs.limited MEGABYTES SECONDS COMMAND …`.

A separate process sets the limits, because code between fork and exec is not safe in a server with threads.
"""

import os
import resource
import sys
from collections.abc import Sequence

NICENESS = 10


def become(megabytes: int, seconds: int, command: Sequence[str]) -> None:
    """Replace this process by `command`, at low priority.

    Args:
        megabytes: its limit of address space.
        seconds: its limit of CPU time.
        command: the program's path and its arguments.
    """
    os.nice(NICENESS)
    bytes_ = megabytes * 1_048_576
    resource.setrlimit(resource.RLIMIT_AS, (bytes_, bytes_))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    os.execv(command[0], list(command))  # noqa: S606 - it is no shell, and the command is the server's own


if __name__ == "__main__":
    become(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
