"""Slow down an address that asks too much: delay its requests, or refuse them."""

import asyncio
import json
import math
from collections.abc import Container
from functools import lru_cache
from time import monotonic

from limits import RateLimitItem
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from server.access.rate_limit import network_of
from server.errors import ErrorBody, ErrorDetail, TooMany

MOST_SECONDS = 10.0  # that a request waits; a page that loads stays whole, and few requests wait at a time
_FEW = 1_024
_network_of = lru_cache(4 * _FEW)(network_of)


class Shaper:
    """Gives each address its turn: the generic cell rate algorithm (ITU-T I.371, annex A) as a queue.

    Addresses of one household, a /64 network of IPv6, are one. A number is kept of it, its theoretical
    arrival time, and only while that lies ahead. `refused` counts what was given no turn.

    Args:
        limit: how many requests are served at once, and in which time as many more are.
        exempt: addresses that never wait.
        most: how many seconds a request waits.
    """

    def __init__(self, limit: RateLimitItem, exempt: Container[str], most: float = MOST_SECONDS) -> None:
        self.refused = 0
        self._burst = float(limit.get_expiry())
        self._each = self._burst / limit.amount
        self._exempt = exempt
        self._most = most
        self._arrivals: dict[str, float] = {}
        self._enough = _FEW

    def __len__(self) -> int:
        """Return of how many households something is kept."""
        return len(self._arrivals)

    def refusal(self, address: str, now: float) -> int | None:
        """Return in how many seconds a request would be given a turn; None: one that comes now is."""
        if not self._arrivals or address in self._exempt:
            return None
        wait = self._wait(self._arrivals.get(_network_of(address), now), now)
        if wait <= self._most:
            return None
        self.refused += 1
        return math.ceil(wait - self._most)

    def take(self, address: str, now: float) -> float:
        """Give a turn; return in how many seconds it is. `refusal` says beforehand whether there is one."""
        if address in self._exempt:
            return 0.0
        if len(self._arrivals) >= self._enough:
            self._forget(now)
        network = _network_of(address)
        arrival = max(self._arrivals.get(network, now), now)
        self._arrivals[network] = arrival + self._each
        return max(self._wait(arrival, now), 0.0)

    def _wait(self, arrival: float, now: float) -> float:
        return arrival + self._each - self._burst - now

    def _forget(self, now: float) -> None:
        self._arrivals = {network: at for network, at in self._arrivals.items() if at > now}
        self._enough = max(_FEW, 2 * len(self._arrivals))


class TrafficShaping:
    """ASGI middleware: each request and each WebSocket waits for its turn."""

    def __init__(self, app: ASGIApp, shaper: Shaper) -> None:
        self._app = app
        self._shaper = shaper

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or connection."""
        if scope["type"] != "lifespan":
            address, now = scope["client"][0] if scope["client"] else "unknown", monotonic()
            seconds = self._shaper.refusal(address, now)
            if seconds is not None:
                await _refused(seconds)(scope, receive, send)
                return
            if wait := self._shaper.take(address, now):
                await asyncio.sleep(wait)
        await self._app(scope, receive, send)


def refusal_bytes(seconds: int) -> bytes:
    """Return a refusal as it goes over a connection that is closed then."""
    response = _refused(seconds)
    head = b"".join(b"%b: %b\r\n" % header for header in response.raw_headers)
    return b"HTTP/1.1 429 Too Many Requests\r\n" + head + b"\r\n" + bytes(response.body)


def _refused(seconds: int) -> Response:
    headers = {"Retry-After": str(seconds), "Connection": "close"}
    return Response(_REFUSAL, TooMany.status, headers, "application/json")


_REFUSAL = json.dumps(
    ErrorBody(
        error=ErrorDetail(code=TooMany.code, message="too many requests from this address", hint=TooMany.hint)
    ).model_dump()
)
