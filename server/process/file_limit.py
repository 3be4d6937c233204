"""Raise the limit of open files as far as allowed, and watch it."""

import os
import resource

import structlog

_NEAR, _CALM = 0.8, 0.7  # shares of the limit: above the first, warn; below the second, allow another warning
log = structlog.get_logger()


def raise_file_limit() -> int:
    """Raise the limit of open files to the system's maximum for this process, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (ValueError, OSError):  # some systems report a limit that they do not grant
        return soft
    return hard


class FileWatch:
    """Logs a warning when the number of open files gets near the limit, once until it has fallen again.

    Args:
        limit: the highest number of open files.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._warned = False

    def look(self, connections: int) -> None:
        """Log a warning if the limit is near or reached.

        Args:
            connections: the number of open connections, for the log.
        """
        used = _files_in_use(self._limit)
        if used >= _NEAR * self._limit and not self._warned:
            self._warned = True
            log.error(
                "the limit of open files is reached: newcomers are turned away"
                if used >= self._limit
                else "the limit of open files is near: beyond it newcomers are turned away",
                limit=self._limit,
                connections=connections,
                hint="Raise it (`ulimit -n`, LimitNOFILE=), or add processes; see docs/deploy.md.",
            )
        elif used < _CALM * self._limit:
            self._warned = False


def _files_in_use(limit: int) -> int:
    """Return the approximate number of open files: the lowest free descriptor, which is cheap to get."""
    try:
        number = os.open(os.devnull, os.O_RDONLY)
    except OSError:
        return limit
    os.close(number)
    return number
