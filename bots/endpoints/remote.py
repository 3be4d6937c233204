"""A server that is called over HTTP: limits on the time and size of its answers, and its failures.

A failure has a kind, the server's own words, and the time to wait before the next call. Sources of the
formats: OpenAI "Error codes" ({"error": {"message", "type", "param", "code"}}, also vLLM's, TGI's and
llama.cpp's), Azure OpenAI "Content filtering" (400 with the code `content_filter`), Anthropic "Errors"
({"type": "error", "error": {"type", "message"}}; 529 is `overloaded_error`), Google's API design guide
AIP-193 ({"error": {"code", "status", "message", "details"}}; `google.rpc.RetryInfo` has the delay), Amazon
Bedrock "Common errors" ({"message"}), Ollama ({"error": "…"}), FastAPI ({"detail": "…"}).
"""

import json
import re
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

import httpx2
import structlog
from pydantic import BaseModel, ValidationError

from bots.core.failures import BotBusy, BotError, BotTimeout, BrokenOff, BudgetSpent, ChatRefused, Declined
from bots.endpoints.address import Key, PrivateAddress, PublicOnly
from bots.endpoints.recorded_calls import record
from candor.common.network import UnreadableAnswer, bound_answer, trusted

LONGEST_MESSAGE = 300  # characters of the provider's words
_WORDS = ("message", "detail", "msg", "Message", "error_description")
_LARGEST_PAGE = 4_000  # characters that are searched for its words: the search takes quadratic time
_LONGEST_PAGE = 200  # characters of an answer that is a page or plain text
_LONGEST_WAIT = 3_600.0
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
_TAGS = re.compile(r"<(script|style|title)\b.*?</\1\s*>|<[^<>]{0,500}>", re.IGNORECASE | re.DOTALL)
# Statuses of servers that work. Any other status counts against the replica. 529: Anthropic is overloaded.
_BY_STATUS: dict[int, type[BotError]] = {
    400: ChatRefused,
    402: BudgetSpent,
    413: ChatRefused,
    422: ChatRefused,
    429: BotBusy,
    503: BotBusy,
    529: BotBusy,
}
_BY_CODE: dict[str, type[BotError]] = {
    "billing_error": BudgetSpent,
    "content_filter": Declined,
    "content_policy_violation": Declined,
    "insufficient_quota": BudgetSpent,
    "budget_exceeded": BudgetSpent,
}
# Messages that come with the code of a bad request: Anthropic, DeepSeek, OpenAI, OpenRouter, LiteLLM.
_NO_MONEY = re.compile(
    r"credit balance is too low|insufficient (?:balance|credits)|billing hard limit"
    r"|budget (?:has been )?exceeded|exceeded ?budget|(?:requires|need) more credits",
    re.IGNORECASE,
)
# Of Gemini and xAI, which answer 400 to a wrong key.
_WRONG_KEY = re.compile(r"(?:incorrect|invalid) api key|api key (?:not valid|is invalid)", re.IGNORECASE)
_MEANING = {
    400: "it does not take the request",
    404: "there is nothing at this address: check url and, where there is one, model",
    413: "the conversation is too long for it",
    422: "it does not take the request",
    429: "it is asked too often, or a quota is used up",
    503: "it is busy, or still loading",
    529: "it is busy",
}


@dataclass(frozen=True, slots=True)
class _Said:
    """The error in an answer: the message for people, and the codes for programs."""

    message: str = ""
    codes: tuple[str, ...] = ()
    delay: str | None = None


def failure_of(status: int, headers: Mapping[str, str], body: str, variable: str | None) -> BotError:
    """Return the failure for an answer whose status is not 200.

    Args:
        status: of the answer.
        headers: of the answer, with case-insensitive names.
        body: of the answer, without the key.
        variable: the environment variable of the key, if one was sent.
    """
    said = _said(body)
    told = f'says "{said.message}"' if said.message else "the log has the beginning of the answer"
    if status == 401 or _WRONG_KEY.search(said.message):
        error = BotError(f"{_key_refused(variable)} (status {status}; {told})")
        error.retry, error.out = False, True
        return error
    kind = _kind(said) or _BY_STATUS.get(status, BotError)
    meaning = _meaning(kind, status, variable, _redirected(headers))
    error = kind(f"{meaning} (status {status}; {told})")
    error.after = _after(headers, said.delay)
    return error


