"""Endpoints as a study file describes them, and opening one."""

from typing import Annotated, Literal
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
)

from bots.core.persona_prompt import DEFAULT_PROMPT
from bots.endpoints.http import HttpBot
from bots.endpoints.key import EndpointError, key_from
from bots.endpoints.parlai_web import ParlaiWebBot
from bots.endpoints.remote import Remote
from bots.endpoints.replicas import Replica, Replicas

PATIENCE = 60.0

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
# Small letters are refused: what has some may be a key, put here by mistake, that errors would then name.
Variable = Annotated[str, StringConstraints(pattern=r"^[A-Z_][A-Z0-9_]*$", max_length=100)]


class _Kind(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class OpenAiEndpoint(_Kind):
    """Servers of OpenAI's chat completions, each as good as the other.

    A url ends where `/chat/completions` begins (mostly in `/v1`). `key` names the environment variable that
    holds the key. `prompt` is the system's message; {persona} in it becomes the persona, and a paragraph
    with {persona} is left out where there is none. What is not given is not sent.
    """

    kind: Literal["openai"]
    urls: Urls
    model: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
    key: Variable | None = None
    prompt: Annotated[str, StringConstraints(max_length=20_000)] = DEFAULT_PROMPT
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None


class HttpEndpoint(_Kind):
    """Servers of Candor's own contract (`bots.endpoints.http`), each as good as the other."""

    kind: Literal["http"]
    urls: Urls
    key: Variable | None = None


class ParlaiWebEndpoint(_Kind):
    """Processes of ParlAI's `interactive_web`, each as good as the other, used by nobody else."""

    kind: Literal["parlai-web"]
    urls: Urls


class DialInEndpoint(_Kind):
    """Bot hosts that connect to the server by themselves: as many as there are, each as good as the other."""

    kind: Literal["dial-in"]


UrlEndpoint = Annotated[OpenAiEndpoint | HttpEndpoint | ParlaiWebEndpoint, Field(discriminator="kind")]
Endpoint = Annotated[
    OpenAiEndpoint | HttpEndpoint | ParlaiWebEndpoint | DialInEndpoint, Field(discriminator="kind")
]


def open_endpoint(
    endpoint: Endpoint, *, refuse_private: bool = False, patience: float = PATIENCE
) -> Replicas:
    """Return the bot at `endpoint`. Nothing is sent yet.

    Args:
        endpoint: what to open.
        refuse_private: connect to public addresses only.
        patience: seconds that one replica has for a reply; the caller's own limit holds for all together.

    Raises:
        EndpointError: the environment variable of its key is unset.
    """
    urls = () if isinstance(endpoint, DialInEndpoint) else endpoint.urls
    replicas = [open_replica(endpoint, url, refuse_private=refuse_private, patience=patience) for url in urls]
    return Replicas(replicas, patience)


def open_replica(
    endpoint: Endpoint, url: str, *, refuse_private: bool = False, patience: float = PATIENCE
) -> Replica:
    """Return a replica of the bot at `endpoint`, at `url`. Nothing is sent yet.

    The other arguments are those of `open_endpoint`.

    Raises:
        EndpointError: the environment variable of its key is unset, or its replicas are not at urls.
    """
    match endpoint:
        case OpenAiEndpoint():
            # Imported when wanted: the official client takes longer than everything else together.
            from bots.endpoints.openai import OpenAiBot  # noqa: PLC0415

            sampling = endpoint.model_dump(include={"temperature", "max_tokens"}, exclude_none=True)
            remote = _remote(url, endpoint.key, refuse_private, patience)
            return OpenAiBot(remote, endpoint.model, endpoint.prompt, sampling)
        case HttpEndpoint():
            return HttpBot(_remote(url, endpoint.key, refuse_private, patience))
        case ParlaiWebEndpoint():
            return ParlaiWebBot(_remote(url, None, refuse_private, patience))
        case DialInEndpoint():
            raise EndpointError("a bot that dials in has no urls: start one more bot host under its name")


def _remote(url: str, key: str | None, refuse_private: bool, patience: float) -> Remote:
    return Remote(url, key_from(key) if key else None, refuse_private=refuse_private, patience=patience)
