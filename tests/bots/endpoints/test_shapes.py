"""Shapes of answers that public reports show: each is a reply, or a failure with a reason.

Every shape is one that some server, gateway or proxy has sent; the text of each reply is "A dog.".
"""

import asyncio
import json
from typing import Any

import pytest
from pydantic import TypeAdapter

from bots.core.failures import ThoughtsOnly
from bots.endpoints.anthropic import AnthropicApi
from bots.endpoints.bedrock import BedrockApi
from bots.endpoints.gemini import GeminiApi
from bots.endpoints.hosted import Api
from bots.endpoints.openai import OpenAiApi
from bots.endpoints.remote import error_within, failure_of
from bots.serving import Endpoint, open_endpoint
from tests.bots.support.servers import CHAT, Request, answer, serving

ENDPOINT: TypeAdapter[Endpoint] = TypeAdapter(Endpoint)
Answer = dict[str, Any]


def openai(message: Answer | None = None, **rest: Any) -> Answer:
    message = {"content": "A dog."} if message is None else message
    return {"choices": [{"message": message, "finish_reason": "stop"}], **rest}


def gemini(part: Answer, **rest: Any) -> Answer:
    return {"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}], **rest}


ANSWERS: dict[str, tuple[type[Api], Answer]] = {
    "a fingerprint that is a number": (OpenAiApi, openai(system_fingerprint=44709)),
    "usage as a list": (OpenAiApi, openai(usage=[])),
    "usage as null": (OpenAiApi, openai(usage=None)),
    "tokens in fractions": (OpenAiApi, openai(usage={"prompt_tokens": 5.5, "completion_tokens": "3"})),
    "reasoning as an object": (OpenAiApi, openai({"content": "A dog.", "reasoning": {"effort": "low"}})),
    "content as texts": (OpenAiApi, openai({"content": ["A ", "dog."]})),
    "content as output_text": (
        OpenAiApi,
        openai({"content": [{"type": "output_text", "text": "A dog."}, {"type": "refusal"}]}),
    ),
    "a text that is null": (OpenAiApi, openai({"content": [{"type": "text", "text": None}, "A dog."]})),
    "a block without text": (
        AnthropicApi,
        {"content": [{"type": "text", "text": None}, {"type": "text", "text": "A dog."}], "usage": None},
    ),
    "a part without text": (GeminiApi, gemini({"text": "A dog."}, usageMetadata=[], modelVersion=3)),
    "no reasoning": (
        BedrockApi,
        {"output": {"message": {"content": [{"text": None}, {"text": "A dog.", "reasoningContent": None}]}}},
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_nothing_that_only_describes_a_reply_can_lose_it(name: str) -> None:
    api, body = ANSWERS[name]
    answered = api("m", {}, {}).answered(json.dumps(body).encode())
    assert answered.output == "A dog."
    assert answered.broken is None


def test_what_describes_a_reply_is_kept_where_it_can_be_read() -> None:
    said = OpenAiApi("m", {}, {}).answered(
        json.dumps(
            openai(
                {"content": "A dog.", "reasoning": {"content": ["I ", "see."]}},
                system_fingerprint=44709,
                usage={"prompt_tokens": 5.5, "completion_tokens": float(2)},
            )
        ).encode()
    )
    assert said.output == "<think>I see.</think>A dog."
    assert (said.revision, said.tokens_in, said.tokens_out) == ("44709", 6, 2)


def chunk(content: str | None, **choice: Any) -> str:
    return json.dumps({"choices": [{"delta": {"content": content}, **choice}]})


END = chunk("", finish_reason="stop")
EVENTS = {
    "a delta that is null": [chunk("A dog."), '{"choices": [{"delta": null, "finish_reason": "stop"}]}'],
    "choices that are null": [chunk("A dog."), '{"choices": null, "usage": []}', END],
    "nothing but content, and no more": [chunk("A "), chunk(None), chunk("dog."), END, "[DONE]"],
}


@pytest.mark.parametrize("name", EVENTS)
def test_pieces_of_a_stream_are_joined(name: str) -> None:
    answered = OpenAiApi("m", {}, {}).streamed(EVENTS[name])
    assert (answered.output, answered.broken) == ("A dog.", None)


def test_an_emoji_in_two_pieces_is_one() -> None:
    pieces = [chunk("A \ud83d"), chunk("\udc36 \ud83d"), chunk("dog.\\ud83d"), END]
    assert OpenAiApi("m", {}, {}).streamed(pieces).output == "A \U0001f436 dog.\\ud83d"


async def held(request: Request, writer: asyncio.StreamWriter) -> None:
    """Stream an answer under the name of plain text, and keep the connection after its end."""
    pieces = [": a comment first", *(f"data: {each}" for each in (chunk("A dog."), END, "[DONE]"))]
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
    for each in pieces:
        writer.write(f"{each}\n\n".encode())
        await writer.drain()
    await asyncio.Event().wait()


@pytest.mark.parametrize("copied", ["", "/chat/completions"])
async def test_a_stream_is_over_when_it_says_so(copied: str) -> None:
    async with serving(held) as served:
        settings = {"kind": "openai", "urls": [f"{served.url}/v1{copied}"], "model": "m", "stream": True}
        # A field that the study sets to null is not sent: some servers answer 422 to `stream_options`.
        bot = open_endpoint(ENDPOINT.validate_python({**settings, "extra_body": {"stream_options": None}}))
        assert (await bot.reply(CHAT)).text == "A dog."
        await bot.close()
        (request,) = served.requests
        assert request.path == "/v1/chat/completions"
        assert set(json.loads(request.body)) == {"model", "messages", "stream"}


@pytest.mark.parametrize(
    ("kind", "copied", "model"),
    [
        ("anthropic", "/v1/messages", "/v1"),
        ("gemini", "/v1beta/models/gemini-3:generateContent", "/v1beta"),
        ("gemini", "/v1beta/models", "/v1beta"),
        ("bedrock", "/model/some.model/converse", ""),
        ("openai", "/v1/chat/completions/", "/v1"),
    ],
)
def test_an_address_may_be_copied_with_its_path(kind: str, copied: str, model: str) -> None:
    given = {"kind": kind, "urls": [f"http://bot.example{copied}"], "model": "m"}
    assert ENDPOINT.validate_python(given).addresses == [f"http://bot.example{model}"]


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("openai", {"choices": [{"message": {"content": ""}, "finish_reason": "length"}]}),
        ("gemini", {"candidates": [{"finishReason": "MAX_TOKENS"}]}),
    ],
)
async def test_a_reply_that_was_cut_before_it_began_is_not_called_empty(kind: str, body: Answer) -> None:
    async with serving(answer(200, json.dumps(body).encode())) as served:
        bot = open_endpoint(ENDPOINT.validate_python({"kind": kind, "urls": [served.url], "model": "m"}))
        with pytest.raises(ThoughtsOnly, match="cut before it began"):
            await bot.reply(CHAT)
        await bot.close()


WITHIN: dict[str, tuple[str, str, str]] = {
    "busy, with status 200": ('{"error": {"message": "Slow down.", "code": 429}}', "busy", "Slow down."),
    "too long, with status 200": (
        '{"error": {"message": "Long.", "code": "400"}}',
        "refused",
        "Long.",
    ),
    "any other, with status 200": ('{"error": {"message": "Oh.", "code": 500}}', "broken", "Oh."),
    "no credit left": (
        '{"error": {"message": "Budget has been exceeded! Max budget: 5.0", "code": "400"}}',
        "budget",
        "Max budget",
    ),
}


@pytest.mark.parametrize("name", WITHIN)
def test_an_error_inside_an_answer_has_its_reason(name: str) -> None:
    body, kind, words = WITHIN[name]
    found = error_within(body)
    assert found is not None
    assert found.kind == kind
    assert words in str(found)


PAGE = (
    "<!doctype html><html><head><title>504</title><style>p {color: red}</style></head>"
    "<body><h1>Gateway\u0007time-out</h1><script>alert(1)</script><p>Try   later.</p></body></html>"
)
REASONS: list[tuple[int, dict[str, str], str, str, str]] = [
    (504, {}, PAGE, "error", 'says "Gateway time-out Try later."'),
    (500, {}, "upstream died\n" + "x" * 500, "error", 'says "upstream died x'),
    (
        422,
        {},
        '{"detail": [{"loc": ["body", "messages", 0], "msg": "Field required"}, {"msg": "Too hot"}]}',
        "refused",
        'says "body.messages.0: Field required; : Too hot"',
    ),
    (
        307,
        {"location": "https://me:pass@api.example/v2/chat?key=secret"},
        "",
        "error",
        "it redirects to https://api.example/v2/chat, which is not followed",
    ),
    (
        400,
        {},
        '{"error": {"message": "API key not valid. Pass another."}}',
        "error",
        "not accept the key",
    ),
    (400, {}, '{"error": "Incorrect API key provided: k3***."}', "error", "not accept the key"),
    (400, {}, '{"error": {"message": "Insufficient credits."}}', "budget", "no money"),
    (402, {}, '{"error": {"message": "This request requires more credits."}}', "budget", "no money"),
]


@pytest.mark.parametrize(("status", "headers", "body", "kind", "words"), REASONS)
def test_a_failure_says_why(status: int, headers: dict[str, str], body: str, kind: str, words: str) -> None:
    error = failure_of(status, headers, body, "BOT_KEY")
    assert error.kind == kind
    assert words in str(error)
    assert "secret" not in str(error)
    assert "pass@" not in str(error)
    assert len(str(error)) < 400
    assert error.out == (kind == "budget" or "the key" in str(error))