def error_within(body: str, *, certainly: bool = False) -> BotError | None:
    """Return the failure that a part of an answer with status 200 reports; None if it reports none.

    Args:
        body: an event of a stream, or a whole answer, without the key.
        certainly: the event is called an error, whatever its contents.
    """
    if not (certainly or _holds_error(body)):
        return None
    said = _said(body)
    kind = _kind(said) or next((_BY_STATUS[code] for code in _statuses(said) if code in _BY_STATUS), None)
    if kind is None:
        return broken_off(f'an error, "{said.message or ", ".join(said.codes) or _short(body)}"')
    status = next(iter(_statuses(said)), 200)
    return kind(f'{_meaning(kind, status, None)} (it says "{said.message}")')


def broken_off(end: str) -> BrokenOff:
    """Return the failure of an answer that ended with `end`, in the provider's words or ours."""
    return BrokenOff(f"the answer broke off, and half a reply is not shown: it ended with {_short(end)}")


def unknown_end(finish: str | None, known: Collection[str], *, required: bool) -> BrokenOff | None:
    """Return the failure of an answer whose finish reason is not among `known`; None if it is complete.

    Args:
        finish: the finish reason, in the service's word.
        known: the finish reasons of complete answers, and those that are handled elsewhere.
        required: the service always gives a reason. Otherwise a missing reason is no failure, because some
            servers of whole bodies give none.
    """
    if not finish:
        return broken_off("no reason for its end") if required else None
    return None if finish in known else broken_off(f'"{_short(finish)}"')


def _holds_error(body: str) -> bool:
    if '"error"' not in body:
        return False
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and bool(found.get("error") or found.get("type") == "error")


def _kind(said: _Said) -> type[BotError] | None:
    """Return the failure that the provider's words name; None if they name none."""
    if _NO_MONEY.search(said.message):
        return BudgetSpent
    return next((_BY_CODE[code] for code in said.codes if code in _BY_CODE), None)


def _statuses(said: _Said) -> list[int]:
    """Return the HTTP statuses among an error's codes: some gateways answer 200 and put the status there."""
    return [int(code) for code in said.codes if re.fullmatch(r"[45]\d\d", code)]


def _key_refused(variable: str | None) -> str:
    if variable is None:
        return "it requires a key: name the environment variable that holds it as `key`"
    return f"it does not accept the key in the environment variable {variable}"


def _redirected(headers: Mapping[str, str]) -> str:
    """Return the address that a redirect leads to, without names, passwords and parameters; or no text."""
    target = urlsplit(_short(headers.get("location"), _LONGEST_PAGE))
    place = target.netloc.rpartition("@")[2]
    return f"{target.scheme}://{place}{target.path}" if target.scheme and place else target.path


def _meaning(kind: type[BotError], status: int, variable: str | None, redirected: str = "") -> str:
    if kind is BudgetSpent:
        return "the provider's quota is used up, or its account has no money"
    if kind is Declined:
        return "a filter of the provider kept the answer back"
    if status in (401, 403):
        return _key_refused(variable)
    if 300 <= status < 400:
        to = f" to {redirected}" if redirected else ""
        return f"it redirects{to}, which is not followed: write the address that it leads to"
    return _MEANING.get(status, "it did not answer the question")


def _said(body: str) -> _Said:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return _Said(_page(body))
    if isinstance(found, list) and found:  # Google's OpenAI-compatible API puts the error into a list
        found = found[0]
    if not isinstance(found, dict):
        return _Said()
    error = found.get("error", found)
    if not isinstance(error, dict):
        return _Said(_short(error))
    message = next((words for name in _WORDS if (words := _told(error.get(name)))), "")
    codes = tuple(str(error[name]) for name in ("code", "type", "status") if error.get(name))
    return _Said(_short(message), codes, _retry_delay(error.get("details")))


def _told(words: Any) -> str:
    """Return an error's words; those of FastAPI are a list of problems, each with its place."""
    if not isinstance(words, list):
        return words if isinstance(words, str) else ""
    problems = [each for each in words if isinstance(each, dict) and isinstance(each.get("msg"), str)]
    return "; ".join(f"{'.'.join(map(str, each.get('loc', ())))}: {each['msg']}" for each in problems)


