"""Print the unit tests of every file that differs from the last commit.

A file with tests of its own is tested by them: `server/live/converse/socket.py` by
`tests/server/live/converse/test_socket.py`, `test_socket_frames.py` and so on. Other files are tested by the
tests of their folder, or of the nearest folder above that has some. Files outside the packages have no unit
tests.
"""

import subprocess
from pathlib import Path

_PACKAGES = ("candor", "server", "bots", "qc")


def changed() -> list[Path]:
    """Return the files that git sees as changed or new."""
    lines = subprocess.run(
        ["git", "status", "--porcelain", "--untracked-files=all", "--no-renames"],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    return [Path(line[3:].strip('"')) for line in lines]


def tests_of(path: Path) -> list[Path]:
    """Return the test files, or the folder of tests, that answer for `path`."""
    if path.parts[0] == "tests" and path.name.startswith("test_"):
        return [path] if path.exists() else []
    if path.suffix != ".py" or path.parts[0] not in _PACKAGES:
        return []
    mirror = Path("tests", path.parent)
    own = [*mirror.glob(f"test_{path.stem}.py"), *mirror.glob(f"test_{path.stem}_*.py")]
    above = [folder for folder in (mirror, *mirror.parents) if folder.is_dir() and folder.parts[1:]]
    return own or above[:1]


if __name__ == "__main__":
    found = {tests for path in changed() for tests in tests_of(path)}
    print(*sorted(map(str, found)))  # noqa: T201
