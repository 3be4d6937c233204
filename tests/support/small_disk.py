"""A disk of its own that can be full: a file system in memory, whose folder others take for any other."""

import errno
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class SmallDisk:
    """A folder that can be filled to its last byte, and be freed again."""

    def __init__(self, folder: Path) -> None:
        self._filler = folder / "filler"

    def fill(self) -> None:
        """Take all the room that there is, whatever the database takes of it meanwhile."""
        with self._filler.open("wb") as filler:
            taken = 0
            while (free := shutil.disk_usage(self._filler.parent).free) > 0:
                try:
                    os.posix_fallocate(filler.fileno(), taken, free)
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise
                else:
                    taken += free

    def free(self) -> None:
        """Give the room back."""
        self._filler.unlink()


@contextmanager
def mounted(folder: Path, megabytes: int) -> Iterator[SmallDisk | None]:
    """Make `folder` a disk of so many megabytes; None: whoever runs this may not mount any."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "candor-small-disk", folder]
    if os.geteuid() != 0 or subprocess.run(command, check=False, capture_output=True).returncode:
        yield None
        return
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