def _page(body: str) -> str:
    """Return the first words of a page or of plain text."""
    return _short(" ".join(_TAGS.sub(" ", body[:_LARGEST_PAGE]).split()), _LONGEST_PAGE)


def _retry_delay(details: Any) -> str | None:
    """Return the delay of Google's RetryInfo, as "34s"."""
    for detail in details if isinstance(details, list) else ():
        if isinstance(detail, dict) and isinstance(delay := detail.get("retryDelay"), str):
            return delay.removesuffix("s")
    return None


def _after(headers: Mapping[str, str], delay: str | None) -> float | None:
    """Return the seconds for which not to call the server (RFC 9110, section 10.2.3: seconds or a date)."""
    given = headers.get("retry-after") or delay
    if given is None:
        return None
    try:
        seconds = float(given)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(given) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError):
            return None
    return min(max(seconds, 0.0), _LONGEST_WAIT) if isfinite(seconds) else None


def _short(text: object, longest: int = LONGEST_MESSAGE) -> str:
    return _CONTROL.sub(" ", text)[:longest] if isinstance(text, str) else ""


CONNECT_SECONDS = 5.0
LARGEST_ANSWER = 1024 * 1024  # bytes: the thoughts behind a short reply may be long
LARGEST_STREAM = 32 * LARGEST_ANSWER  # bytes of a stream, which takes some 300 bytes for each token
_DONE = re.compile(rb"[\r\n]data: {0,4}\[DONE\]")
_LONGEST_DONE = len("\ndata:    [DONE]")
_LOGGED = 200  # characters of a failed answer or connection that are logged

# Idle connections are closed before the server closes them: uvicorn's limit, a common one, is 5 s.
_CONNECTIONS = httpx2.Limits(max_connections=None, keepalive_expiry=2.0)

Shape = TypeVar("Shape", bound=BaseModel)
log = structlog.get_logger()


class Remote:
    """A server at `url`.

    Redirects are not followed. Answers are read up to LARGEST_ANSWER bytes, streams up to LARGEST_STREAM.

    Belongs to the event loop in which it is first asked.
    """

    def __init__(
        self,
        url: str,
        key: Key | None,
        *,
        refuse_private: bool,
        patience: float,
        key_header: str = "Authorization",
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
    ) -> None:
        """Prepare a client; nothing is sent yet.

        Args:
            url: the common beginning of all addresses.
            key: sent with every request: as a bearer token in `Authorization`, unchanged in any other header.
            refuse_private: connect to public addresses only.
            patience: seconds of silence after which a request fails.
            key_header: the header for the key.
            headers: sent with every request.
            query: parameters of every request.
        """
        self.url = url
        self.key = key

        # Uncompressed, because a small compressed answer could unpack to a huge one.
        sent = {**(headers or {}), "Accept-Encoding": "identity"}
        if key is not None:
            sent[key_header] = f"Bearer {key.value}" if key_header == "Authorization" else key.value
        self.client = _Client(
            key,
            headers=sent,
            params=dict(query or {}),
            timeout=httpx2.Timeout(patience, connect=min(CONNECT_SECONDS, patience)),
            limits=_CONNECTIONS,
            # A client with its own transport ignores the environment's proxies, which would connect on
            # its behalf to any address.
            verify=trusted(),
            transport=PublicOnly(_CONNECTIONS) if refuse_private else None,
            event_hooks={"response": [_bound]},
        )

    async def post(self, path: str, shape: type[Shape], **body: Any) -> Shape:
        """Return the answer to `body` (httpx2's `json` or `content`).

        Raises:
            BotError: there was no answer, or it does not have that `shape`.
        """
        return self.parsed(await self.client.post(self.url + path, **body), shape)

    async def get(self, path: str) -> httpx2.Response:
        """Return the answer to a heartbeat, whatever its status. Raises BotError if there was none."""
        return await self.client.get(self.url + path)

    def parsed(self, response: httpx2.Response, shape: type[Shape]) -> Shape:
        """Return the contents of `response`. Raises BotError if they are not JSON of that `shape`."""
        return self.parsed_json(self.checked(response), shape)

    def checked(self, response: httpx2.Response) -> httpx2.Response:
        """Return `response`. Raises BotError if its status is not 200."""
        if response.status_code != 200:
            raise self.refusal(response)
        return response

    def parsed_json(self, response: httpx2.Response, shape: type[Shape]) -> Shape:
        """Return the contents of the body of `response`.

        Raises BotError if they are not JSON of that `shape`.
        """
        for content in (response.content, whole(response.content)):
            with suppress(ValidationError):
                return shape.model_validate_json(content)
        raise self.unreadable(response)

    def unreadable(self, response: httpx2.Response) -> BotError:
        """Return the failure of an answer in an unexpected form, and log the beginning of the answer."""
        self._log(response)
        return BotError("the answer is not JSON of the expected form; the log shows its beginning")

    def refusal(self, response: httpx2.Response) -> BotError:
        """Return the failure for a status other than 200, and log the beginning of the answer."""
        self._log(response)
        variable = None if self.key is None else self.key.variable
        return failure_of(response.status_code, response.headers, self.body(response), variable)

    async def close(self) -> None:
        """Close all connections."""
        await self.client.aclose()

    def body(self, response: httpx2.Response) -> str:
        """Return the body as text, with the key removed."""
        body = response.content.decode("utf-8", "replace")
        return body if self.key is None else self.key.hidden(body)

    def _log(self, response: httpx2.Response) -> None:
        body = _short(self.body(response), _LOGGED)
        log.warning("endpoint failed", url=self.url, status=response.status_code, body=body)


