"""Arrivals that Prolific has signed: whether the address by which somebody comes is genuine.

Sources: Prolific's documents on `is_external_study_url_secure` and on `/.well-known/study/jwks.json`: an
RS256 token, two minutes long, whose claim `prolific` has what the study's address asks for. PyJWT checks it.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import httpx2
import jwt
from pydantic_core import from_json

ISSUER = "https://www.prolific.com"
PARAMETER = "prolific_token"
STUDY = "STUDY_ID"  # in the address, and so in what is signed: the study there
KEYS_PATH = "/.well-known/study/jwks.json"
_REQUIRED = ["exp", "iat", "iss", "aud", "sub"]
_LEEWAY = 30  # seconds by which their clock may differ
_SECONDS = 10.0  # for which they are waited for
_KEPT = 86_400.0  # "update them at least daily"
_BETWEEN = 60.0  # seconds from one reading of the keys to the next, whatever key is asked for
_AFTER_FAILURE = 5.0


class Forged(Exception):
    """Prolific has not signed this, or not for this study; the message says what is wrong."""


class Expired(Exception):
    """It is genuine, and was good for two minutes only."""


class KeysUnavailable(Exception):
    """Prolific's keys cannot be read now, so that nothing can be said."""


@dataclass(frozen=True, slots=True)
class SignedArrival:
    """What Prolific has signed of an arrival: the parameters of the address, and the submission."""

    parameters: Mapping[str, str]
    submission: str


class StudyKeys:
    """Prolific's public keys, by their ids: read where they are needed, and kept for a day."""

    def __init__(self, api: str) -> None:
        """Read them from `api`, where Prolific's interface begins."""
        self._address = f"{api.rstrip('/')}{KEYS_PATH}"
        self._keys: dict[str, jwt.PyJWK] = {}
        self._read_at: float | None = None
        self._not_before = 0.0
        self._reading = asyncio.Lock()

    async def key(self, key_id: str) -> jwt.PyJWK:
        """Return a key. Raises Forged: there is none of this id; KeysUnavailable."""
        async with self._reading:
            is_old = self._read_at is None or monotonic() - self._read_at > _KEPT
            if (is_old or key_id not in self._keys) and monotonic() >= self._not_before:
                await self._read()
        if self._read_at is None:
            raise KeysUnavailable("the keys of Prolific cannot be read")
        if key_id not in self._keys:
            raise Forged("its key is none of Prolific's")
        return self._keys[key_id]

    async def _read(self) -> None:
        """Read the keys anew; where that fails, those that were read before stay."""
        self._not_before = monotonic() + _AFTER_FAILURE
        try:
            async with httpx2.AsyncClient(timeout=_SECONDS) as client:
                answer = (await client.get(self._address)).raise_for_status()
            found = jwt.PyJWKSet.from_dict(from_json(answer.content)).keys
        except (httpx2.HTTPError, jwt.PyJWTError, ValueError, AttributeError):
            return
        self._keys = {key.key_id: key for key in found if key.key_id is not None}
        self._read_at = monotonic()
        self._not_before = monotonic() + _BETWEEN


async def signed_arrival(keys: StudyKeys, token: str, address: str) -> SignedArrival:
    """Return what a token says.

    Args:
        keys: Prolific's.
        token: what the participant's address has.
        address: of the study here, without parameters; the token must be for it, or for its host.

    Raises:
        Forged, Expired, KeysUnavailable.
    """
    try:
        key_id = str(jwt.get_unverified_header(token).get("kid"))
        claims: dict[str, Any] = jwt.decode(
            token,
            await keys.key(key_id),
            algorithms=["RS256"],
            issuer=ISSUER,
            leeway=_LEEWAY,
            options={"require": _REQUIRED, "verify_aud": False},
        )
    except jwt.ExpiredSignatureError as error:
        raise Expired from error
    except jwt.PyJWTError as error:
        raise Forged("Prolific has not signed it") from error
    audiences = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
    if not any(_is_for(str(audience), address) for audience in audiences):
        raise Forged("it is for another study")
    said = claims.get("prolific")
    if not isinstance(said, dict):
        raise Forged("it does not say who comes")
    return SignedArrival({str(name): str(value) for name, value in said.items()}, str(claims["sub"]))


def _is_for(audience: str, address: str) -> bool:
    """Return whether a token for `audience`, an address or a host alone, is for the study at `address`."""
    theirs, ours = urlsplit(audience if "://" in audience else f"//{audience}"), urlsplit(address)
    return theirs.netloc == ours.netloc and theirs.path.rstrip("/") in {"", ours.path}
