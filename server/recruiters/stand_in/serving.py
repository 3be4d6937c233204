"""Serve the simulated Prolific: its pages for participants, and its events for subscribers.

A cookie identifies the participant, as at Prolific. `?as=ID` in an address signs in.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from html import escape
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx2
import jwt
import uvicorn
from cryptography.hazmat.primitives.asymmetric import rsa
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from server.recruiters.prolific.hooks import EVENT, SIGNATURE, TIMESTAMP, signature
from server.recruiters.prolific.signed_arrival import ISSUER, KEYS_PATH, PARAMETER
from server.recruiters.stand_in.api import Faults, StandInApi
from server.recruiters.stand_in.platform import StandInPlatform
from server.recruiters.stand_in.records import Event, Json, NoSuchThing, StandInRefusal, StandInSubmission

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


def stand_in(platform: StandInPlatform, token: str, faults: Faults, signer: Signer) -> Starlette:
    """Return the simulated Prolific as an application. `token`: the researcher's; `signer` signs arrivals."""
    researchers = StandInApi(platform, token, faults)
    return Starlette(routes=[*researchers.routes, *ParticipantPages(platform, signer).routes])


@contextmanager
def serving(app: ASGIApp, port: int = 0) -> Iterator[str]:
    """Serve `app` on `port`, by default any free port, and yield its address."""
    server = uvicorn.Server(uvicorn.Config(app, "127.0.0.1", port, log_level="warning", lifespan="off"))
    with server.config.bind_socket() as listening:
        thread = threading.Thread(target=server.run, args=([listening],), name="prolific-stand-in")
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


_SECONDS = 30.0  # time-out


def send(platform: StandInPlatform, event: Event, at: datetime) -> httpx2.Response:
    """Send an event as of the time `at`, note whether it was accepted, and return the response.

    Raises httpx2.HTTPError if there was no response.
    """
    wanted = platform.subscription(event.subscription)
    body, timestamp = json.dumps(event.payload).encode(), str(int(at.timestamp()))
    secret = str(platform.secrets[wanted.workspace]["value"])
    headers = {
        "Content-Type": "application/json",
        TIMESTAMP: timestamp,
        SIGNATURE: signature(secret, timestamp, body),
        EVENT: event.id,
    }
    event.status = "FAILED"
    answer = httpx2.post(wanted.target_url, content=body, headers=headers, timeout=_SECONDS)
    if answer.is_success:
        event.status = "SUCCEEDED"
    return answer