class RemoteBot:
    """Base class of bots at one server."""

    def __init__(self, remote: Remote) -> None:
        """Ask `remote`."""
        self._remote = remote

    @property
    def url(self) -> str:
        """The address of the server."""
        return self._remote.url

    async def close(self) -> None:
        """Close all connections."""
        await self._remote.close()


class _Client(httpx2.AsyncClient):
    """An HTTP client that raises BotError if no answer comes. `key` is removed from what is recorded."""

    def __init__(self, key: Key | None, **options: Any) -> None:
        super().__init__(**options)
        self._key = key

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        try:
            response = await super().send(request, **options)
        except httpx2.HTTPError as error:
            record(request, None, self._key)
            raise self._failure(error) from error
        record(request, response, self._key)
        return response

    def _failure(self, error: httpx2.HTTPError) -> BotError:
        match error:
            case PrivateAddress() | UnreadableAnswer():
                return BotError(str(error))
            case httpx2.ConnectTimeout():
                return _unreached(BotTimeout(f"no connection within {self.timeout.connect:g} s"))
            case httpx2.ConnectError():
                return _unreached(BotError(f"no connection: {_short(str(error), _LOGGED)}"))
            case httpx2.TimeoutException():
                return BotTimeout(f"silent for {self.timeout.read:g} s")
            case httpx2.NetworkError() | httpx2.RemoteProtocolError():
                return BotError("the connection broke off, or what came was not HTTP")
        return BotError(f"could not be asked ({type(error).__name__})")


def _unreached(error: BotError) -> BotError:
    error.unreached = True
    return error


def whole(body: bytes) -> bytes:
    """Return JSON without lone surrogates, such as an emoji that was cut in half by a limit of tokens."""
    try:
        return json.dumps(json.loads(body), ensure_ascii=False).encode("utf-8", "ignore")
    except (ValueError, RecursionError):
        return body


async def _bound(response: httpx2.Response) -> None:
    """Limit the size of `response`. Of an error only the beginning is read. Raises UnreadableAnswer."""
    bound_answer(response, LARGEST_STREAM if is_stream(response) else LARGEST_ANSWER)
    response.stream = _UntilDone(cast(httpx2.AsyncByteStream, response.stream))


class _UntilDone(httpx2.AsyncByteStream):
    """A stream that ends with the event [DONE], after which some servers keep the connection open."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        end = b"\n"
        async for chunk in self._stream:
            yield chunk
            end = end[-_LONGEST_DONE:] + chunk
            if _DONE.search(end):
                return

    async def aclose(self) -> None:
        await self._stream.aclose()


def is_stream(response: httpx2.Response) -> bool:
    """Return whether an answer comes as server-sent events."""
    return bool(response.headers.get("Content-Type", "").startswith("text/event-stream"))
