"""Files that only their owner may read."""

import secrets
from contextlib import suppress
from pathlib import Path


def make_secret_file(path: Path, content: str) -> None:
    """Write such a file, whole or not at all; where another process was first, its file stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{secrets.token_hex(4)}")
    draft.touch(mode=0o600)
    draft.write_text(content + "\n", encoding="utf-8")
    with suppress(FileExistsError):
        path.hardlink_to(draft)
    draft.unlink()
