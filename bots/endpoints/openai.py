"""OpenAI's chat completions, as served by OpenAI, Azure, vLLM, TGI, Ollama, llama.cpp and others.

Fields: OpenAI "API reference", Chat. `reasoning_content` is used by vLLM and llama.cpp, `reasoning` by Ollama
and newer vLLM; Mistral sends thoughts as parts of the content.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, StringConstraints

from bots.core.chat import Chat
from bots.core.message_layout import LAYOUTS, Instructions, MessageLayout
from bots.endpoints.fields import Count, Label, Lenient, Thoughts, join_halves, keep_halves
from bots.endpoints.hosted import Api, HostedReply, Request, merged, with_thoughts
from bots.endpoints.kind import (
    HEADER,
    EndpointAccess,
    HostedEndpoint,
    Line,
    Seed,
    Tokens,
    described,
    key_header_name,
)
from bots.endpoints.remote import unknown_end, whole

_TEXTS = frozenset({"text", "output_text"})
_AT_LIMIT = frozenset({"length", "max_tokens", "model_length"})
# Finish reasons of OpenAI, TGI, Together, Cohere, and of proxies before Anthropic.
_ENDS = frozenset({"stop", "content_filter", "eos", "eos_token", "stop_sequence", "complete", "end_turn"})


class _Part(BaseModel):
    """A part of a message, with its text, if any."""

    type: str = "text"
    text: str | None = None

    def said(self) -> str:
        return self.text or "" if self.type in _TEXTS else ""


class _Message(BaseModel):
    """A message of the model, or a piece of one.

    Some servers send thoughts in a field of their own.
    """

    content: str | list[str | _Part] | None = None
    reasoning_content: Thoughts = ""
    reasoning: Thoughts = ""
    refusal: Label = None

    def said(self) -> str:
        if isinstance(self.content, list):
            return "".join(part if isinstance(part, str) else part.said() for part in self.content)
        return self.content or ""

    def thoughts(self) -> str:
        return self.reasoning_content or self.reasoning or ""


class _Choice(BaseModel):
    message: _Message
    finish_reason: Label = None


class _ChoiceChunk(BaseModel):
    delta: Annotated[_Message, BeforeValidator(lambda delta: delta or {})] = _Message()
    finish_reason: Label = None


class _Usage(BaseModel):
    prompt_tokens: Count = None
    completion_tokens: Count = None


class _Told(BaseModel):
    """Metadata of an answer, and of each piece of a stream."""

    model: Label = None
    system_fingerprint: Label = None
    usage: Annotated[_Usage, Lenient] = _Usage()


class _Completion(_Told):
    choices: list[_Choice] = Field(min_length=1)


class _Chunk(_Told):
    choices: Annotated[list[_ChoiceChunk], BeforeValidator(lambda choices: choices or [])] = []


class OpenAiApi(Api):
    """Chat completions of one model."""

    path = re.compile(r"/chat/completions$")

    def __init__(
        self,
        model: str,
        options: Mapping[str, Any],
        more: Mapping[str, Any],
        layout: MessageLayout = LAYOUTS[0],
    ) -> None:
        """Ask `model` in a `layout` of messages."""
        super().__init__(model, options, more)
        self._layout = layout

    def request(self, opening: str, chat: Chat) -> Request:
        """Return the instructions and the messages in the model's layout."""
        body = {"model": self._model, "messages": self._layout.messages(opening, chat), **self._options}
        if self._options.get("stream"):
            body["stream_options"] = {"include_usage": True}
        return Request("/chat/completions", merged(body, self._more))

    def other_layouts(self) -> Iterator[tuple[str, Api]]:
        """Yield the same model in the other layouts, each with the settings that choose it."""
        for layout in LAYOUTS:
            if layout != self._layout:
                yield _settings(layout), OpenAiApi(self._model, self._options, self._more, layout)

    def answered(self, body: bytes) -> HostedReply:
        """Parse the first choice of an answer."""
        completion = _Completion.model_validate_json(whole(body))
        choice = completion.choices[0]
        return _answered([choice.message], choice.finish_reason, [completion], streams=False)

    def streamed(self, events: Sequence[str]) -> HostedReply:
        """Join the pieces of a stream. A stream without a finish reason has broken off."""
        said = (keep_halves(data) for data in events if data and data != "[DONE]")
        chunks = [_Chunk.model_validate_json(data) for data in said]
        if not any(chunk.choices for chunk in chunks):
            raise ValueError("the stream has no choice")
        choices = [chunk.choices[0] for chunk in chunks if chunk.choices]
        finish = next((choice.finish_reason for choice in reversed(choices) if choice.finish_reason), None)
        return _answered([choice.delta for choice in choices], finish, chunks, streams=True)


