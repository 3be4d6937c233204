"""Requests to endpoints and their answers, recorded for somebody who tries a bot."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import httpx2

from bots.endpoints.address import Key

LONGEST_RECORDED = 40_000  # characters of a body


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A request and its answer: the bodies only, so no headers, and with the key removed.

    `status`: None if no answer came.
    """

    sent: str
    status: int | None = None
    received: str = ""


_recorded: ContextVar[list[RecordedCall] | None] = ContextVar("calls", default=None)


@contextmanager
def recorded() -> Iterator[list[RecordedCall]]:
    """Record the requests that are made inside, also by tasks that are created there."""
    calls: list[RecordedCall] = []
    outer = _recorded.set(calls)
    try:
        yield calls
    finally:
        _recorded.reset(outer)


def record(request: httpx2.Request, response: httpx2.Response | None, key: Key | None) -> None:
    """Record a request and its answer, if there was one, where `recorded` is in effect."""
    calls = _recorded.get()
    if calls is None:
        return
    sent = _text(request.content, key)
    if response is None:
        calls.append(RecordedCall(sent))
    else:
        calls.append(RecordedCall(sent, response.status_code, _text(response.content, key)))


def _text(body: bytes, key: Key | None) -> str:
    text = body.decode("utf-8", "replace")
    return (text if key is None else key.hidden(text))[:LONGEST_RECORDED]
