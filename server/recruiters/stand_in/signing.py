"""Sign arrivals in the simulated Prolific, if a study requires it."""

import json
from datetime import datetime, timedelta
from urllib.parse import parse_qsl, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from server.recruiters.prolific.signed_arrival import ISSUER, PARAMETER
from server.recruiters.stand_in.records import Json, StandInSubmission

_GOOD_FOR = timedelta(minutes=2)


class Signer:
    """Signs arrivals with one key, named `key_id`."""

    def __init__(self, key_id: str) -> None:
        self.key_id = key_id
        self._key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)

    def keys(self) -> Json:
        """Return the public key in Prolific's format."""
        algorithm = jwt.get_algorithm_by_name("RS256")
        public = json.loads(algorithm.to_jwk(self._key.public_key()))
        return {"keys": [public | {"kid": self.key_id, "alg": "RS256", "use": "sig"}]}

    def signed(self, address: str, found: StandInSubmission, at: datetime) -> str:
        """Return a participant's address with a token that signs its parameters at the time `at`."""
        claims = {
            "iss": ISSUER,
            "aud": address.partition("?")[0],
            "sub": found.id,
            "iat": at,
            "exp": at + _GOOD_FOR,
            "prolific": dict(parse_qsl(urlsplit(address).query)),
        }
        return f"{address}&{urlencode({PARAMETER: self.token(claims)})}"

    def token(self, claims: Json) -> str:
        """Return a signed token with `claims`."""
        return jwt.encode(claims, self._key, algorithm="RS256", headers={"kid": self.key_id})
