"""Base classes of the kinds of endpoints, and the types of their settings."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    HttpUrl,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)

from bots.core.persona_prompt import DEFAULT_PROMPT
from bots.endpoints.address import is_on_this_machine, key_from
from bots.endpoints.hosted import Api, ModelApiBot, Price, Refusals
from bots.endpoints.remote import Remote
from bots.endpoints.replicas import Replica

PATIENCE = 60.0  # seconds that one replica has for a reply

_URL = TypeAdapter(HttpUrl)


def _plain_url(text: str) -> str:
    try:
        url = str(_URL.validate_python(text))
    except ValidationError as error:
        raise ValueError("Enter an address that begins with http:// or https://") from error
    parts = urlsplit(url)
    if parts.username or parts.password:
        raise ValueError(
            "Remove the user and the password: name the environment variable that holds a key instead"
        )
    if parts.query:
        names = ", ".join(dict(parse_qsl(parts.query, keep_blank_values=True)))
        raise ValueError(
            f"Remove everything from ? on. Give {names} as `query`, which OpenAI-compatible services have; "
            "give a key as `key`"
        )
    if parts.fragment:
        raise ValueError("Remove everything from # on")
    return url.rstrip("/")


def _distinct(urls: list[str]) -> list[str]:
    if len(set(urls)) < len(urls):
        raise ValueError("An address is listed twice: remove one")
    return urls


Url = Annotated[str, StringConstraints(strip_whitespace=True), AfterValidator(_plain_url)]
Urls = Annotated[list[Url], Field(min_length=1, max_length=100, title="Address"), AfterValidator(_distinct)]
# Lower case is refused: such a value may be a key, put here by mistake, which errors would then show.
Variable = Annotated[str, StringConstraints(pattern=r"^[A-Z_][A-Z0-9_]*$", max_length=100)]
Key = Annotated[
    Variable | None,
    Field(
        title="API key variable",
        description=(
            "Not the key itself: the name of the server’s environment variable that holds it. "
            "CANDOR_BOT_KEYS has to allow it for this address. Leave it empty if no key is "
            "needed."
        ),
    ),
]


HEADER = re.compile(r"[A-Za-z0-9-]{1,100}")
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


def key_header_name(name: str) -> str:
    """Return the name of a header that may hold a key. Raises ValueError if it may not."""
    return _free_header(name, "cannot hold a key")


def _open_header(name: str) -> str:
    """Return the name of a header whose value may stand in a study. Raises ValueError if it may not."""
    if name.lower() in _SECRET_HEADERS:
        raise ValueError(
            "Do not write a key into a study: name the environment variable that holds it as the key"
        )
    return _free_header(name, "the server sets it: remove it")


def _free_header(name: str, otherwise: str) -> str:
    if not HEADER.fullmatch(name):
        raise ValueError("Enter the name of a header: letters, digits and -")
    if name.lower() in _CONNECTION_HEADERS:
        raise ValueError(f"{name} belongs to the connection, and {otherwise}")
    return name


Line = Annotated[str, StringConstraints(pattern=r"^[ -~]*$", max_length=1_000)]
Tokens = Annotated[int, Field(ge=1, le=10_000_000, strict=True)]
OF_REPLY = Field(
    title="Maximum tokens of a reply",
    description="A longer reply is cut after its last full sentence.",
)
# Integers that a browser represents exactly
_Seed = Annotated[int, Field(gt=-(2**53), lt=2**53, strict=True)]
Seed = Annotated[_Seed | None, Field(description="A whole number, for services that accept one.")]
HeaderName = Annotated[str, AfterValidator(_open_header)]
Model = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
Stop = Annotated[list[Annotated[str, Field(min_length=1, max_length=100)]], Field(max_length=16)]


@dataclass(frozen=True, slots=True)
class EndpointAccess:
    """What every request to an endpoint carries. `key`: the environment variable of the key."""

    key: str | None = None
    key_header: str = "Authorization"
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)


class EndpointSettings(BaseModel, ABC):
    """Base of every kind of endpoint: its settings, its costs, and the client that it opens."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @property
    def addresses(self) -> Sequence[str]:
        """The addresses of its replicas; none if they connect by themselves."""
        urls: Sequence[str] = getattr(self, "urls", ())
        return urls

    @property
    def token_price(self) -> Price | None:
        """The price of tokens, if one is set."""
        return None

    @property
    def is_paid(self) -> bool:
        """Whether a call costs money: services that need a key are assumed to charge for it."""
        return False

    @property
    def may_cost(self) -> bool:
        """Whether a call may cost money: the service is assumed to charge, or runs on another machine.

        A bot on this machine, one that dials in, and one whose price is 0 cost nothing.
        """
        if self.token_price is not None:
            return bool(self.token_price.input or self.token_price.output)
        return self.is_paid or not all(map(is_on_this_machine, self.addresses))

    def access(self) -> EndpointAccess:
        """Return what every request carries."""
        return EndpointAccess()

    @abstractmethod
    def client(self, remote: Remote) -> Replica:
        """Return the client that asks `remote`. Raises EndpointError if this kind of bot has no urls."""

    def open(self, url: str, *, refuse_private: bool = False, patience: float = PATIENCE) -> Replica:
        """Return the replica at `url`. Nothing is sent yet.

        Args:
            url: its address.
            refuse_private: connect to public addresses only.
            patience: seconds that it has for a reply.

        Raises:
            EndpointError: the environment variable of its key is unset, or this kind of bot has no urls.
        """
        access = self.access()
        return self.client(
            Remote(
                url,
                key_from(access.key) if access.key else None,
                refuse_private=refuse_private,
                patience=patience,
                key_header=access.key_header,
                headers=access.headers,
                query=access.query,
            )
        )


