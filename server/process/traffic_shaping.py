"""Slow down an address that sends too many requests: delay them, or refuse them."""

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

MOST_SECONDS = 10.0  # longest delay: pages still load completely, and few requests wait at a time
_FEW = 1_024
_network_of = lru_cache(4 * _FEW)(network_of)


class Shaper:
    """Schedules requests per address with the generic cell rate algorithm (ITU-T I.371, annex A) as a queue.

    A /64 network of IPv6 counts as one address. The state of an address is one number, its theoretical
    arrival time, which is kept only while it is in the future. `refused`: the number of refused requests.

    Args:
        limit: the size of a burst, and the time in which as many further requests are served.
        exempt: addresses that never wait.
        most: the longest delay in seconds.
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
        """Return the number of addresses with a state."""
        return len(self._arrivals)

    def refusal(self, address: str, now: float) -> int | None:
        """Return after how many seconds a request would be accepted; None if it is accepted now."""
        if not self._arrivals or address in self._exempt:
            return None
        wait = self._wait(self._arrivals.get(_network_of(address), now), now)
        if wait <= self._most:
            return None
        self.refused += 1
        return math.ceil(wait - self._most)

    def take(self, address: str, now: float) -> float:
        """Count an accepted request; return its delay in seconds. Call `refusal` first."""
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
    """ASGI middleware: delays or refuses requests and WebSockets."""

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
    """Return the bytes of a refusal, after which the connection is closed."""
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
