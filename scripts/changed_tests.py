"""Print the unit tests of every file that differs from the last commit.

A file with tests of its own is tested by them: `server/live/converse/socket.py` by
`tests/server/live/converse/test_socket.py`, `test_socket_frames.py` and so on. Other files are tested by the
modules of their folder (not by those of the folders inside it), or of the nearest folder above that has some.
Modules that take longer than a minute run only if they differ themselves. Files outside the packages have no
unit tests.
"""

import subprocess
from pathlib import Path

_PACKAGES = ("candor", "server", "bots", "qc")
_LONG = frozenset({"test_api_fuzzed.py", "test_socket_fuzzed.py"})


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
    """Return the test files that answer for `path`."""
    if path.parts[0] == "tests" and path.name.startswith("test_"):
        return [path] if path.exists() else []
    if path.suffix != ".py" or path.parts[0] not in _PACKAGES:
        return []
    mirror = Path("tests", path.parent)
    found = [*mirror.glob(f"test_{path.stem}.py"), *mirror.glob(f"test_{path.stem}_*.py")]
    for folder in (mirror, *mirror.parents[:-2]):  # up to the tests of the package
        found = found or list(folder.glob("test_*.py"))
    return [tests for tests in found if tests.name not in _LONG]


if __name__ == "__main__":
    found = {tests for path in changed() for tests in tests_of(path)}
    print(*sorted(map(str, found)))  # noqa: T201
