"""Serve the simulated Prolific: its API with faults on demand, its pages for participants, and its events.

A cookie identifies the participant, as at Prolific. `?as=ID` in an address signs in.
"""

import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from html import escape
from typing import Literal
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
from server.recruiters.stand_in.platform import StandInPlatform, with_fee
from server.recruiters.stand_in.records import Event, Json, NoSuchThing, StandInRefusal, StandInSubmission

How = Literal["busy", "broken", "broken after", "hangs before", "hangs after"]


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of the next request whose path contains `part`.

    busy: status 429, not carried out. broken: status 500, not carried out; broken after: status 500, but
    carried out. hangs before: no response, not carried out; hangs after: no response, but carried out.
    `retry_after`: the header of a busy response.
    """

    how: How
    part: str
    retry_after: str | None = "0"


@dataclass(slots=True)
class Faults:
    """The faults that are due, each of which happens once."""

    due: list[Fault] = field(default_factory=list)

    async def around(self, request: Request, call: Callable[[Request], Awaitable[Response]]) -> Response:
        """Answer a request, with the first fault that is due for it."""
        fault = next((one for one in self.due if one.part in request.url.path), None)
        if fault is None:
            return await call(request)
        self.due.remove(fault)
        match fault.how:
            case "busy":
                headers = {} if fault.retry_after is None else {"Retry-After": fault.retry_after}
                return JSONResponse(_problem(429, "Too many requests"), 429, headers)
            case "broken":
                return JSONResponse(_problem(500, "Internal error"), 500)
            case "broken after":
                await call(request)
                return JSONResponse(_problem(500, "Internal error"), 500)
            case "hangs before":
                await _end(request)
                return JSONResponse(_problem(500, "Internal error"), 500)  # to nobody
            case "hangs after":
                answer = await call(request)
                await _end(request)
                return answer


async def _end(request: Request) -> None:
    """Wait until the client disconnects."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _problem(status: int, title: str) -> dict[str, object]:
    return {"error": {"status": status, "error_code": 140000 + status, "title": title, "detail": title}}


_PAGE = 20
_CURRENCY = "GBP"
# Operations with errors at the top level of the response; others have them under `error`.
_FLAT = ("/api/v1/studies/", "/api/v1/submissions/", "/api/v1/messages/")
_FLAT_ENDS = ("/cost/", "/submissions/")
Call = Callable[[Request], Awaitable[Response]]


