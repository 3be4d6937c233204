"""Anthropic's Messages API (docs.anthropic.com, "Messages", version 2023-06-01).

The instructions are a field beside the messages, which alternate and begin with the user's. `max_tokens` is
required. Thoughts are blocks of the content; a refusal is a `stop_reason`.
"""

import re
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, Field

from bots.core.chat import Chat
from bots.endpoints.fields import Count, Label, Lenient, Thoughts
from bots.endpoints.hosted import Api, HostedReply, Request, alternating, merged, with_thoughts
from bots.endpoints.kind import OF_REPLY, EndpointAccess, HostedEndpoint, Tokens, Urls, described
from bots.endpoints.remote import unknown_end

_VERSION = "2023-06-01"
_AT_LIMIT = frozenset({"max_tokens", "model_context_window_exceeded"})
_ENDS = frozenset({"end_turn", "stop_sequence", "refusal"})


class _Block(BaseModel):
    type: str
    text: str | None = None
    thinking: Thoughts = ""


class _Usage(BaseModel):
    input_tokens: Count = None
    cache_creation_input_tokens: Count = None
    cache_read_input_tokens: Count = None
    output_tokens: Count = None

    def read(self) -> int | None:
        """Return the number of tokens in the prompt, including cached ones, which are reported separately."""
        if self.input_tokens is None:
            return None
        return (
            self.input_tokens + (self.cache_creation_input_tokens or 0) + (self.cache_read_input_tokens or 0)
        )


class _Message(BaseModel):
    content: list[_Block]
    model: Label = None
    stop_reason: Label = None
    usage: Annotated[_Usage, Lenient] = _Usage()


class AnthropicApi(Api):
    """Messages of one model."""

    path = re.compile(r"/messages$")

    def request(self, opening: str, chat: Chat) -> Request:
        """Return the lines as messages, with the instructions in `system`."""
        messages = [{"role": role, "content": text} for role, text in alternating(chat, "assistant")]
        system = {"system": opening} if opening else {}
        body = {"model": self._model, **system, "messages": messages, **self._options}
        return Request("/messages", merged(body, self._more))

    def answered(self, body: bytes) -> HostedReply:
        """Parse an answer: join its blocks of text, and its blocks of thoughts."""
        message = _Message.model_validate_json(body)
        said = "".join(block.text or "" for block in message.content if block.type == "text")
        thoughts = "".join(block.thinking for block in message.content if block.type == "thinking")
        return HostedReply(
            output=with_thoughts(thoughts, said),
            at_limit=message.stop_reason in _AT_LIMIT,
            refusal=said if message.stop_reason == "refusal" else None,
            model=message.model,
            tokens_in=message.usage.read(),
            tokens_out=message.usage.output_tokens,
            finish_reason=message.stop_reason,
            broken=unknown_end(message.stop_reason, _ENDS | _AT_LIMIT, required=False),
        )


class AnthropicEndpoint(HostedEndpoint):
    """Anthropic's Messages API. A url ends before `/messages`. `max_tokens` is required by the API."""

    model_config = described(
        "Anthropic",
        "Claude models, at Anthropic’s own address unless you enter another one.",
    )
    kind: Literal["anthropic"]
    service: ClassVar = AnthropicApi
    urls: Urls = Field(["https://api.anthropic.com/v1"])
    max_tokens: Annotated[Tokens, OF_REPLY] = 1_024

    option_names: ClassVar = {
        "max_tokens": "max_tokens",
        "stop": "stop_sequences",
        "temperature": "temperature",
        "top_p": "top_p",
    }

    def access(self) -> EndpointAccess:
        """Return the key and the headers of every request."""
        return EndpointAccess(self.key, "x-api-key", {"anthropic-version": _VERSION, **self.headers})
