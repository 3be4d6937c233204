"""Read files that people name, within a limit of size."""

import errno
from pathlib import Path

MOST_BYTES = 200 * 1024 * 1024  # ten times the largest published corpora of dialogues


def read_file(path: Path) -> bytes:
    """Return the content of a file. Raises OSError if it cannot be read, or has more than MOST_BYTES."""
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise OSError(errno.EFBIG, f"it has more than {MOST_BYTES // 1024**2} MB", str(path))
    return content


def read_text(path: Path) -> str:
    r"""Return the text in a file in UTF-8, with `\n` at the ends of lines. Raises as `read_file` does.

    Raises:
        UnicodeDecodeError: it is not UTF-8.
    """
    return read_file(path).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
