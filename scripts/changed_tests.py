"""Print the unit tests of what differs from the last commit: of `server/live/socket.py` those in its mirror.

A file whose own test is there (`tests/server/live/test_socket.py`) is tested by that; else by the tests of
its folder, or of the nearest folder above that has some. What belongs to no package has no unit tests.
"""

import subprocess
from pathlib import Path

_PACKAGES = ("server", "bots", "qc")


def changed() -> list[Path]:
    """Return the files that git sees as changed or new."""
    lines = subprocess.run(
        ["git", "status", "--porcelain", "--untracked-files=all", "--no-renames"],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    return [Path(line[3:].strip('"')) for line in lines]


def tests_of(path: Path) -> Path | None:
    """Return the test file or the folder of tests that answers for `path`."""
    if path.parts[0] == "tests" and path.name.startswith("test_"):
        return path if path.exists() else None
    if path.suffix != ".py" or path.parts[0] not in _PACKAGES:
        return None
    own = Path("tests", path.parent, f"test_{path.stem}.py")
    if own.exists():
        return own
    return next((folder for folder in own.parents if folder.is_dir() and folder != Path("tests")), None)


if __name__ == "__main__":
    found = {tests for path in changed() if (tests := tests_of(path)) is not None}
    print(*sorted(map(str, found)))  # noqa: T201