def described(name: str, about: str, example: str = "") -> ConfigDict:
    """Return the help text of a kind, which the desk's form shows with its settings.

    Args:
        name: what it is, in a few words.
        about: what it is, or what to enter, on one line; `example` follows.
        example: a command that starts such a server, if one has to be started.
    """
    return ConfigDict(json_schema_extra={"x-kind": {"name": name, "about": about, "example": example}})


class HostedEndpoint(EndpointSettings):
    """A model of a service. Options that are not given are not sent.

    `key` names the environment variable that holds the key. `prompt` is the instruction; {persona} in it
    becomes the persona, and without a persona, paragraphs with {persona} are left out. `headers` are
    additional headers. `extra_body` is merged into the request, whatever it contains. `refusals`: whether a
    model's refusal counts as its reply or as a failure; both are recorded. `price` and `spending_cap` are in
    the same currency: above the cap the bot answers nobody.
    """

    urls: Urls
    model: Model = Field(description="As the service names it.")
    key: Key = None
    prompt: Annotated[str, StringConstraints(max_length=20_000)] = Field(
        DEFAULT_PROMPT,
        description=(
            "The model’s instructions. {persona} is replaced by the persona. Without a persona, "
            "that paragraph is left out."
        ),
    )
    temperature: Annotated[float, Field(ge=0, le=2, strict=True)] | None = Field(
        None, description="From 0 to 2. If empty, the service’s default. Reasoning models do not accept it."
    )
    top_p: Annotated[float, Field(gt=0, le=1, strict=True)] | None = Field(
        None, title="Top p", description="Above 0, up to 1. If empty, the service’s default."
    )
    max_tokens: Annotated[Tokens | None, OF_REPLY] = None
    stop: Stop | None = Field(
        None, title="Stop texts", description="The model stops before it writes one of these."
    )
    headers: dict[HeaderName, Line] = Field({}, description="Sent with every request. Do not put a key here.")
    extra_body: dict[str, Any] = Field(
        {},
        title="Additional request settings",
        description=(
            "JSON that is added to every request, for settings without a field here. Null removes a field."
        ),
    )
    refusals: Refusals = Field(
        "failure",
        title="When the model refuses",
        description="Failure: retry and report it. Reply: show the refusal to the worker.",
        json_schema_extra={"x-words": {"failure": "A failure", "reply": "A reply"}},
    )
    price: Price | None = Field(
        None, title="Price of a million tokens", description="In any currency. Spending caps use it."
    )
    spending_cap: Annotated[float, Field(gt=0, le=100_000_000, strict=True)] | None = Field(
        None,
        title="Spending cap",
        description="In the currency of the price. A bot that reaches it stops answering.",
    )

    @field_validator("urls")
    @classmethod
    def _before_the_path(cls, urls: list[str]) -> list[str]:
        """Return the addresses without the path of a request, which people copy with them."""
        return _distinct([cls.service.path.sub("", url) for url in urls])

    @model_validator(mode="after")
    def _priced(self) -> "HostedEndpoint":
        if self.spending_cap is not None and self.price is None:
            raise ValueError("A spending cap is counted by the price of a million tokens: give the price too")
        return self

    service: ClassVar[type[Api]]
    """The format of the service's requests and answers."""

    option_names: ClassVar[dict[str, str]]
    """The service's names of the options. An option without a name here does not exist there."""

    @property
    def token_price(self) -> Price | None:
        """The price of tokens, if one is set."""
        return self.price

    @property
    def is_paid(self) -> bool:
        """Whether a call costs money: it does if a key or a price is set."""
        return self.key is not None or self.price is not None

    def access(self) -> EndpointAccess:
        """Return the key and the headers of every request."""
        return EndpointAccess(self.key, headers=self.headers)

    def client(self, remote: Remote) -> Replica:
        """Return the model that `remote` serves."""
        return ModelApiBot(remote, self.api(), self.prompt, self.refusals, self.price)

    def api(self) -> Api:
        """Return the service's format, for this model and these options."""
        return self.service(self.model, self.options(), self.extra_body)

    def options(self) -> dict[str, Any]:
        """Return the options that are set, under the service's option names."""
        given = self.model_dump(include=set(self.option_names), exclude_none=True)
        return {self.option_names[name]: value for name, value in given.items()}
