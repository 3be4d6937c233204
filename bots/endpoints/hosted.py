"""Models that other services serve over HTTP, and estimates of what their calls cost.

The format of each service is an `Api`, which is pure: it turns a chat into a request, and an answer into
`HostedReply`.

Each `Api` is a hundred lines of our own instead of a client library. A library would add little: a request is
one POST, and retries, time-outs and deadlines are the server's own here. We would lose the connection of
`Remote`, which refuses private addresses, limits the size of answers, and hides keys. Libraries are also
large: litellm 1.109 is a wheel of 41 MB that brings botocore (17 MB), aiohttp, tiktoken and a second HTTP
client; anthropic and google-genai together bring OpenTelemetry, google-auth and a pin of tenacity. Since July
2025, Bedrock accepts an API key as a bearer token, so no request has to be signed.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import httpx2
from pydantic import BaseModel, ConfigDict, Field

from bots.core.ask import LONGEST_OUTPUT, checked_reply
from bots.core.chat import Chat, Provenance, Reply, prompt_hash
from bots.core.failures import BotError, Declined, ThoughtsOnly
from bots.core.persona_prompt import persona_prompt
from bots.endpoints.remote import Remote, RemoteBot, error_within, is_stream

Refusals = Literal["failure", "reply"]
# These mean that a proxy has no server behind it, so no chat would be answered. No other answer to a
# heartbeat proves anything: a key that may not list models (401, 403) may be allowed to chat, and
# `transformers serve` without a hub answers 500.
_AWAY = frozenset({502, 503, 504})
# These identify a stream even if a proxy has lost the content type: JSON begins with none of them.
_STREAM_BEGINS = (b"data:", b"event:", b"id:", b"retry:", b":")
_LINE_END = re.compile(r"\r\n|\n|\r")  # unlike str.splitlines: a reply may hold U+2028
_CHARACTERS_PER_TOKEN = 3  # a high estimate of tokens, where a server does not count them


@dataclass(frozen=True, slots=True)
class Request:
    """The body to post; `path` is relative to the service's url."""

    path: str
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class HostedReply:
    """A service's answer.

    `output`: the model's output, with thoughts in <think> marks. `refusal`: the words with which the model
    declined; empty if a filter declined, or no words are given; None if nobody declined. `at_limit`: the
    limit of tokens has cut it off. `broken`: why the answer is incomplete; None if it is complete.
    """

    output: str
    at_limit: bool = False
    refusal: str | None = None
    model: str | None = None
    revision: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    finish_reason: str | None = None
    broken: BotError | None = None


class Price(BaseModel):
    """The price of a million tokens, in any currency.

    `input`: of tokens sent. `output`: of tokens generated, thoughts included.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    input: Annotated[float, Field(ge=0, le=1_000_000, strict=True)] = Field(title="Input price")
    output: Annotated[float, Field(ge=0, le=1_000_000, strict=True)] = Field(
        title="Output price", description="Includes reasoning."
    )

    def cost(self, tokens_in: float, tokens_out: float) -> float:
        """Return the cost of a call."""
        return (tokens_in * self.input + tokens_out * self.output) / 1_000_000


class Api(ABC):
    """The format of a service's requests and answers, for one model."""

    heartbeat = "/models"
    """A path that costs nothing and shows whether the service is reachable."""

    path: ClassVar[re.Pattern[str]]
    """The path of a request, at the end of an address that was copied from the service's documentation."""

    def __init__(self, model: str, options: Mapping[str, Any], more: Mapping[str, Any]) -> None:
        """Ask `model` with `options`, under the service's option names; `more` is merged into the body."""
        self._model = model
        self._options = dict(options)
        self._more = more

    @abstractmethod
    def request(self, opening: str, chat: Chat) -> Request:
        """Return the request for the next line of `chat`, with the instructions `opening`, if any."""

    def other_layouts(self) -> "Iterator[tuple[str, Api]]":
        """Yield the same model in other layouts of messages, each with the settings that choose it."""
        yield from ()

    @abstractmethod
    def answered(self, body: bytes) -> HostedReply:
        """Parse an answer. Raises ValueError if it does not have the service's format."""

    def streamed(self, events: Sequence[str]) -> HostedReply:
        """Parse a stream, given the data of its events. Raises ValueError as `answered` does.

        Most services stream only on request, and are not asked to.
        """
        raise ValueError("a stream was not asked for")


