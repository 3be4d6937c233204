"""Models that are served over HTTP by others: what their services have in common.

A service's own way of writing is an `Api`, which is pure: a chat to a request, an answer to `Answered`.

Each is a hundred lines of our own, and no client library. What would be gained by one is little: a request is
one POST, and retries, time-outs and deadlines are the server's own here. What would be lost is the connection
of `Remote`: which refuses private addresses, bounds answers, and hides keys. And they weigh: litellm 1.109 is
a wheel of 41 MB that brings botocore (17 MB), aiohttp, tiktoken and a second HTTP client; anthropic and
google-genai together bring OpenTelemetry, google-auth and a pin of tenacity. Bedrock takes an API key as a
bearer's since July 2025, so that nothing has to be signed.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Protocol

import httpx2

from bots.core.chat import Chat, Provenance, Reply, prompt_hash
from bots.core.failures import BotError, Declined
from bots.core.persona_prompt import persona_prompt
from bots.core.visible_text import LONGEST_OUTPUT, checked_reply
from bots.endpoints.provider_error import error_within
from bots.endpoints.remote import Remote, RemoteBot, is_stream

Refusals = Literal["failure", "reply"]
# What says that no chat would be answered: a proxy has nothing behind it. No other answer to a heartbeat
# proves anything: a key may chat that may not list models (401, 403), and `transformers serve` without a
# hub answers 500.
_AWAY = frozenset({502, 503, 504})
# Also where a proxy has lost the type of the content. A comment is ":", and JSON begins with neither.
_STREAM_BEGINS = (b"data:", b"event:", b"id:", b"retry:", b":")
_LINE_END = re.compile(r"\r\n|\n|\r")  # unlike str.splitlines: a reply may hold U+2028
_CHARACTERS_PER_TOKEN = 3  # where a server does not count: rather too many tokens than too few


@dataclass(frozen=True, slots=True)
class Request:
    """What is posted where; `path` begins at the service's url."""

    path: str
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answered:
    """What a service answered.

    `output`: what the model wrote, its thoughts in <think> marks. `refusal`: by which words the model
    declined; empty where a filter did, or no words are given; None where nobody declined. `at_limit`: the
    limit of tokens has cut it off. `broken`: why the answer is not whole; None: it is.
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


class Api(Protocol):
    """How a service is asked, and what its answers mean."""

    heartbeat: str
    """The path that costs nothing and tells whether somebody is there."""

    def request(self, opening: str, chat: Chat) -> Request:
        """Return what asks for the next line of `chat`, with the instructions `opening`, if any."""

    def answered(self, body: bytes) -> Answered:
        """Return what an answer says. Raises ValueError: it is none of the service's."""

    def streamed(self, events: Sequence[str]) -> Answered:
        """Return what a stream says, given the data of its events. Raises ValueError: as `answered`."""


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost, in whatever money."""

    input: float
    output: float

    def cost(self, tokens_in: float, tokens_out: float) -> float:
        """Return what a call costs."""
        return (tokens_in * self.input + tokens_out * self.output) / 1_000_000


class HostedBot(RemoteBot):
    """A model behind a service's API."""

    def __init__(
        self, remote: Remote, api: Api, prompt: str, refusals: Refusals, prices: Prices | None
    ) -> None:
        """Ask `remote` by its `api`.

        Args:
            remote: the server.
            api: how it is asked.
            prompt: the instructions, with {persona} in them.
            refusals: whether a model's refusal, where it has words, is its reply or a failure.
            prices: what tokens cost, if anything.
        """
        super().__init__(remote)
        self._api = api
        self._prompt = prompt
        self._refusals = refusals
        self._prices = prices

    async def reply(self, chat: Chat) -> Reply:
        """Return what the model says. Raises BotError, with the provenance of the answer if there was one."""
        request = self._api.request(persona_prompt(self._prompt, chat.persona, chat.prompt), chat)
        response = await self._remote.client.post(self._remote.url + request.path, json=request.body)
        answered = self._read(self._remote.checked(response))
        provenance = self._provenance(answered, request, chat)
        try:
            return replace(self._reply(answered), provenance=provenance)
        except BotError as error:
            error.provenance = provenance
            raise

    async def probe(self) -> None:
        """Ask for what costs nothing, whatever the answer says. Raises BotError: nobody is there."""
        response = await self._remote.get(self._api.heartbeat)
        if response.status_code in _AWAY:
            raise self._remote.refusal(response)

    def _read(self, response: httpx2.Response) -> Answered:
        """Return what an answer says. Raises BotError: it says nothing, or only that something went wrong."""
        streams = is_stream(response) or response.content.startswith(_STREAM_BEGINS)
        events = _events(self._remote.body(response)) if streams else []
        told = [_told(event) for event in events] or [error_within(self._remote.body(response))]
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

    def _reply(self, answered: Answered) -> Reply:
        if answered.broken is not None:
            answered.broken.output = answered.output[:LONGEST_OUTPUT] or None
            raise answered.broken
        if answered.refusal is None:
            return checked_reply(answered.output, at_limit=answered.at_limit)
        words = answered.refusal.strip()
        if words and self._refusals == "reply":
            return checked_reply(words)
        said = f': "{words[:200]}"' if words else ""
        declined = Declined(f"the model, or a filter, declined to answer ({answered.finish_reason}){said}")
        declined.output = (words or answered.output)[:LONGEST_OUTPUT] or None
        raise declined

    def _provenance(self, answered: Answered, request: Request, chat: Chat) -> Provenance:
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

    def _cost(self, answered: Answered, request: Request) -> float | None:
        if self._prices is None:
            return None
        asked, said = answered.tokens_in, answered.tokens_out
        if asked is None:
            asked = len(json.dumps(request.body)) // _CHARACTERS_PER_TOKEN
        if said is None:
            said = len(answered.output) // _CHARACTERS_PER_TOKEN + 1
        return self._prices.cost(asked, said)


def with_thoughts(thoughts: str | None, said: str) -> str:
    """Return what a model wrote, its thoughts, if it told any, in front."""
    return f"<think>{thoughts}</think>{said}" if thoughts else said


def merged(body: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return `body` with what a researcher wants in it besides; objects in both are merged in turn."""
    both = dict(body)
    for name, value in more.items():
        inner = both.get(name)
        both[name] = merged(inner, value) if isinstance(inner, dict) and isinstance(value, dict) else value
    return both


def alternating(chat: Chat) -> list[tuple[Literal["worker", "bot"], str]]:
    """Return the lines of `chat` with neighbours of one author as one: some services take turns only."""
    lines: list[tuple[Literal["worker", "bot"], str]] = []
    for turn in chat.turns:
        if lines and lines[-1][0] == turn.author:
            lines[-1] = (turn.author, f"{lines[-1][1]}\n{turn.text}")
        else:
            lines.append((turn.author, turn.text))
    return lines


_CONTENT = frozenset(
    {"messages", "model", "system", "contents", "systemInstruction", "stream", "stream_options"}
)


def _sampling(body: Mapping[str, Any]) -> str:
    """Return the options of a request: all that is not the conversation, and not how it is sent."""
    options = {name: value for name, value in body.items() if name not in _CONTENT}
    return json.dumps(options, sort_keys=True, ensure_ascii=False)


class _Event(NamedTuple):
    """A server-sent event."""

    kind: str
    data: str


def _events(stream: str) -> list[_Event]:
    """Return server-sent events (WHATWG HTML, section 9.2.6); also the last one, without its empty line."""
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


def _told(event: _Event) -> BotError | None:
    """Return the failure that an event tells of; None if it tells of none."""
    return error_within(event.data, certainly=event.kind == "error")
