"""Endpoints as a study file describes them, and the bots that they open."""

import re
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    HttpUrl,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from bots.core.chat import Chat, Provenance, Reply
from bots.core.chat_request import chat_json
from bots.core.failures import BotBusy, BotError, ChatRefused
from bots.core.persona_prompt import DEFAULT_PROMPT
from bots.core.visible_text import LONGEST_OUTPUT, checked_line, rechecked
from bots.endpoints.address import host_of, is_on_this_machine
from bots.endpoints.anthropic import VERSION as ANTHROPIC_VERSION
from bots.endpoints.anthropic import AnthropicApi
from bots.endpoints.bedrock import BedrockApi
from bots.endpoints.cost import Estimate, PlannedCalls
from bots.endpoints.gemini import GeminiApi
from bots.endpoints.hosted import Api, ModelApiBot, Prices, Refusals
from bots.endpoints.key import EndpointError, key_from
from bots.endpoints.openai import OpenAiApi
from bots.endpoints.parlai_web import ParlaiWebBot
from bots.endpoints.provider_error import unknown_end
from bots.endpoints.remote import Remote, RemoteBot
from bots.endpoints.replicas import Replica, Replicas
from bots.shown import Change

# `POST {url}/reply` takes {"conversation_id", "seed", "persona": [...], "turns": [{"author", "text"}]} and
# answers 200 {"text": ...} (an empty text means that the bot has no reply), 422 to a chat that it does not
# accept, or 503 while it is busy. `GET {url}/health`, which is optional, answers 200 {"ready": true} as long
# as the server accepts chats.
#
# The text is cleaned here before it is shown. "finish_reason": "length" means that a limit cut the text off.
# "stop" means that it is whole; with any other "finish_reason" it broke off, and is requested again. A server
# of a model that thinks should send the raw output as "output" beside the text, and may name the "changes"
# (`bots.core.chat.Reply`), as a bot host does; thoughts in the text alone fail a check. Any server may send
# "provenance", with the fields of `bots.core.chat.Provenance` that it knows.
_ENDS = frozenset({"stop", "length"})
_JSON = {"Content-Type": "application/json"}


class _Answer(BaseModel):
    text: str
    finish_reason: str | None = None
    output: Annotated[str, Field(max_length=LONGEST_OUTPUT)] | None = None
    changes: tuple[Change, ...] = ()
    provenance: Provenance | None = None


class _Health(BaseModel):
    ready: bool = True


class HttpBot(RemoteBot):
    """A server of Candor's own HTTP contract, which answers whole chats."""

    async def reply(self, chat: Chat) -> Reply:
        """Return the server's answer. Raises BotError."""
        try:
            content = chat_json(chat)
        except ValueError as error:
            raise ChatRefused("the conversation is too long to be sent to this server") from error
        answer = await self._remote.post("/reply", _Answer, content=content, headers=_JSON)
        try:
            if broken := unknown_end(answer.finish_reason, _ENDS, required=False):
                broken.output = (answer.output or answer.text)[:LONGEST_OUTPUT] or None
                raise broken
            if answer.output is not None:
                return rechecked(Reply(answer.text, answer.output, answer.changes, answer.provenance))
            reply = checked_line(answer.text, at_limit=answer.finish_reason == "length")
        except BotError as error:
            error.provenance = answer.provenance
            raise
        return replace(reply, provenance=answer.provenance)

    async def probe(self) -> None:
        """Read the server's health; a server without it passes. Raises BotError: it accepts no chats."""
        response = await self._remote.get("/health")
        if response.status_code == 404:
            return
        if response.status_code != 200:
            raise self._remote.refusal(response)
        with suppress(ValidationError):  # 200 is enough, unless it says that it is not ready
            if not _Health.model_validate_json(response.content).ready:
                raise BotBusy("it is not ready: still loading, or shutting down")


PATIENCE = 60.0
MOST_PAID_CALLS = 3  # for one line of a conversation: a paid call is repeated twice at most

_URL = TypeAdapter(HttpUrl)


