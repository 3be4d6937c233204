"""A moderation service to try things with: a real server that remembers what it was asked."""

import asyncio
import threading
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

PATH = "/v1/moderations"
MODEL = "omni-moderation-1"


@dataclass
class ModerationStandIn:
    """Flags lines with "grumble" in them; takes no "unreadable" or "filtered" one, and breaks on "breaking".
    `asked`: the lines of each request. `faults`: what it answers first. `key`: what it wants as bearer token.
    `held`: answers wait until it is set; `reached` is set by the first request.
    """

    asked: list[list[str]] = field(default_factory=list)
    faults: list[Response] = field(default_factory=list)
    key: str | None = None
    held: threading.Event | None = None
    reached: threading.Event = field(default_factory=threading.Event)

    @property
    def app(self) -> Starlette:
        return Starlette(routes=[Route(PATH, self._judge, methods=["POST"])])

    @property
    def lines(self) -> list[str]:
        return [line for lines in self.asked for line in lines]

    async def _judge(self, request: Request) -> Response:
        if self.key is not None and request.headers.get("authorization") != f"Bearer {self.key}":
            return JSONResponse({"error": {"message": "Incorrect API key."}}, 401)
        lines = (await request.json())["input"]
        self.asked.append(lines)
        self.reached.set()
        if self.held is not None:
            await asyncio.to_thread(self.held.wait)
        if self.faults:
            return self.faults.pop(0)
        if any("unreadable" in line for line in lines):
            return JSONResponse({"error": {"message": f"cannot read {lines}"}}, 400)
        if any("filtered" in line for line in lines):
            return JSONResponse({"error": {"message": "no", "code": "content_filter"}}, 400)
        if any("breaking" in line for line in lines):
            return failing(500)
        return JSONResponse({"id": "modr-1", "model": MODEL, "results": [_result(line) for line in lines]})


def _result(line: str) -> dict[str, Any]:
    found = "grumble" in line
    return {
        "flagged": found,
        "categories": {"harassment": found, "hate": False, "violence": found},
        "category_scores": {"harassment": 0.9 if found else 0.01, "hate": 0.02, "violence": 0.5},
    }


def busy(seconds: int) -> Response:
    """The answer of a service that is asked too often."""
    return Response(status_code=429, headers={"Retry-After": str(seconds)})


def failing(status: int) -> Response:
    """The answer of one that is unwell, and can be asked again at once."""
    return Response(status_code=status, headers={"Retry-After": "0"})


def refusing() -> Response:
    """The answer of one that takes no request."""
    return Response(status_code=400)