def _settings(layout: MessageLayout) -> str:
    """Return the settings of an endpoint that choose a layout, as they stand in a study."""
    given = {
        "instructions": layout.instructions,
        "alternating": str(layout.alternating).lower(),
        "parts": str(layout.parts).lower(),
    }
    return ", ".join(f"{name}: {value}" for name, value in given.items())


def _answered(
    pieces: list[_Message], finish: str | None, told: "list[_Completion] | list[_Chunk]", *, streams: bool
) -> HostedReply:
    thoughts = "".join(piece.thoughts() for piece in pieces)
    said = "".join(piece.said() for piece in pieces)
    refusal = "".join(piece.refusal or "" for piece in pieces)
    usage = next((each.usage for each in reversed(told) if each.usage != _Usage()), _Usage())
    end = finish.lower() if finish else None  # some proxies pass on words in capitals
    declined = refusal or ("" if end == "content_filter" else None)
    return HostedReply(
        output=join_halves(with_thoughts(thoughts, said)),
        at_limit=end in _AT_LIMIT,
        refusal=declined,
        model=next((each.model for each in told if each.model), None),
        revision=next((each.system_fingerprint for each in told if each.system_fingerprint), None),
        tokens_in=usage.prompt_tokens,
        tokens_out=usage.completion_tokens,
        finish_reason="refusal" if refusal else finish,
        broken=unknown_end(end, _ENDS | _AT_LIMIT, required=streams),
    )


class OpenAiEndpoint(HostedEndpoint):
    """Interchangeable servers with OpenAI's API for chat completions.

    A url ends before `/chat/completions` (mostly in `/v1`). The key goes into `key_header`: into
    Authorization as a bearer token, into any other header as it is (Azure: `api-key`). `query` is sent with
    every request. `stream` is for servers that answer in streams only. `instructions`, `alternating` and
    `parts` are for models whose chat template takes no system message, no two messages of one author in a
    row, or only lists of parts: a check of the bot says which to set.
    """

    model_config = described(
        "Another OpenAI-compatible service",
        "Azure, vLLM, llama.cpp, TGI and many others. The address ends before /chat/completions, for example "
        "http://127.0.0.1:8100/v1:",
        "vllm serve my/model \\\n  --port 8100",
    )
    kind: Literal["openai"]
    service: ClassVar = OpenAiApi
    max_completion_tokens: Tokens | None = Field(
        None,
        title="Maximum tokens of reasoning and reply",
        description="For reasoning models, which use this limit instead.",
    )
    seed: Seed = None
    reasoning_effort: Annotated[str, StringConstraints(pattern=r"^[a-z]{1,20}$")] | None = Field(
        None,
        title="Reasoning effort",
        description=(
            "Such as minimal, low, medium or high, as the model accepts. If empty, the model’s default."
        ),
    )
    query: dict[Annotated[str, Field(min_length=1, max_length=100)], Line] = Field(
        {}, description="Added to the address of every request, such as Azure’s api-version."
    )
    key_header: Annotated[str, Field(pattern=HEADER.pattern), AfterValidator(key_header_name)] = Field(
        "Authorization",
        title="Key header",
        description="For services that do not use a bearer token. For Azure, api-key.",
    )
    stream: bool = Field(
        default=False, title="Streaming only", description="For servers that only stream their replies."
    )
    instructions: Instructions = Field(
        "system",
        title="Instructions go into",
        description="For models without a system message. The check says which one a model takes.",
        json_schema_extra={
            "x-words": {
                "system": "A system message",
                "developer": "A developer message",
                "first_message": "The first message",
            }
        },
    )
    alternating: bool = Field(
        default=False,
        title="Join messages of one author in a row",
        description="For models that refuse two of them. The check says so.",
    )
    parts: bool = Field(
        default=False,
        title="Send text as a list of parts",
        description="For models that take no plain text. The check says so.",
    )

    option_names: ClassVar = {
        name: name
        for name in (
            "temperature",
            "top_p",
            "max_tokens",
            "max_completion_tokens",
            "stop",
            "seed",
            "reasoning_effort",
        )
    }

    def access(self) -> EndpointAccess:
        """Return the key, the headers and the query of every request."""
        return EndpointAccess(self.key, self.key_header, self.headers, self.query)

    def api(self) -> Api:
        """Return the service's format, in this layout of messages."""
        layout = MessageLayout(self.instructions, self.alternating, self.parts)
        return OpenAiApi(self.model, self.options(), self.extra_body, layout)

    def options(self) -> dict[str, Any]:
        """Return the options that are set, and whether to stream, under the service's option names."""
        return {**super().options(), "stream": True} if self.stream else super().options()
