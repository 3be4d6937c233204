"""Read files that researchers name beside a run's data, within a limit of size."""

import errno
from pathlib import Path

MOST_BYTES = 200 * 1024 * 1024


def read_file(path: Path) -> bytes:
    """Return the content of a file. Raises OSError if it cannot be read, or has more than MOST_BYTES."""
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise OSError(errno.EFBIG, f"it has more than {MOST_BYTES // 1024**2} MB", str(path))
    return content
