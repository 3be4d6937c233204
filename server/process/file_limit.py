"""Raise the limit of open files as far as allowed, and watch it."""

import os
import resource

import structlog

_NEAR, _CALM = 0.8, 0.7  # shares of the limit at which a warning is due, and due again
log = structlog.get_logger()


def raise_file_limit() -> int:
    """Raise the limit to what the system lets this process have; return how many files that are."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (ValueError, OSError):  # some systems name a limit that they do not grant
        return soft
    return hard


class FileWatch:
    """Warns once when the limit comes near, and again after the number had fallen.

    Args:
        limit: how many files this process may have open.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._warned = False

    def look(self, connections: int) -> None:
        """Warn if the limit is near or reached.

        Args:
            connections: how many are open now, for the log.
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
    """Return about how many files are open: the lowest free number, which costs nothing to learn."""
    try:
        number = os.open(os.devnull, os.O_RDONLY)
    except OSError:
        return limit
    os.close(number)
    return number
