"""Pages of the simulated Prolific for participants, who arrive signed where a study asks for it.

A cookie identifies the participant, as at Prolific. `?as=ID` in an address signs in.
"""

import json
from datetime import UTC, datetime, timedelta
from html import escape
from urllib.parse import parse_qsl, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from server.recruiters.prolific.signed_arrival import ISSUER, KEYS_PATH, PARAMETER
from server.recruiters.stand_in.platform import StandInPlatform
from server.recruiters.stand_in.records import Json, NoSuchThing, StandInRefusal, StandInSubmission

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


_COOKIE = "submission"


class ParticipantPages:
    """Serves the pages over `platform`, and the public keys of `signer`."""

    def __init__(self, platform: StandInPlatform, signer: Signer) -> None:
        self._platform = platform
        self._signer = signer
        self.routes = [
            Route("/studies", self._studies),
            Route("/studies/{id}/take-part", self._take_part),
            Route("/submissions/complete", self._complete),
            Route("/submissions/return", self._give_back),
            Route(KEYS_PATH, self._keys),
        ]

    async def _studies(self, request: Request) -> Response:
        who = request.query_params.get("as", "")
        lines = [
            f"<li><a href='/studies/{study.id}/take-part?as={escape(who, quote=True)}'>"
            f"{escape(study.given['name'])}</a>, {study.given['reward'] / 100:.2f}</li>"
            for study in self._platform.studies.values()
            if study.status == "ACTIVE"
        ]
        return _page("Studies for you", f"<ul>{''.join(lines)}</ul>" if lines else "<p>None now.</p>")

    async def _take_part(self, request: Request) -> Response:
        try:
            found = self._platform.reserve(request.path_params["id"], request.query_params["as"])
            self._platform.open(found.id)
            study = self._platform.study(found.study)
        except (StandInRefusal, NoSuchThing, KeyError) as error:
            return _page("You cannot take part", f"<p>{escape(str(error))}</p>", 403)
        address = address_of(study.given["external_study_url"], found)
        if study.given.get("is_external_study_url_secure"):
            address = self._signer.signed(address, found, datetime.now(UTC))
        answer = RedirectResponse(address)
        answer.set_cookie(_COOKIE, found.id)
        return answer

    async def _complete(self, request: Request) -> Response:
        try:
            code = request.query_params.get("cc")
            found = self._platform.complete(request.cookies.get(_COOKIE, ""), code)
        except (StandInRefusal, NoSuchThing) as error:
            return _page("This cannot be handed in", f"<p>{escape(str(error))}</p>", 403)
        return _page("Thank you", f"<p>Your submission is {escape(found.status.lower())}.</p>")

    async def _give_back(self, request: Request) -> Response:
        try:
            self._platform.give_back(request.cookies.get(_COOKIE, ""))
        except (StandInRefusal, NoSuchThing) as error:
            return _page("This cannot be returned", f"<p>{escape(str(error))}</p>", 403)
        return _page("Returned", "<p>Your place is free for somebody else.</p>")

    async def _keys(self, _request: Request) -> Response:
        return JSONResponse(self._signer.keys())


def address_of(external_study_url: str, found: StandInSubmission) -> str:
    """Return the study's address for a participant, with its placeholders filled in."""
    given = {"PROLIFIC_PID": found.participant, "STUDY_ID": found.study, "SESSION_ID": found.id}
    address = external_study_url
    for name, value in given.items():
        address = address.replace(f"{{{{%{name}%}}}}", value)
    return address


def _page(title: str, body: str, status: int = 200) -> Response:
    head = f"<!doctype html><html lang='en'><title>{title}</title><h1>{title}</h1>"
    return HTMLResponse(f"{head}{body}</html>", status)
