"""Encrypt workers' ids for the database."""

import base64
from collections.abc import Sequence
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from cryptography.hazmat.primitives.hashes import SHA512
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_PURPOSE: Final = b"candor: id of a worker"
_MARK: Final = b"candor: mark of a key"
_KEY_BYTES: Final = 64  # AES-256 in SIV mode takes two keys


class IdCipher:
    """Encrypts ids with AES-SIV (RFC 5297), deterministically, so that an encrypted id can be looked up.

    The first 16 bytes are a keyed hash of the id; the rest is the id encrypted with AES, with that hash as
    its initialisation vector. So the database without the key reveals which rows have the same id, and its
    length, but nothing else.

    Args:
        keys: the first key encrypts; all of them decrypt.
    """

    def __init__(self, keys: Sequence[str]) -> None:
        self._ciphers = [AESSIV(_derived(key)) for key in keys]

    def encrypted(self, external_id: str) -> str:
        """Return the encrypted form of an id."""
        content = self._ciphers[0].encrypt(external_id.encode(), [_PURPOSE])
        return base64.urlsafe_b64encode(content).decode().rstrip("=")

    @property
    def marks(self) -> tuple[str, ...]:
        """The fingerprint of each key, in order. Keys cannot be computed from them."""
        return tuple(cipher.encrypt(_MARK, [_MARK]).hex() for cipher in self._ciphers)

    def decrypted(self, kept: str) -> str | None:
        """Return the decrypted id; None if it was removed, or encrypted with another key."""
        try:
            content = base64.b64decode(kept + "=" * (-len(kept) % 4), altchars=b"-_", validate=True)
        except ValueError:  # no base64
            return None
        for cipher in self._ciphers:
            try:
                return cipher.decrypt(content, [_PURPOSE]).decode()
            except (InvalidTag, ValueError):
                continue
        return None


def _derived(key: str) -> bytes:
    return HKDF(SHA512(), _KEY_BYTES, salt=None, info=_PURPOSE).derive(key.encode())
