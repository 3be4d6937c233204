"""Name of this installation's own command."""

import os
import sys
from pathlib import Path
from shutil import which


def own_command() -> str:
    """Return what calls `candor` from here: its name where the search path leads to it, else its path."""
    beside = Path(sys.executable).with_name("candor")
    found = which("candor")
    if found is not None and Path(found).resolve() == beside.resolve():
        return "candor"
    return os.path.relpath(beside) if beside.is_relative_to(Path.cwd()) else str(beside)