class StandInApi:
    """The API for researchers.

    Args:
        platform: the state.
        token: the only valid token.
        faults: faults to simulate.
    """

    def __init__(self, platform: StandInPlatform, token: str, faults: Faults) -> None:
        self._platform = platform
        self._token = token
        self._faults = faults
        study, submission = "/studies/{id}/", "/submissions/{id}/"
        hooks = "/hooks/subscriptions/"
        self.routes = [
            self._route("POST", "/studies/", self._draft),
            self._route("GET", "/studies/", self._studies),
            self._route("GET", study, self._study),
            self._route("PATCH", study, self._change),
            self._route("DELETE", study, self._discard),
            self._route("POST", f"{study}transition/", self._move_study),
            self._route("GET", f"{study}cost/", self._cost),
            self._route("GET", "/submissions/", self._submissions),
            self._route("POST", "/submissions/bonus-payments/", self._set_up_bonuses),
            self._route("GET", submission, self._submission),
            self._route("POST", f"{submission}transition/", self._move),
            self._route("POST", f"{submission}request-return/", self._request_return),
            self._route("POST", "/bulk-bonus-payments/{id}/pay/", self._pay_bonuses),
            self._route("POST", "/messages/", self._send),
            self._route("POST", "/hooks/secrets/", self._new_secret),
            self._route("GET", hooks, self._subscriptions),
            self._route("POST", hooks, self._subscribe),
            self._route("POST", f"{hooks}{{id}}/", self._confirm),
            self._route("DELETE", f"{hooks}{{id}}/", self._unsubscribe),
            self._route("GET", f"{hooks}{{id}}/events/", self._events),
        ]

    def _route(self, method: str, path: str, call: Call) -> Route:
        async def answer(request: Request) -> Response:
            if request.headers.get("Authorization") != f"Token {self._token}":
                return _refusal(request, 401, "Authentication failed", "Invalid token.")
            try:
                return await self._faults.around(request, call)
            except NoSuchThing as error:
                return _refusal(request, 404, "Not found", f"{error} does not exist.")
            except (StandInRefusal, KeyError) as error:
                return _refusal(request, 400, "Bad request", str(error))

        return Route(f"/api/v1{path}", answer, methods=[method])

    async def _draft(self, request: Request) -> Response:
        return JSONResponse(self._platform.draft(await request.json()).answer(), 201)

    async def _studies(self, request: Request) -> Response:
        state = request.query_params.get("state")
        found = [one for one in self._platform.studies.values() if state in (None, one.status)]
        return JSONResponse({"results": [one.short() for one in found]})

    async def _study(self, request: Request) -> Response:
        return JSONResponse(self._platform.study(_id(request)).answer())

    async def _change(self, request: Request) -> Response:
        return JSONResponse(self._platform.change(_id(request), await request.json()).answer())

    async def _discard(self, request: Request) -> Response:
        self._platform.discard(_id(request))
        return JSONResponse({})

    async def _move_study(self, request: Request) -> Response:
        action = (await request.json())["action"]
        return JSONResponse(self._platform.move_study(_id(request), action).answer())

    async def _cost(self, request: Request) -> Response:
        is_projected = request.query_params.get("is_projected") == "true"
        read = self._platform.projected_cost if is_projected else self._platform.cost
        rewards, bonuses = read(_id(request))
        return JSONResponse({"rewards": _breakdown(rewards), "bonuses": _breakdown(bonuses)})

    async def _submissions(self, request: Request) -> Response:
        found = self._platform.of_study(request.query_params["study"])
        return _part_of(request, [one.short() for one in found])

    async def _submission(self, request: Request) -> Response:
        return JSONResponse(self._platform.submission(_id(request)).detail())

    async def _move(self, request: Request) -> Response:
        return JSONResponse(self._platform.move(_id(request), await request.json()).moved())

    async def _request_return(self, request: Request) -> Response:
        return JSONResponse(_return_requested(self._platform.request_return(_id(request))))

    async def _set_up_bonuses(self, request: Request) -> Response:
        given = await request.json()
        batch = self._platform.set_up_bonuses(given["study_id"], given["csv_bonuses"])
        amount = sum(batch.cents.values())
        fees, vat = with_fee(amount)
        return JSONResponse(
            {
                "id": batch.id,
                "study": batch.study,
                "amount": amount,
                "fees": fees,
                "vat": vat,
                "total_amount": amount + fees + vat,
            },
            201,
        )

    async def _pay_bonuses(self, request: Request) -> Response:
        self._platform.pay_bonuses(_id(request))
        return JSONResponse("The bonuses will be paid.", 202)

    async def _send(self, request: Request) -> Response:
        given = await request.json()
        self._platform.sent.append((given["recipient_id"], given["body"]))
        return Response(status_code=204)

    async def _new_secret(self, request: Request) -> Response:
        return JSONResponse(self._platform.new_secret((await request.json())["workspace_id"]), 201)

    async def _subscriptions(self, request: Request) -> Response:
        found = [one.answer() for one in self._platform.subscriptions.values()]
        return JSONResponse({"results": found})

    async def _subscribe(self, request: Request) -> Response:
        made = self._platform.subscribe(await request.json())
        return JSONResponse({"results": [made.answer()]}, 201, {"X-Hook-Secret": made.secret})

    async def _confirm(self, request: Request) -> Response:
        found = self._platform.subscription(_id(request))
        if (await request.json())["secret"] != found.secret:
            raise StandInRefusal("The secret is wrong.")
        found.is_enabled = True
        return JSONResponse(found.answer())

    async def _unsubscribe(self, request: Request) -> Response:
        del self._platform.subscriptions[self._platform.subscription(_id(request)).id]
        return Response(status_code=204)

    async def _events(self, request: Request) -> Response:
        wanted = self._platform.subscription(_id(request))
        status = request.query_params.get("status")
        offset, limit = (int(request.query_params.get(*name)) for name in (("offset", "0"), ("limit", "100")))
        found = [
            one.answer(wanted.target_url)
            for one in self._platform.events
            if one.subscription == wanted.id and status in (None, one.status)
        ]
        return JSONResponse({"results": found[offset : offset + limit]})


def _id(request: Request) -> str:
    return str(request.path_params["id"])


def _part_of(request: Request, entries: list[Json]) -> Response:
    """Return one page of a list. Raises NoSuchThing for a page past the end."""
    number = int(request.query_params.get("page", "1"))
    size = int(request.query_params.get("page_size", str(_PAGE)))
    shown = entries[(number - 1) * size : number * size]
    if number > 1 and not shown:
        raise NoSuchThing(f"Page {number}")
    following = None
    if number * size < len(entries):
        query = urlencode({**request.query_params, "page": number + 1})
        following = f"{request.url.replace(query='')}?{query}"
    links = {"next": {"href": following, "title": "Next"}}
    return JSONResponse({"results": shown, "_links": links, "meta": {"count": len(entries)}})


def _breakdown(cents: int) -> Json:
    fees, tax = with_fee(cents)
    shares = {"rewards": cents, "fees": fees, "tax": tax}
    return {name: {"amount": amount, "currency": _CURRENCY} for name, amount in shares.items()}


def _return_requested(found: StandInSubmission) -> Json:
    answer = found.detail()
    return {name: answer[name] for name in ("id", "participant", "status", "return_requested")}


def _refusal(request: Request, status: int, title: str, detail: str) -> Response:
    problem = {"status": status, "error_code": 140000 + status, "title": title, "detail": detail}
    path = request.url.path
    is_flat = path in _FLAT or path.endswith(_FLAT_ENDS)
    return JSONResponse(problem if is_flat else {"error": problem}, status)


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
            return _page("This cannot be submitted", f"<p>{escape(str(error))}</p>", 403)
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
        listening.listen()  # at once, so that nobody is refused before the thread has started
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
