"""Read the keys that encrypt workers' ids. They are never in the database or its backups."""

import secrets
from contextlib import suppress
from pathlib import Path

from server.errors import CandorError


def make_secret_file(path: Path, content: str) -> None:
    """Write a secret file atomically. If another process was first, its file stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{secrets.token_hex(4)}")
    draft.touch(mode=0o600)
    draft.write_text(content + "\n", encoding="utf-8")
    with suppress(FileExistsError):
        path.hardlink_to(draft)
    draft.unlink()


_FILE = "worker-ids.key"
_SHORTEST = 32  # characters
_HOW = "create a key with `openssl rand -base64 48`; earlier keys may follow, separated by spaces"


def key_file(folder: Path) -> Path:
    """Return the path of the keys' file in the data folder, which is used unless a setting has the keys."""
    return folder / _FILE


def load_id_keys(folder: Path, given: str | None) -> tuple[str, ...]:
    """Return the keys from the setting or from the file in `folder`, the current key first.

    If there is neither, a key is created. If it is the wrong one, that shows as soon as an id is decrypted.

    Raises:
        CandorError: a key is too short, or the file cannot be created or read.
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
        raise CandorError(f"{where}: a key needs at least {_SHORTEST} characters", f"Correct it: {_HOW}.")
    return keys
