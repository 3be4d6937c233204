"""Hashes that tell one version of a model from another."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

_OF_A_MODEL = frozenset({".safetensors", ".bin", ".json", ".model", ".txt", ".jinja"})
_DIGITS = 16


def hash_of_files(files: Iterable[Path]) -> str:
    """Return 16 digits of what is in `files`, whichever their names. Reads them whole."""
    whole = hashlib.sha256()
    for file in files:
        with file.open("rb") as opened:
            whole.update(hashlib.file_digest(opened, "sha256").digest())
    return whole.hexdigest()[:_DIGITS]


def hash_of_folder(folder: Path) -> str:
    """Return 16 digits of a model's weights, configuration and tokenizer, as transformers saves them."""
    return hash_of_files(
        sorted(file for file in folder.iterdir() if file.suffix in _OF_A_MODEL and file.is_file())
    )