def _plain_url(text: str) -> str:
    try:
        url = str(_URL.validate_python(text))
    except ValidationError as error:
        reason = error.errors(include_url=False)[0]["msg"].removeprefix("Input should be a valid URL, ")
        raise ValueError(f"expected an address that begins with http:// or https:// ({reason})") from error
    parts = urlsplit(url)
    if parts.username or parts.password:
        raise ValueError("a url carries no user or password; name the environment variable of a key as `key`")
    if parts.query or parts.fragment:
        raise ValueError("a url ends with its path, without ? and #")
    return url.rstrip("/")


def _distinct(urls: list[str]) -> list[str]:
    if len(set(urls)) < len(urls):
        raise ValueError("a replica is listed twice")
    return urls


Url = Annotated[str, StringConstraints(strip_whitespace=True), AfterValidator(_plain_url)]
Urls = Annotated[list[Url], Field(min_length=1, max_length=100), AfterValidator(_distinct)]
# Lower case is refused: such a value may be a key, put here by mistake, which errors would then show.
Variable = Annotated[str, StringConstraints(pattern=r"^[A-Z_][A-Z0-9_]*$", max_length=100)]


class _Kind(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Price(_Kind):
    """The price of a million tokens, in any currency.

    `input`: of tokens sent. `output`: of tokens generated, thoughts included.
    """

    input: Annotated[float, Field(ge=0, le=1_000_000, strict=True)]
    output: Annotated[float, Field(ge=0, le=1_000_000, strict=True)]


def _own_header(name: str) -> str:
    if not _HEADER.fullmatch(name):
        raise ValueError("a header's name has letters, digits and -")
    if name.lower() in _CONNECTION_HEADERS:
        raise ValueError(f"{name} belongs to the connection, and the server sets it: leave it out")
    if name.lower() in _SECRET_HEADERS:
        raise ValueError(
            "keys are not written into a study: name the environment variable that holds it as `key`"
        )
    return name


def _key_header(name: str) -> str:
    if not _HEADER.fullmatch(name):
        raise ValueError("a header's name has letters, digits and -")
    if name.lower() in _CONNECTION_HEADERS:
        raise ValueError(f"{name} belongs to the connection, and cannot hold a key")
    return name


_HEADER = re.compile(r"[A-Za-z0-9-]{1,100}")
_SECRET_HEADERS = frozenset(
    {"authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie"}
)
# If set by hand, the server and a proxy before it could parse one request in two different ways.
_CONNECTION_HEADERS = frozenset(
    {
        *("host", "content-length", "transfer-encoding", "expect", "upgrade", "te", "trailer"),
        *("connection", "keep-alive", "proxy-authenticate", "proxy-connection"),
        *("content-type", "content-encoding"),
    }
)
_Line = Annotated[str, StringConstraints(pattern=r"^[ -~]*$", max_length=1_000)]
Tokens = Annotated[int, Field(ge=1, le=10_000_000, strict=True)]
Seed = Annotated[int, Field(gt=-(2**53), lt=2**53, strict=True)]  # as a browser holds it exactly
HeaderName = Annotated[str, AfterValidator(_own_header)]
Model = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
Stop = Annotated[list[Annotated[str, Field(min_length=1, max_length=100)]], Field(max_length=16)]


class _Hosted(_Kind):
    """A model of a service. Options that are not given are not sent.

    `key` names the environment variable that holds the key. `prompt` is the instruction; {persona} in it
    becomes the persona, and without a persona, paragraphs with {persona} are left out. `headers` are
    additional headers. `extra_body` is merged into the request, whatever it contains. `refusals`: whether a
    model's refusal counts as its reply or as a failure; both are recorded. `price` and `spending_cap` are in
    the same currency: above the cap the bot answers nobody.
    """

    urls: Urls
    model: Model
    key: Variable | None = None
    prompt: Annotated[str, StringConstraints(max_length=20_000)] = DEFAULT_PROMPT
    temperature: Annotated[float, Field(ge=0, le=2, strict=True)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1, strict=True)] | None = None
    max_tokens: Tokens | None = None
    stop: Stop | None = None
    headers: dict[HeaderName, _Line] = {}
    extra_body: dict[str, Any] = {}
    refusals: Refusals = "failure"
    price: Price | None = None
    spending_cap: Annotated[float, Field(gt=0, le=100_000_000, strict=True)] | None = None

    @model_validator(mode="after")
    def _priced(self) -> "_Hosted":
        if self.spending_cap is not None and self.price is None:
            raise ValueError("a `spending_cap` needs the `price` of a million tokens, by which it is counted")
        return self


