"""Read the keys that encrypt workers' ids: never in the database, and in no backup of it."""

import secrets
from contextlib import suppress
from pathlib import Path

from server.errors import CandorError


def make_secret_file(path: Path, content: str) -> None:
    """Write such a file, whole or not at all; where another process was first, its file stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{secrets.token_hex(4)}")
    draft.touch(mode=0o600)
    draft.write_text(content + "\n", encoding="utf-8")
    with suppress(FileExistsError):
        path.hardlink_to(draft)
    draft.unlink()


_FILE = "worker-ids.key"
_SHORTEST = 32  # characters
_HOW = "`openssl rand -base64 48` makes one; an earlier one may follow after a blank"


def key_file(folder: Path) -> Path:
    """Return where the keys of the installation in `folder` lie, unless a setting has them."""
    return folder / _FILE


def load_id_keys(folder: Path, given: str | None) -> tuple[str, ...]:
    """Return the keys, the one in use first: from the setting, or from a file of `folder`.

    Where there is neither, a key is made. It can be a wrong one, which shows as soon as an id is read.

    Raises:
        CandorError: a key is too short, or the file cannot be made or read.
    """
    if given is not None:
        return _keys(given, "CANDOR_WORKER_ID_KEY")
    path = key_file(folder)
    try:
        if not path.exists():
            make_secret_file(path, secrets.token_urlsafe(48))
        return _keys(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise CandorError(
            f"{path} cannot be used: {error}", "Restore the file from where you keep it."
        ) from error


def _keys(text: str, where: str) -> tuple[str, ...]:
    keys = tuple(text.split())
    if not keys or any(len(key) < _SHORTEST for key in keys):
        raise CandorError(f"{where}: a key has {_SHORTEST} characters or more", f"Correct it: {_HOW}.")
    return keys
