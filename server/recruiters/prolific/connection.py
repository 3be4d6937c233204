"""Connection to Prolific's API: authentication, retries, and interpretation of responses."""

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx2
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import from_json
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt
from tenacity.wait import wait_random_exponential

from candor.common.network import BoundedClient
from server.recruiters.pay_platform import (
    NotThere,
    OutcomeUnknown,
    PlatformAnswer,
    PlatformBusy,
    PlatformRefused,
    PlatformUnreadable,
    RecruiterFailure,
    TokenRefused,
    Unreachable,
    Unwell,
)

API = "https://api.prolific.com"
_PATIENCE = 30.0  # time-out of a request in seconds
_TRIES = 5
_LONGEST_WAIT = 60.0  # seconds; a longer Retry-After is an error
_PAGES = 10_000  # limit of pages, against endless lists
Shape = TypeVar("Shape", bound=BaseModel)
Json = dict[str, Any]
Query = Mapping[str, str | int]


class PlatformConnection:
    """A connection to Prolific's API. Every call raises a RecruiterFailure on failure.

    Reads are repeated if Prolific is unreachable, has an error, or is busy. Changes are repeated only if
    Prolific answers that it was too busy; changes that must not be made twice are sent once (`once`).

    Use it in one event loop only.
    """

    def __init__(self, token: str, url: str = API, patience: float = _PATIENCE) -> None:
        """Create it without connecting.

        Args:
            token: a researcher's token, which does not expire and has all permissions.
            url: the address of Prolific's API, without `/api`.
            patience: the time-out of a request in seconds.
        """
        self._client = BoundedClient(
            base_url=url.rstrip("/"),
            headers={"Authorization": f"Token {token}", "Accept": "application/json"},
            timeout=patience,
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def get(self, operation: str, path: str, shape: type[Shape], query: Query | None = None) -> Shape:
        """Return what is at `path`."""
        return _parsed(operation, await self._again(operation, "GET", path, query=query), shape)

    async def every(
        self, operation: str, path: str, shape: type[Shape], query: Query | None = None
    ) -> AsyncIterator[Shape]:
        """Yield all entries of a list, over all its pages.

        The next page is read only if it is linked, because a page past the end is an error. Only the path and
        query of that link are used, so that the token is never sent to another host.
        """
        for _ in range(_PAGES):
            page = _parsed(operation, await self._again(operation, "GET", path, query=query), _Page)
            for entry in page.results:
                yield _read(operation, entry, shape)
            following = page.links.next.href
            if following is None:
                return
            parts = urlsplit(following)
            path, query = f"{parts.path}?{parts.query}", None
        raise PlatformUnreadable(operation, f"a list of more than {_PAGES} pages")

    async def change(
        self, operation: str, method: str, path: str, shape: type[Shape], body: Json | None = None
    ) -> Shape:
        """Send a change, and return the changed object."""
        answer = await self._again(operation, method, path, body=body)
        try:
            return _parsed(operation, answer, shape)
        except PlatformUnreadable as error:
            raise OutcomeUnknown(operation, error.message) from error

    async def tell(self, operation: str, method: str, path: str, body: Json | None = None) -> httpx2.Headers:
        """Send a change whose response has no content, and return the response's headers."""
        return (await self._again(operation, method, path, body=body)).headers

    async def once(self, operation: str, path: str) -> None:
        """Post to `path` once, without retries."""
        await self._asked(operation, "POST", path)

    async def _again(
        self, operation: str, method: str, path: str, *, query: Query | None = None, body: Json | None = None
    ) -> httpx2.Response:
        passing = (Unreachable, Unwell, PlatformBusy) if method == "GET" else (PlatformBusy,)
        tries = AsyncRetrying(
            retry=retry_if_exception(lambda error: isinstance(error, passing) and _may_be_waited_for(error)),
            wait=_pause,
            stop=stop_after_attempt(_TRIES),
            reraise=True,
        )
        return await tries(self._asked, operation, method, path, query, body)

    async def _asked(
        self, operation: str, method: str, path: str, query: Query | None = None, body: Json | None = None
    ) -> httpx2.Response:
        try:
            response = await self._client.request(method, path, params=query, json=body)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout) as error:
            raise Unreachable(operation, f"nobody is there ({type(error).__name__})") from error
        except httpx2.HTTPError as error:
            reason = f"no answer came ({type(error).__name__})"
            raise _lost(method, operation, reason) from error
        if response.is_success:
            return response
        raise _failure(operation, method, response)