class ModelApiBot(RemoteBot):
    """A model behind a service's API."""

    def __init__(
        self, remote: Remote, api: Api, prompt: str, refusals: Refusals, price: Price | None
    ) -> None:
        """Ask `remote` through its `api`.

        Args:
            remote: the server.
            api: its format.
            prompt: the instructions, with {persona} in them.
            refusals: whether a model's refusal, if it has words, counts as its reply or as a failure.
            price: the price of tokens, if any.
        """
        super().__init__(remote)
        self._api = api
        self._prompt = prompt
        self._refusals = refusals
        self._price = price

    async def reply(self, chat: Chat) -> Reply:
        """Return the model's reply. Raises BotError, with the provenance of the answer if there was one."""
        request, answered = await self._ask(self._api, chat)
        provenance = self._provenance(answered, request, chat)
        try:
            return replace(self._reply(answered), provenance=provenance)
        except BotError as error:
            error.provenance = provenance
            raise

    async def fitting_layout(self, chat: Chat) -> str | None:
        """Return the settings of the first other layout in which the model answers; None if there is none."""
        for settings, api in self._api.other_layouts():
            with suppress(BotError):
                self._reply((await self._ask(api, chat))[1])
                return settings
        return None

    async def _ask(self, api: Api, chat: Chat) -> tuple[Request, HostedReply]:
        """Return the request for the next line of a chat, and the answer. Raises BotError."""
        request = api.request(persona_prompt(self._prompt, chat.persona, chat.prompt), chat)
        response = await self._remote.client.post(self._remote.url + request.path, json=request.body)
        return request, self._read(self._remote.checked(response))

    async def probe(self) -> None:
        """Send a request that costs nothing. Raises BotError if nobody, or only a proxy, answers."""
        response = await self._remote.get(self._api.heartbeat)
        if response.status_code in _AWAY:
            raise self._remote.refusal(response)

    def _read(self, response: httpx2.Response) -> HostedReply:
        """Parse an answer. Raises BotError: it has no content, or only an error."""
        streams = is_stream(response) or response.content.startswith(_STREAM_BEGINS)
        events = _events(self._remote.body(response)) if streams else []
        told = [_failure_in(event) for event in events] or [error_within(self._remote.body(response))]
        error = next((each for each in told if each is not None), None)
        try:
            if streams:
                said = [event.data for event, wrong in zip(events, told, strict=True) if wrong is None]
                answered = self._api.streamed(said)
            else:
                answered = self._api.answered(response.content)
        except (ValueError, RecursionError) as unreadable:
            raise (error or self._remote.unreadable(response)) from unreadable
        return answered if error is None else replace(answered, broken=error)

    def _reply(self, answered: HostedReply) -> Reply:
        if answered.broken is not None:
            answered.broken.output = answered.output[:LONGEST_OUTPUT] or None
            raise answered.broken
        if answered.at_limit and answered.refusal is None and not answered.output.strip():
            raise ThoughtsOnly(
                "the reply was cut before it began: raise the limit of tokens, or turn thinking off"
            )
        if answered.refusal is None:
            return checked_reply(answered.output, at_limit=answered.at_limit)
        words = answered.refusal.strip()
        if words and self._refusals == "reply":
            return checked_reply(words)
        said = f': "{words[:200]}"' if words else ""
        declined = Declined(f"the model, or a filter, declined to answer ({answered.finish_reason}){said}")
        declined.output = (words or answered.output)[:LONGEST_OUTPUT] or None
        raise declined

    def _provenance(self, answered: HostedReply, request: Request, chat: Chat) -> Provenance:
        return Provenance(
            model=answered.model,
            revision=answered.revision,
            prompt_hash=prompt_hash(self._prompt, chat.prompt),
            sampling=_sampling(request.body),
            tokens_in=answered.tokens_in,
            tokens_out=answered.tokens_out,
            cost=self._cost(answered, request),
            finish_reason=answered.finish_reason,
        )

    def _cost(self, answered: HostedReply, request: Request) -> float | None:
        if self._price is None:
            return None
        asked, said = answered.tokens_in, answered.tokens_out
        if asked is None:
            asked = len(json.dumps(request.body)) // _CHARACTERS_PER_TOKEN
        if said is None:
            said = len(answered.output) // _CHARACTERS_PER_TOKEN + 1
        return self._price.cost(asked, said)


def with_thoughts(thoughts: str | None, said: str) -> str:
    """Return a model's output, with its thoughts, if any, in front."""
    return f"<think>{thoughts}</think>{said}" if thoughts else said


