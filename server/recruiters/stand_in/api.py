"""HTTP API of the simulated Prolific for researchers, with faults on demand."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from server.recruiters.stand_in.platform import StandInPlatform, with_fee
from server.recruiters.stand_in.records import Json, NoSuchThing, StandInRefusal, StandInSubmission

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
        rewards, bonuses = self._platform.cost(_id(request))
        return JSONResponse({"rewards": _breakdown(rewards), "bonuses": _breakdown(bonuses)})

    async def _submissions(self, request: Request) -> Response:
        found = self._platform.of_study(request.query_params["study"])
        return _page(request, [one.short() for one in found])

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


def _page(request: Request, entries: list[Json]) -> Response:
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
