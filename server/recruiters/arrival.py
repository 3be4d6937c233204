"""Identity of an arriving worker, from a link or a platform, and its encryption for the database."""

import base64
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final
from urllib.parse import urlencode

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from cryptography.hazmat.primitives.hashes import SHA512
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from pydantic import StringConstraints

LINK, SIMULATED = "link", "simulated"  # used in place of a platform's name
# Control characters cannot be stored by every database.
WorkerId = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$"),
]
# Placeholders of survey tools and platforms: `${e://Field/ResponseID}`,
# `{{%PROLIFIC_PID%}}`, `[[id]]`, `%%id%%`, `%SURVEY_CODE%`, `<id>`, `{id}`, `[ID_value]`.
_PLACEHOLDER = re.compile(
    r"[$#]\{|\{\{|\[\[|\{%|%%|<%|<<|\[object |^(<.*>|\{.*\}|\[.*\]|%.*%)$|^(undefined|null|none|nan|"
    r"(prolific_?pid|session_?id|participant_?id|assignment_?id|worker_?id|response_?id|user_?id|survey_?code)|"
    r"assignment_id_not_available|your_?id)$",
    re.IGNORECASE,
)


def is_placeholder(external_id: str) -> bool:
    """Return whether an id is an unfilled placeholder, which all visitors would share."""
    return _PLACEHOLDER.search(external_id) is not None


@dataclass(frozen=True, slots=True)
class Arrival:
    """An arriving worker, identified by `platform` and `external_id`.

    In the database, and in arrivals for queries of it, `external_id` is encrypted: see `Auth.kept`. `visit`:
    the platform's id of this visit (at Prolific, the submission), which differs at every visit.
    """

    platform: str
    external_id: str
    visit: str | None = None

    def is_of(self, other: "Arrival") -> bool:
        """Return whether both are the same person."""
        return (self.platform, self.external_id) == (other.platform, other.external_id)


def stranger(*, simulated: bool) -> Arrival:
    """Return an arrival with a random id."""
    return by_link(f"anonymous-{secrets.token_hex(8)}", simulated=simulated)


def by_link(worker: str, *, simulated: bool) -> Arrival:
    """Return the arrival of a worker who comes by a link with this id."""
    return Arrival(SIMULATED if simulated else LINK, worker)


def personal_link(public_url: str, run: str, worker: str, signature: str) -> str:
    """Return one worker's own link to a run, signed.

    Args:
        public_url: the start of the server's links, without a slash at the end.
        run: the run's name.
        worker: the worker's id, of any characters.
        signature: the signature of the link.
    """
    return f"{public_url}/w/{run}?{urlencode({'worker': worker, 'signature': signature})}"


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
