"""Verify arrivals that Prolific has signed.

Sources: Prolific's documents on `is_external_study_url_secure` and on `/.well-known/study/jwks.json`: an
RS256 token, valid for two minutes, whose claim `prolific` has the parameters of the study's address. PyJWT
checks it.
"""

import asyncio
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import httpx2
import jwt
from pydantic_core import from_json

from candor.common.network import BoundedClient
from server.recruiters.signatures import Expired, Forged, KeysUnavailable, SignedArrival

ISSUER = "https://www.prolific.com"
PARAMETER = "prolific_token"
STUDY = "STUDY_ID"  # parameter of the address, and of the token: the study at Prolific
KEYS_PATH = "/.well-known/study/jwks.json"
_REQUIRED = ["exp", "iat", "iss", "aud", "sub"]
_LEEWAY = 30  # seconds by which Prolific's clock may differ
_SECONDS = 10.0  # time-out for reading the keys
_KEPT = 86_400.0  # "update them at least daily"
_BETWEEN = 60.0  # shortest time between readings of the keys, even for unknown keys
_AFTER_FAILURE = 5.0


class StudyKeys:
    """Prolific's public keys by id, read when needed, and kept for a day."""

    def __init__(self, api: str) -> None:
        """Create it. `api`: the address of Prolific's API."""
        self._address = f"{api.rstrip('/')}{KEYS_PATH}"
        self._keys: dict[str, jwt.PyJWK] = {}
        self._read_at: float | None = None
        self._not_before = 0.0
        self._reading = asyncio.Lock()

    async def key(self, key_id: str) -> jwt.PyJWK:
        """Return a key. Raises Forged if there is no key with this id, or KeysUnavailable."""
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
        """Read the keys again. If that fails, the earlier keys stay."""
        self._not_before = monotonic() + _AFTER_FAILURE
        try:
            async with BoundedClient(timeout=_SECONDS) as client:
                answer = (await client.get(self._address)).raise_for_status()
            found = jwt.PyJWKSet.from_dict(from_json(answer.content)).keys
        except (httpx2.HTTPError, jwt.PyJWTError, ValueError, AttributeError):
            return
        self._keys = {key.key_id: key for key in found if key.key_id is not None}
        self._read_at = monotonic()
        self._not_before = monotonic() + _BETWEEN


class ProlificArrivals:
    """Verifies the arrivals that Prolific signs. `api`: the address of Prolific's API."""

    parameter = PARAMETER

    def __init__(self, api: str) -> None:
        self._keys = StudyKeys(api)

    async def verified(self, token: str, address: str) -> SignedArrival:
        """Verify a token and return its content. Raises as `signed_arrival`."""
        return await signed_arrival(self._keys, token, address)


async def signed_arrival(keys: StudyKeys, token: str, address: str) -> SignedArrival:
    """Verify a token and return its content.

    Args:
        keys: Prolific's keys.
        token: the token in the participant's address.
        address: the study's address here, without parameters; the token must be for it, or for its host.

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
    parameters = {str(name): str(value) for name, value in said.items()}
    return SignedArrival(parameters, str(claims["sub"]), parameters.get(STUDY))


def _is_for(audience: str, address: str) -> bool:
    """Return whether a token for `audience`, an address or a host alone, is for the study at `address`."""
    theirs, ours = urlsplit(audience if "://" in audience else f"//{audience}"), urlsplit(address)
    return theirs.netloc == ours.netloc and theirs.path.rstrip("/") in {"", ours.path}