class _Href(PlatformAnswer):
    href: str | None = None


class _Links(PlatformAnswer):
    next: _Href = _Href()


class _Page(BaseModel):
    results: list[Json]
    links: _Links = _Links()

    model_config = ConfigDict(
        extra="ignore", alias_generator=lambda name: {"links": "_links"}.get(name, name)
    )


def _lost(method: str, operation: str, reason: str) -> RecruiterFailure:
    return Unreachable(operation, reason) if method == "GET" else OutcomeUnknown(operation, reason)


def _failure(operation: str, method: str, response: httpx2.Response) -> RecruiterFailure:
    """Return the failure that an unsuccessful response means."""
    status = response.status_code
    if status == httpx2.codes.TOO_MANY_REQUESTS:
        return PlatformBusy(operation, _seconds(response.headers.get("Retry-After")))
    if status >= httpx2.codes.INTERNAL_SERVER_ERROR:
        reason = f"it answers {status}"
        return Unwell(operation, reason) if method == "GET" else OutcomeUnknown(operation, reason)
    said, code = _said(response)
    match status:
        case httpx2.codes.UNAUTHORIZED | httpx2.codes.FORBIDDEN:
            return TokenRefused(operation, said, status, code)
        case httpx2.codes.NOT_FOUND:
            return NotThere(operation, said, status, code)
        case _:
            return PlatformRefused(operation, said, status, code)


class _Detail(PlatformAnswer):
    title: str = ""
    detail: str | list[str] | dict[str, Any] = ""
    error_code: int | None = None


def _said(response: httpx2.Response) -> tuple[str, int | None]:
    """Return the message of a refusal in one line, and its number. Some responses have both under `error`."""
    try:
        body = from_json(response.content)
        detail = _Detail.model_validate(body.get("error", body))
    except (ValueError, AttributeError):
        return f"it answers {response.status_code}", None
    match detail.detail:
        case str(text):
            why = text
        case list(texts):
            why = "; ".join(texts)
        case fields:
            why = "; ".join(f"{name}: {_joined(found)}" for name, found in fields.items())
    return ": ".join(part for part in (detail.title, why) if part) or f"it answers {response.status_code}", (
        detail.error_code
    )


def _joined(found: object) -> str:
    return ", ".join(map(str, found)) if isinstance(found, list) else str(found)


def _seconds(retry_after: str | None) -> float | None:
    """Return the seconds of a `Retry-After` header (RFC 9110, section 10.2.3: a number or a date)."""
    if retry_after is None:
        return None
    if retry_after.strip().isdecimal():
        return float(retry_after)
    try:
        return max(0.0, (parsedate_to_datetime(retry_after) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None


def _may_be_waited_for(error: BaseException) -> bool:
    return not isinstance(error, PlatformBusy) or (error.retry_after or 0.0) <= _LONGEST_WAIT


_unasked = wait_random_exponential(multiplier=0.5, max=8.0)


def _pause(state: RetryCallState) -> float:
    """Return the seconds until the next attempt: as Prolific demands, or increasing."""
    error = state.outcome.exception() if state.outcome is not None else None
    if isinstance(error, PlatformBusy) and error.retry_after is not None:
        return error.retry_after
    return _unasked(state)


def _parsed(operation: str, response: httpx2.Response, shape: type[Shape]) -> Shape:
    try:
        return _read(operation, from_json(response.content), shape)
    except ValueError as error:
        raise PlatformUnreadable(operation, "the answer is no JSON") from error


def _read(operation: str, content: object, shape: type[Shape]) -> Shape:
    try:
        return shape.model_validate(content)
    except ValidationError as error:
        where = ", ".join(".".join(map(str, found["loc"])) for found in error.errors()[:3])
        raise PlatformUnreadable(operation, f"the answer is not as specified: {where}") from error
