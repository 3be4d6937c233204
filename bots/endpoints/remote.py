"""A server that is called over HTTP: limits on the time and size of its answers, and its failures."""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, TypeVar

import httpx2
import structlog
from pydantic import BaseModel, ValidationError

from bots.core.failures import BotError, BotTimeout
from bots.endpoints.address import PrivateAddress, PublicOnly
from bots.endpoints.key import Key
from bots.endpoints.provider_error import failure_of
from candor.common.network import UnreadableAnswer, bound_answer, trusted

CONNECT_SECONDS = 5.0
LARGEST_ANSWER = 1024 * 1024  # bytes: the thoughts behind a short reply may be long
LARGEST_STREAM = 32 * LARGEST_ANSWER  # bytes of a stream, which takes some 300 bytes for each token
_LOGGED = 200  # characters of a failed answer

# Idle connections are closed before the server closes them: uvicorn's limit, a common one, is 5 s.
_CONNECTIONS = httpx2.Limits(max_connections=None, keepalive_expiry=2.0)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")

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
        body = _short(self.body(response))
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
    """An HTTP client that raises BotError if no answer comes."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        try:
            return await super().send(request, **options)
        except httpx2.HTTPError as error:
            raise self._failure(error) from error

    def _failure(self, error: httpx2.HTTPError) -> BotError:
        match error:
            case PrivateAddress() | UnreadableAnswer():
                return BotError(str(error))
            case httpx2.ConnectTimeout():
                return _unreached(BotTimeout(f"no connection within {self.timeout.connect:g} s"))
            case httpx2.ConnectError():
                return _unreached(BotError(f"no connection: {_short(str(error))}"))
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


def _short(text: str) -> str:
    return _CONTROL.sub(" ", text)[:_LOGGED]


async def _bound(response: httpx2.Response) -> None:
    """Limit the size of `response`. Of an error only the beginning is read. Raises UnreadableAnswer."""
    bound_answer(response, LARGEST_STREAM if is_stream(response) else LARGEST_ANSWER)


def is_stream(response: httpx2.Response) -> bool:
    """Return whether an answer comes as server-sent events."""
    return bool(response.headers.get("Content-Type", "").startswith("text/event-stream"))