class OpenAiEndpoint(_Hosted):
    """Equivalent servers of OpenAI's chat completions.

    A url ends before `/chat/completions` (mostly in `/v1`). The key goes into `key_header`: into
    Authorization as a bearer token, into any other header as it is (Azure: `api-key`). `query` is sent with
    every request. `stream` is for servers that answer in streams only.
    """

    kind: Literal["openai"]
    max_completion_tokens: Tokens | None = None
    seed: Seed | None = None
    reasoning_effort: Annotated[str, StringConstraints(pattern=r"^[a-z]{1,20}$")] | None = None
    query: dict[Annotated[str, Field(min_length=1, max_length=100)], _Line] = {}
    key_header: Annotated[str, Field(pattern=_HEADER.pattern), AfterValidator(_key_header)] = "Authorization"
    stream: bool = False


class AnthropicEndpoint(_Hosted):
    """Anthropic's Messages API. A url ends before `/messages`. `max_tokens` is required by the API."""

    kind: Literal["anthropic"]
    urls: Urls = ["https://api.anthropic.com/v1"]
    max_tokens: Tokens = 1_024


class GeminiEndpoint(_Hosted):
    """Google's Gemini API, generateContent. A url ends before `/models`."""

    kind: Literal["gemini"]
    urls: Urls = ["https://generativelanguage.googleapis.com/v1beta"]
    seed: Seed | None = None


class BedrockEndpoint(_Hosted):
    """Amazon Bedrock's Converse at https://bedrock-runtime.REGION.amazonaws.com, with a Bedrock API key."""

    kind: Literal["bedrock"]


class HttpEndpoint(_Kind):
    """Equivalent servers of Candor's own contract (`bots.endpoints.endpoint`)."""

    kind: Literal["http"]
    urls: Urls
    key: Variable | None = None


class ParlaiWebEndpoint(_Kind):
    """Equivalent processes of ParlAI's `interactive_web`, for the exclusive use of this server."""

    kind: Literal["parlai-web"]
    urls: Urls


class DialInEndpoint(_Kind):
    """Any number of equivalent bot hosts that connect to the server by themselves."""

    kind: Literal["dial-in"]


HostedEndpoint = OpenAiEndpoint | AnthropicEndpoint | GeminiEndpoint | BedrockEndpoint
UrlEndpoint = Annotated[HostedEndpoint | HttpEndpoint | ParlaiWebEndpoint, Field(discriminator="kind")]
Endpoint = Annotated[
    HostedEndpoint | HttpEndpoint | ParlaiWebEndpoint | DialInEndpoint, Field(discriminator="kind")
]


def open_endpoint(
    endpoint: Endpoint, *, refuse_private: bool = False, patience: float = PATIENCE
) -> Replicas:
    """Return the bot at `endpoint`. Nothing is sent yet.

    Args:
        endpoint: the endpoint to open.
        refuse_private: connect to public addresses only.
        patience: seconds that one replica has for a reply; the caller's own limit holds for all together.

    Raises:
        EndpointError: the environment variable of its key is unset.
    """
    urls = () if isinstance(endpoint, DialInEndpoint) else endpoint.urls
    replicas = [open_replica(endpoint, url, refuse_private=refuse_private, patience=patience) for url in urls]
    return Replicas(replicas, patience, most_calls=MOST_PAID_CALLS if is_paid(endpoint) else None)


def is_paid(endpoint: Endpoint) -> bool:
    """Return whether a call costs money: services that need a key are assumed to charge for it."""
    return isinstance(endpoint, HostedEndpoint) and (endpoint.key is not None or endpoint.price is not None)


def may_cost(endpoint: Endpoint) -> bool:
    """Return whether a call may cost money: the service is assumed to charge, or runs on another machine.

    A bot on this machine, one that dials in, and one whose price is 0 cost nothing.
    """
    if isinstance(endpoint, DialInEndpoint):
        return False
    prices = _prices(endpoint)
    if prices is not None:
        return bool(prices.input or prices.output)
    return is_paid(endpoint) or not all(map(is_on_this_machine, endpoint.urls))


