"""Faults on demand: the next matching request fails in the given way."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

How = Literal["busy", "broken", "broken after", "hangs before", "hangs after"]


@dataclass(frozen=True, slots=True)
class Fault:
    """What the next request whose path has `part` in it comes to.

    busy: 429, nothing done. broken: 500, nothing done; broken after: 500, though it is done. hangs before:
    nothing is done, and no answer ever comes; hangs after: it is done, and none comes.
    `retry_after`: what a busy one is told.
    """

    how: How
    part: str
    retry_after: str | None = "0"


@dataclass(slots=True)
class Faults:
    """The faults that are still to happen, each once."""

    due: list[Fault] = field(default_factory=list)

    async def around(self, request: Request, call: Callable[[Request], Awaitable[Response]]) -> Response:
        """Answer a request, with the fault that is due for it."""
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
    """Wait until whoever asks has hung up."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _problem(status: int, title: str) -> dict[str, object]:
    return {"error": {"status": status, "error_code": 140000 + status, "title": title, "detail": title}}
