"""A clock that is wrong, and can be set while processes run: theirs, not this machine's.

What measures durations is left alone, as when somebody sets a machine's clock.
"""

from pathlib import Path

_LIBRARIES = "*/faketime/libfaketimeMT.so.1"


class SetClock:
    """The clock of all processes that are started with `environment`."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "clock"
        self.set(0)
        (library,) = Path("/usr/lib").glob(_LIBRARIES)
        self.environment = {
            "LD_PRELOAD": str(library),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_CACHE_DURATION": "1",  # seconds until it looks into the file again
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_DONT_RESET": "1",
            # A thread of Python waits for the interpreter by the monotonic clock. With the library's own fix
            # for such waits none of them lasts: threads spin, and a server takes twenty times the time.
            "FAKETIME_FORCE_MONOTONIC_FIX": "0",
        }

    def set(self, seconds: float) -> None:
        """Set it so many seconds ahead of this machine's; behind, if less than 0."""
        written = self._file.with_suffix(".new")
        written.write_text(f"{seconds:+g}\n")
        written.rename(self._file)  # never half of it


def is_there() -> bool:
    """Return whether clocks can be set here."""
    return any(Path("/usr/lib").glob(_LIBRARIES))
