"""Amazon Bedrock's Converse (docs.aws.amazon.com, API_runtime_Converse), with an API key as a bearer token.

The model is in the path. The instructions are a field beside the messages. Options are in `inferenceConfig`,
model-specific ones in `additionalModelRequestFields`.
"""

import re
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import quote

from pydantic import BaseModel

from bots.core.chat import Chat
from bots.endpoints.fields import Count, Label, Lenient, Thoughts
from bots.endpoints.hosted import Api, HostedReply, Request, alternating, merged, with_thoughts
from bots.endpoints.kind import HostedEndpoint, described
from bots.endpoints.remote import unknown_end

_AT_LIMIT = frozenset({"max_tokens", "model_context_window_exceeded"})
_FILTERED = frozenset({"content_filtered", "guardrail_intervened"})
_ENDS = frozenset({"end_turn", "stop_sequence", "refusal"})


class _Reasoning(BaseModel):
    reasoningText: Thoughts = ""  # noqa: N815


class _Block(BaseModel):
    text: str | None = None
    reasoningContent: Annotated[_Reasoning, Lenient] = _Reasoning()  # noqa: N815


class _Message(BaseModel):
    content: list[_Block]


class _Output(BaseModel):
    message: _Message


class _Usage(BaseModel):
    inputTokens: Count = None  # noqa: N815
    outputTokens: Count = None  # noqa: N815


class _Response(BaseModel):
    output: _Output
    stopReason: Label = None  # noqa: N815
    usage: Annotated[_Usage, Lenient] = _Usage()


class BedrockApi(Api):
    """Conversations with one model."""

    path = re.compile(r"/model/[^/]*/converse$")

    heartbeat = "/"  # the list of models is at another host; any answer shows that this one is reachable

    def request(self, opening: str, chat: Chat) -> Request:
        """Return the lines as messages, with the instructions in `system`."""
        lines = alternating(chat, "assistant")
        messages = [{"role": role, "content": [{"text": text}]} for role, text in lines]
        body: dict[str, Any] = {"messages": messages}
        if opening:
            body["system"] = [{"text": opening}]
        if self._options:
            body["inferenceConfig"] = self._options
        return Request(f"/model/{quote(self._model, safe='')}/converse", merged(body, self._more))

    def answered(self, body: bytes) -> HostedReply:
        """Parse an answer: join its blocks of text, and its blocks of thoughts."""
        response = _Response.model_validate_json(body)
        blocks = response.output.message.content
        said = "".join(block.text or "" for block in blocks)
        thoughts = "".join(block.reasoningContent.reasoningText for block in blocks)
        stop = response.stopReason
        return HostedReply(
            output=with_thoughts(thoughts, said),
            at_limit=stop in _AT_LIMIT,
            refusal="" if stop in _FILTERED else said if stop == "refusal" else None,
            model=self._model,
            tokens_in=response.usage.inputTokens,
            tokens_out=response.usage.outputTokens,
            finish_reason=stop,
            broken=unknown_end(stop, _ENDS | _AT_LIMIT | _FILTERED, required=False),
        )


class BedrockEndpoint(HostedEndpoint):
    """Amazon Bedrock's Converse at https://bedrock-runtime.REGION.amazonaws.com, with a Bedrock API key."""

    model_config = described(
        "Amazon Bedrock",
        "Models on Bedrock. The address names your region: https://bedrock-runtime.eu-central-1.amazonaws.com",
    )
    kind: Literal["bedrock"]
    service: ClassVar = BedrockApi

    option_names: ClassVar = {
        "temperature": "temperature",
        "top_p": "topP",
        "max_tokens": "maxTokens",
        "stop": "stopSequences",
    }
