"""Name of this installation's `candor` command."""

import os
import sys
from pathlib import Path
from shutil import which


def own_command() -> str:
    """Return how to call this `candor`: by its name if it is on the search path, else by its path."""
    beside = Path(sys.executable).with_name("candor")
    found = which("candor")
    if found is not None and Path(found).resolve() == beside.resolve():
        return "candor"
    return os.path.relpath(beside) if beside.is_relative_to(Path.cwd()) else str(beside)