def planned_calls(to: str, endpoint: Endpoint, calls: Estimate, occasion: str = "") -> PlannedCalls | None:
    """Return the planned calls of `endpoint`; None if they cost nothing, or there are none."""
    if isinstance(endpoint, DialInEndpoint) or not may_cost(endpoint) or not calls.calls:
        return None
    hosts = tuple(dict.fromkeys(map(host_of, endpoint.urls)))
    return PlannedCalls(to, hosts, calls, _prices(endpoint), occasion)


def open_replica(
    endpoint: Endpoint, url: str, *, refuse_private: bool = False, patience: float = PATIENCE
) -> Replica:
    """Return the replica of the bot at `endpoint` with the address `url`. Nothing is sent yet.

    The other arguments are those of `open_endpoint`.

    Raises:
        EndpointError: the environment variable of its key is unset, or this kind of bot has no urls.
    """
    match endpoint:
        case OpenAiEndpoint() | AnthropicEndpoint() | GeminiEndpoint() | BedrockEndpoint():
            remote = _hosted_remote(endpoint, url, refuse_private, patience)
            api, prices = _api(endpoint), _prices(endpoint)
            return ModelApiBot(remote, api, endpoint.prompt, endpoint.refusals, prices)
        case HttpEndpoint():
            return HttpBot(_remote(url, endpoint.key, refuse_private, patience))
        case ParlaiWebEndpoint():
            return ParlaiWebBot(_remote(url, None, refuse_private, patience))
        case DialInEndpoint():
            raise EndpointError("a bot that dials in has no urls: start one more bot host under its name")


def _prices(endpoint: Endpoint) -> Prices | None:
    price: Price | None = getattr(endpoint, "price", None)
    return None if price is None else Prices(price.input, price.output)


def _remote(url: str, key: str | None, refuse_private: bool, patience: float) -> Remote:
    return Remote(url, key_from(key) if key else None, refuse_private=refuse_private, patience=patience)


def _hosted_remote(endpoint: HostedEndpoint, url: str, refuse_private: bool, patience: float) -> Remote:
    headers, query, key_header = dict(endpoint.headers), {}, "Authorization"
    match endpoint:
        case OpenAiEndpoint():
            query, key_header = endpoint.query, endpoint.key_header
        case AnthropicEndpoint():
            headers, key_header = {"anthropic-version": ANTHROPIC_VERSION, **headers}, "x-api-key"
        case GeminiEndpoint():
            key_header = "x-goog-api-key"
    return Remote(
        url,
        key_from(endpoint.key) if endpoint.key else None,
        refuse_private=refuse_private,
        patience=patience,
        key_header=key_header,
        headers=headers,
        query=query,
    )


# Each service's names of the options. An option without a name here does not exist there.
_OPENAI = (
    "temperature",
    "top_p",
    "max_tokens",
    "max_completion_tokens",
    "stop",
    "seed",
    "reasoning_effort",
)
_ANTHROPIC = {
    "max_tokens": "max_tokens",
    "stop": "stop_sequences",
    "temperature": "temperature",
    "top_p": "top_p",
}
_GEMINI = {
    "temperature": "temperature",
    "top_p": "topP",
    "max_tokens": "maxOutputTokens",
    "stop": "stopSequences",
    "seed": "seed",
}
_BEDROCK = {"temperature": "temperature", "top_p": "topP", "max_tokens": "maxTokens", "stop": "stopSequences"}


def _api(endpoint: HostedEndpoint) -> Api:
    model, more = endpoint.model, endpoint.extra_body
    match endpoint:
        case OpenAiEndpoint():
            options = _options(endpoint, {name: name for name in _OPENAI})
            return OpenAiApi(model, {**options, "stream": True} if endpoint.stream else options, more)
        case AnthropicEndpoint():
            return AnthropicApi(model, _options(endpoint, _ANTHROPIC), more)
        case GeminiEndpoint():
            return GeminiApi(model, _options(endpoint, _GEMINI), more)
        case BedrockEndpoint():
            return BedrockApi(model, _options(endpoint, _BEDROCK), more)


def _options(endpoint: HostedEndpoint, names: dict[str, str]) -> dict[str, Any]:
    given = endpoint.model_dump(include=set(names), exclude_none=True)
    return {names[name]: value for name, value in given.items()}