def merged(body: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return `body` with the researcher's additions; objects in both are merged recursively.

    A field that they set to null is left out, for servers that refuse it.
    """
    both = dict(body)
    for name, value in more.items():
        inner = both.pop(name, None)
        if value is None:
            continue
        both[name] = merged(inner, value) if isinstance(inner, dict) and isinstance(value, dict) else value
    return both


def alternating(chat: Chat, bot: str) -> list[tuple[str, str]]:
    """Return the lines of `chat`, each with its role: "user" or `bot`.

    Consecutive lines of one author are joined, as some services require.
    """
    roles = {"worker": "user", "bot": bot}
    joined = groupby(chat.turns, key=lambda turn: roles[turn.author])
    return [(role, "\n".join(turn.text for turn in turns)) for role, turns in joined]


_CONTENT = frozenset(
    {"messages", "model", "system", "contents", "systemInstruction", "stream", "stream_options"}
)


def _sampling(body: Mapping[str, Any]) -> str:
    """Return the options of a request as JSON: its body without the conversation and transport fields."""
    options = {name: value for name, value in body.items() if name not in _CONTENT}
    return json.dumps(options, sort_keys=True, ensure_ascii=False)


class _Event(NamedTuple):
    """A server-sent event."""

    kind: str
    data: str


def _events(stream: str) -> list[_Event]:
    """Return server-sent events (WHATWG HTML, section 9.2.6), including a last one without its empty line."""
    events: list[_Event] = []
    kind, data = "", list[str]()
    for line in [*_LINE_END.split(stream), ""]:
        field, _, value = line.partition(":")
        if field == "event":
            kind = value.strip()
        elif field == "data":
            data.append(value.strip())
        elif not line:
            if data:
                events.append(_Event(kind, "\n".join(data)))
            kind, data = "", []
    return events


def _failure_in(event: _Event) -> BotError | None:
    """Return the failure that an event reports; None if it reports none."""
    return error_within(event.data, certainly=event.kind == "error")


# English has about four characters to a token (the providers' own rule of thumb). The lengths are our own
# estimates, for chat lines of one or two short sentences, and for instructions with a persona.
TOKENS_OF_INSTRUCTIONS, TOKENS_OF_LINE = 200, 25


@dataclass(frozen=True, slots=True)
class Estimate:
    """The total tokens sent and received in `calls` calls."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    def __add__(self, other: "Estimate") -> "Estimate":
        """Return the sum of both."""
        return Estimate(
            self.calls + other.calls, self.tokens_in + other.tokens_in, self.tokens_out + other.tokens_out
        )


def estimate(chats: float, inputs: int) -> Estimate:
    """Estimate the replies of `chats` conversations: for line k, the request contains 2k earlier lines."""
    before = inputs * (inputs - 1)  # the sum of 2k over k below `inputs`
    return Estimate(
        calls=round(chats * inputs),
        tokens_in=round(chats * (inputs * TOKENS_OF_INSTRUCTIONS + before * TOKENS_OF_LINE)),
        tokens_out=round(chats * inputs * TOKENS_OF_LINE),
    )


@dataclass(frozen=True, slots=True)
class PlannedCalls:
    """Calls that may cost money.

    `to`: the name of the bot or service. `hosts`: their hosts; empty if they must not be shown. `price`: of a
    million tokens; None if none is set. `occasion`: when the calls are made, if they are made on several
    occasions.
    """

    to: str
    hosts: tuple[str, ...]
    estimate: Estimate
    price: Price | None
    occasion: str = ""

    def __str__(self) -> str:
        """Return a description for people."""
        calls = self.estimate.calls
        where = f" at {', '.join(self.hosts)}" if self.hosts else ""
        said = f"{self.occasion}about {calls:,} call{'' if calls == 1 else 's'} to {self.to}{where}"
        if self.price is None:
            return f"{said}: no price is set, and the provider may charge"
        cost = self.price.cost(self.estimate.tokens_in, self.estimate.tokens_out)
        about = f"about {cost:,.2f}" if cost >= 0.01 else "less than 0.01"
        each = f"{self.price.input:g} and {self.price.output:g}"
        return f"{said}: {about}, at {each} for a million tokens in and out"


def in_words(what: str, planned: Sequence[PlannedCalls]) -> str | None:
    """Return a warning about the calls that `what` will make; None if there are none."""
    if not planned:
        return None
    return "\n".join([f"{what} may cost money:", *(f"- {calls}" for calls in planned)])
