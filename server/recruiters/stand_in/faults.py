"""Faults on demand: the next matching request fails in the given way."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

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
