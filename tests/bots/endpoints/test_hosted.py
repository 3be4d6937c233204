"""Every service against its stand-in: which fields it gets, what comes of its answers and of its refusals."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from pydantic import TypeAdapter

from bots import BotError, Chat, Turn
from bots.core.failures import (
    BotBusy,
    BrokenOff,
    BudgetSpent,
    ChatRefused,
    Declined,
    EmptyReply,
    ThoughtsOnly,
)
from bots.serving import Endpoint, Replicas, open_endpoint
from tests.bots.support import standins
from tests.bots.support.servers import CHAT, Behaviour, Served, answer, serving
from tests.bots.support.standins import KEY, Service, standing_in

ENDPOINT: TypeAdapter[Endpoint] = TypeAdapter(Endpoint)
CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
POISON = replace(CHAT, conversation_id="poison", turns=(Turn("worker", "poison"),))
Settings = dict[str, Any]
GPT5 = {"kind": "openai", "path": "/v1", "model": "gpt-5-mini"}
AZURE = {
    "kind": "openai",
    "path": "/openai/deployments/chat",
    "model": "chat",
    "key_header": "api-key",
    "query": {"api-version": "2024-10-21"},
}
VLLM = {"kind": "openai", "path": "/v1", "model": "qwen3"}
OLLAMA = {"kind": "openai", "path": "/v1", "model": "qwen3:8b"}
LLAMA_CPP = {"kind": "openai", "path": "/v1", "model": "whatever", "stream": True}
ANTHROPIC = {"kind": "anthropic", "path": "/v1", "model": "claude-sonnet-4-5"}
GEMINI = {"kind": "gemini", "path": "/v1beta", "model": "gemini-3-flash"}
BEDROCK = {"kind": "bedrock", "path": "", "model": CLAUDE}
SERVICES: dict[str, tuple[Service, Settings]] = {
    "gpt-5": (standins.gpt5, GPT5),
    "azure": (standins.azure, AZURE),
    "vllm": (standins.vllm, VLLM),
    "ollama": (standins.ollama, OLLAMA),
    "llama.cpp": (standins.llama_cpp, LLAMA_CPP),
    "anthropic": (standins.anthropic, ANTHROPIC),
    "gemini": (standins.gemini, GEMINI),
    "bedrock": (standins.bedrock, BEDROCK),
}


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOT_KEY", KEY)


@asynccontextmanager
async def opened(behaviour: Behaviour, settings: Settings) -> AsyncIterator[tuple[Replicas, Served]]:
    async with serving(behaviour) as served:
        given = {"key": "BOT_KEY", **settings}
        url = served.url + given.pop("path")
        bot = open_endpoint(ENDPOINT.validate_python({**given, "urls": [url]}))
        try:
            yield bot, served
        finally:
            await bot.close()


async def failure(behaviour: Behaviour, settings: Settings, chat: Chat = CHAT) -> BotError:
    async with opened(behaviour, settings) as (bot, _):
        with pytest.raises(BotError) as caught:
            await bot.reply(chat)
        return caught.value


async def sent(service: Service, settings: Settings) -> dict[str, Any]:
    """Return the body that the service took and answered."""
    async with opened(standing_in(service), settings) as (bot, served):
        assert (await bot.reply(CHAT)).text == "A dog."
        return dict(json.loads(served.requests[0].body))


@pytest.mark.parametrize("name", SERVICES)
async def test_a_reply_says_where_it_came_from(name: str) -> None:
    service, settings = SERVICES[name]
    priced = {**settings, "price": {"input": 2.0, "output": 10.0}}
    async with opened(standing_in(service), priced) as (bot, served):
        reply = await bot.reply(CHAT)
        made = reply.provenance
        assert reply.text == "A dog."
        assert made is not None
        assert (made.tokens_in, made.tokens_out) == (20, 5)
        assert made.cost == pytest.approx((20 * 2.0 + 5 * 10.0) / 1e6)
        assert made.model is not None
        assert made.finish_reason in {"stop", "end_turn", "STOP"}
        assert made.replica == bot.urls()[0]
        assert made.prompt_hash is not None
        assert len(made.prompt_hash) == 16
        assert served.url in made.replica


@pytest.mark.parametrize(
    ("name", "model", "revision"),
    [
        ("gpt-5", "gpt-5-mini-2025-08-07", "fp_5"),
        ("azure", "gpt-4o-2024-08-06", "fp_az"),
        ("vllm", "qwen3", "vllm-0.11-tp1"),
        ("llama.cpp", "gemma-3-4b-it-Q4_K_M.gguf", "b6500-7f6b8a1"),
        ("anthropic", "claude-sonnet-4-5-20250929", None),
        ("gemini", "gemini-3-flash-001", None),
        ("bedrock", CLAUDE, None),
    ],
)
async def test_the_model_is_the_one_that_was_served(name: str, model: str, revision: str | None) -> None:
    service, settings = SERVICES[name]
    async with opened(standing_in(service), settings) as (bot, _):
        made = (await bot.reply(CHAT)).provenance
        assert made is not None
        assert (made.model, made.revision) == (model, revision)


@pytest.mark.parametrize(
    ("name", "thinking"),
    [
        ("vllm", {}),
        ("ollama", {}),
        ("llama.cpp", {}),
        ("anthropic", {"extra_body": {"thinking": {"type": "enabled", "budget_tokens": 1_000}}}),
        ("gemini", {"extra_body": {"generationConfig": {"thinkingConfig": {"includeThoughts": True}}}}),
        ("bedrock", {"extra_body": {"additionalModelRequestFields": {"thinking": {"type": "enabled"}}}}),
    ],
)
async def test_thoughts_are_kept_and_not_shown(name: str, thinking: Settings) -> None:
    service, settings = SERVICES[name]
    async with opened(standing_in(service), {**settings, **thinking}) as (bot, _):
        reply = await bot.reply(CHAT)
        assert (reply.text, reply.changes) == ("A dog.", ("thoughts",))
        assert "pet" in (reply.output or "")


@pytest.mark.parametrize(
    ("name", "off"),
    [
        ("vllm", {"extra_body": {"chat_template_kwargs": {"enable_thinking": False}}}),
        ("ollama", {"reasoning_effort": "none"}),
    ],
)
async def test_thinking_is_turned_off(name: str, off: Settings) -> None:
    service, settings = SERVICES[name]
    async with opened(standing_in(service), {**settings, **off}) as (bot, _):
        assert (await bot.reply(CHAT)).output is None


async def test_every_option_of_chat_completions() -> None:
    options = {"max_completion_tokens": 400, "seed": 7, "reasoning_effort": "minimal", "temperature": 1.0}
    more = {"extra_body": {"verbosity": "low"}, "headers": {"OpenAI-Project": "p1"}}
    async with opened(standing_in(standins.gpt5), {**GPT5, **options, **more}) as (bot, served):
        made = (await bot.reply(CHAT)).provenance
        (request,) = served.requests
    body = json.loads(request.body)
    assert {name: body[name] for name in options} == options
    assert body["verbosity"] == "low"
    assert request.headers["openai-project"] == "p1"
    assert made is not None
    assert json.loads(made.sampling or "") == {**options, "verbosity": "low"}


async def test_more_options_of_chat_completions() -> None:
    options = {"top_p": 0.9, "stop": ["\n\n"], "max_tokens": 60, "temperature": 0.7}
    assert (await sent(standins.vllm, {**VLLM, **options})).items() >= options.items()


async def test_options_by_their_names_at_anthropic() -> None:
    body = await sent(standins.anthropic, {**ANTHROPIC, "stop": ["END"], "temperature": 0.5, "top_p": 0.9})
    assert body == {
        "model": "claude-sonnet-4-5",
        "system": body["system"],
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "hey"},
            {"role": "user", "content": "a pet?"},
        ],
        "max_tokens": 1_024,
        "stop_sequences": ["END"],
        "temperature": 0.5,
        "top_p": 0.9,
    }
    assert "i have a dog ." in body["system"]


async def test_options_by_their_names_at_gemini() -> None:
    options = {"stop": ["END"], "temperature": 0.5, "top_p": 0.9, "max_tokens": 60, "seed": 3}
    thoughts = {"extra_body": {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}}}
    body = await sent(standins.gemini, {**GEMINI, **options, **thoughts})
    assert body["generationConfig"] == {
        "stopSequences": ["END"],
        "temperature": 0.5,
        "topP": 0.9,
        "maxOutputTokens": 60,
        "seed": 3,
        "thinkingConfig": {"thinkingBudget": 0},
    }
    assert body["contents"][1] == {"role": "model", "parts": [{"text": "hey"}]}
    assert "i have a dog ." in body["systemInstruction"]["parts"][0]["text"]


async def test_options_by_their_names_at_bedrock() -> None:
    options = {"stop": ["END"], "temperature": 0.5, "top_p": 0.9, "max_tokens": 60}
    body = await sent(standins.bedrock, {**BEDROCK, **options})
    assert body["inferenceConfig"] == {
        "stopSequences": ["END"],
        "temperature": 0.5,
        "topP": 0.9,
        "maxTokens": 60,
    }
    assert "i have a dog ." in body["system"][0]["text"]


@pytest.mark.parametrize("name", ["anthropic", "bedrock", "gemini"])
async def test_lines_of_one_author_in_a_row_are_one_where_turns_are_taken(name: str) -> None:
    service, settings = SERVICES[name]
    twice = replace(CHAT, turns=(Turn("worker", "hi"), Turn("worker", "a pet?")))
    async with opened(standing_in(service), settings) as (bot, served):
        await bot.reply(twice)
        assert r"hi\na pet?" in served.requests[0].body.decode()


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"max_tokens": 60}, "Unsupported parameter: 'max_tokens' is not supported with this model."),
        ({"temperature": 0.7}, "Unsupported value: 'temperature' does not support 0.7 with this model."),
        ({"extra_body": {"top_k": 5}}, "Unrecognized request argument supplied: top_k"),
    ],
)
async def test_what_a_provider_says_of_a_bad_request_reaches_the_researcher(
    option: Settings, message: str
) -> None:
    error = await failure(standing_in(standins.gpt5), {**GPT5, **option})
    assert isinstance(error, ChatRefused)
    assert message in str(error)
    assert not error.retry


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("vllm", "The model `missing` does not exist."),
        ("ollama", 'model "missing" not found, try pulling it first'),
    ],
)
async def test_a_model_that_is_not_there(name: str, message: str) -> None:
    service, settings = SERVICES[name]
    assert message in str(await failure(standing_in(service), {**settings, "model": "missing"}))


async def test_an_error_that_is_a_bare_text() -> None:
    error = await failure(standing_in(standins.ollama), {**OLLAMA, "reasoning_effort": "xhigh"})
    assert "invalid reasoning value: 'xhigh'" in str(error)


async def test_a_chat_that_is_too_long_is_not_asked_for_again() -> None:
    long = replace(CHAT, turns=(Turn("worker", "so " * 500),))
    error = await failure(standing_in(standins.vllm), VLLM, long)
    assert isinstance(error, ChatRefused)
    assert not error.retry
    assert "maximum context length is 4096 tokens" in str(error)


@pytest.mark.parametrize("name", ["azure", "anthropic", "gemini", "bedrock"])
async def test_what_a_filter_keeps_back_is_a_failure_of_its_own_kind(name: str) -> None:
    service, settings = SERVICES[name]
    error = await failure(standing_in(service), {**settings, "refusals": "reply"}, POISON)
    assert isinstance(error, Declined)
    assert not error.retry


def refusing(finish: str = "stop", **message: Any) -> Behaviour:
    choice = {"message": {"role": "assistant", "content": None, **message}, "finish_reason": finish}
    usage = {"prompt_tokens": 20, "completion_tokens": 5}
    return answer(200, json.dumps({"model": "m", "choices": [choice], "usage": usage}).encode())


async def test_a_refusal_is_data_or_a_reply_as_the_study_says() -> None:
    declines = refusing(refusal="I can't talk about that.")
    error = await failure(declines, GPT5)
    assert isinstance(error, Declined)
    assert error.output == "I can't talk about that."
    assert error.provenance is not None
    assert error.provenance.finish_reason == "refusal"
    async with opened(declines, {**GPT5, "refusals": "reply"}) as (bot, _):
        assert (await bot.reply(CHAT)).text == "I can't talk about that."


async def test_half_an_answer_that_a_filter_stopped_is_never_shown() -> None:
    error = await failure(refusing("content_filter", content="Well, you "), {**GPT5, "refusals": "reply"})
    assert isinstance(error, Declined)
    assert error.output == "Well, you "


async def test_thoughts_of_a_try_without_a_reply_are_kept_with_what_they_cost() -> None:
    thinks = refusing("length", reasoning_content="Hmm, a pet.")
    error = await failure(thinks, {**GPT5, "price": {"input": 1.0, "output": 1.0}})
    assert isinstance(error, ThoughtsOnly)
    assert error.output == "<think>Hmm, a pet.</think>"
    assert error.provenance is not None
    assert error.provenance.cost == pytest.approx(25e-6)


async def test_where_nobody_counts_tokens_the_cost_is_estimated_from_above() -> None:
    said = json.dumps({"choices": [{"message": {"content": "A dog."}}]}).encode()
    async with opened(answer(200, said), {**GPT5, "price": {"input": 3.0, "output": 3.0}}) as (bot, served):
        made = (await bot.reply(CHAT)).provenance
        assert made is not None
        assert (made.tokens_in, made.tokens_out) == (None, None)
        # 3 characters a token: of the request, whose length is known, and 6 // 3 + 1 of the answer.
        assert made.cost == pytest.approx(
            (len(json.loads(served.requests[0].body).__repr__()) // 3 + 3) * 3e-6, rel=0.1
        )


@pytest.mark.parametrize("name", SERVICES)
async def test_a_key_that_may_chat_but_list_nothing_is_a_working_bot(name: str) -> None:
    service, settings = SERVICES[name]

    def secretive(request: standins.Request) -> standins.Answer:
        if request.path.partition("?")[0].endswith(("/models", "/models/gemini-3-flash")):
            raise standins.Refused(403, {"error": {"message": "Missing scopes: api.model.read."}})
        return service(request)

    async with opened(standing_in(secretive), settings) as (bot, served):
        await bot.probe()
        assert not bot.is_down
        assert (await bot.reply(CHAT)).text == "A dog."
        # The heartbeat has no body: nothing was asked of the model.
        assert served.requests[0].body == b""
        assert [state.state for state in bot.states()] == ["fine"]


async def test_a_wrong_key_is_told_by_the_chats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOT_KEY", "another")
    for name in ("gpt-5", "azure", "anthropic", "bedrock"):
        service, settings = SERVICES[name]
        error = await failure(standing_in(service), settings)
        assert "it does not accept the key in the environment variable BOT_KEY" in str(error)
        assert error.counts_against_replica


async def test_a_server_that_asks_to_be_left_alone_is_and_is_not_to_blame() -> None:
    quota = replace(CHAT, turns=(Turn("worker", "quota"),))
    async with opened(standing_in(standins.gemini), GEMINI) as (bot, served):
        for _ in range(5):
            with pytest.raises(BotBusy) as caught:
                await bot.reply(quota)
            assert caught.value.after == pytest.approx(34, abs=5)
            assert caught.value.retry
        assert len(served.requests) == 1
        (state,) = bot.states()
        assert (state.state, state.failures) == ("fine", 0)


async def test_a_paid_call_is_repeated_twice_at_most() -> None:
    async with opened(answer(500, b"{}"), GPT5) as (bot, served):
        retries = []
        for _ in range(3):
            with pytest.raises(BotError) as caught:
                await bot.reply(CHAT)
            retries.append(caught.value.retry)
        assert retries == [True, True, False]
        assert "asked 3 times, the most for a bot whose calls are paid" in str(caught.value)
        assert len(served.requests) == 3
        (state,) = bot.states()  # of the replica no number of calls for one line is the reason
        assert state.last_error is not None
        assert "asked 3 times" not in state.last_error


async def test_a_call_that_was_not_taken_may_be_repeated_as_often_as_there_is_time() -> None:
    async with opened(answer(503, b"{}"), GPT5) as (bot, served):
        for _ in range(6):
            with pytest.raises(BotBusy) as caught:
                await bot.reply(CHAT)
            assert caught.value.retry
        assert len(served.requests) == 6


async def test_an_answer_that_was_paid_is_not_asked_for_of_another_replica_in_the_same_call() -> None:
    """Each try is accounted for by itself: whoever asks notes it, and asks again."""
    async with serving(refusing(content="")) as first, serving(refusing(content="")) as second:
        urls = [f"{first.url}/v1", f"{second.url}/v1"]
        bot = open_endpoint(
            ENDPOINT.validate_python({"kind": "openai", "model": "m", "urls": urls, "key": "BOT_KEY"})
        )
        with pytest.raises(EmptyReply):
            await bot.reply(CHAT)
        await bot.close()
        assert len(first.requests) + len(second.requests) == 1


OVER: dict[str, Callable[[], Behaviour]] = {
    "openai": lambda: answer(
        429, b'{"error": {"message": "You exceeded your current quota.", "code": "insufficient_quota"}}'
    ),
    "anthropic": lambda: answer(
        402, b'{"type": "error", "error": {"type": "billing_error", "message": "Your credit is too low."}}'
    ),
}


@pytest.mark.parametrize("kind", OVER)
async def test_a_quota_that_is_used_up_does_not_pass(kind: str) -> None:
    settings = {"openai": GPT5, "anthropic": ANTHROPIC}[kind]
    error = await failure(OVER[kind](), settings)
    assert isinstance(error, BudgetSpent)
    assert not error.retry


async def test_no_key_is_in_any_error(monkeypatch: pytest.MonkeyPatch) -> None:
    told = json.dumps({"error": {"message": f"the key {KEY} is wrong"}}).encode()
    for _, settings in SERVICES.values():
        assert KEY not in str(await failure(answer(400, told), settings))
        assert "the key [key] is wrong" in str(await failure(answer(400, told), settings))


def chunks(*contents: str, finish: str | None = None) -> str:
    """Return the events of a stream that says `contents`, and gives `finish` as the reason of its end."""
    deltas: list[Any] = [{"delta": {"content": content}, "finish_reason": None} for content in contents]
    if finish is not None:
        deltas.append({"delta": {}, "finish_reason": finish})
    return "".join(f"data: {json.dumps({'model': 'm', 'choices': [delta]})}\n\n" for delta in deltas)


def streaming(events: str) -> Behaviour:
    return answer(200, events.encode(), Content_Type="text/event-stream")


def whole(body: Any) -> Behaviour:
    return answer(200, json.dumps(body).encode())


HALF = chunks("I went", " to the mar")
STREAMED = {**LLAMA_CPP, "price": {"input": 1.0, "output": 1.0}}
SAID = {"content": "I went to the mar"}
MESSAGE = {"model": "claude", "content": [{"type": "text", "text": "I went to the mar"}]}
GENERATED = {"content": {"parts": [{"text": "I went to the mar"}]}}
CONVERSED = {"output": {"message": {"content": [{"text": "I went to the mar"}]}}}
LITELLM = 'data: {"error": {"message": "upstream \\u0007died", "type": null, "code": "500"}}\n\n'
BROKEN: dict[str, tuple[Behaviour, Settings, str]] = {
    "a stream with an error": (streaming(HALF + LITELLM), STREAMED, "upstream  died"),
    "the same, and done": (streaming(f"{HALF}{LITELLM}data: [DONE]\n\n"), STREAMED, "upstream  died"),
    "an event that is an error": (streaming(f"{HALF}event: error\ndata: busy\n\n"), STREAMED, "busy"),
    "a stream that only ends": (streaming(HALF), STREAMED, "no reason for its end"),
    "a stream that is done, and not stopped": (
        streaming(f"{HALF}data: [DONE]\n\n"), STREAMED, "no reason for its end",
    ),
    "a stream that stops for an error": (
        streaming(chunks("I went", " to the mar", finish="error")), STREAMED, '"error"',
    ),
    "a stream that stops for an unknown reason": (
        streaming(chunks("I went to the mar", finish="insufficient_system_resource")),
        STREAMED, '"insufficient_system_resource"',
    ),
    "a stream of which nobody says that it is one": (answer(200, HALF.encode()), STREAMED, "no reason"),
    "ends in other capitals": (
        whole({"candidates": [{**GENERATED, "finishReason": "max_tokens"}]}), GEMINI, '"max_tokens"',
    ),
    "a whole answer that stopped for an error": (
        whole({"choices": [{"message": SAID, "finish_reason": "error"}]}),
        VLLM, '"error"',
    ),
    "an error beside a whole answer": (
        whole({"choices": [{"message": SAID}], "error": {"message": "upstream died"}}),
        VLLM, "upstream died",
    ),
    "anthropic pauses": (whole({**MESSAGE, "stop_reason": "pause_turn"}), ANTHROPIC, '"pause_turn"'),
    "anthropic calls a tool": (whole({**MESSAGE, "stop_reason": "tool_use"}), ANTHROPIC, '"tool_use"'),
    "gemini stops for another reason": (
        whole({"candidates": [{**GENERATED, "finishReason": "OTHER"}]}), GEMINI, '"OTHER"',
    ),
    "gemini has not stopped": (whole({"candidates": [GENERATED]}), GEMINI, "no reason for its end"),
    "bedrock calls a tool": (whole({**CONVERSED, "stopReason": "tool_use"}), BEDROCK, '"tool_use"'),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
async def test_an_answer_that_broke_off_is_no_reply(name: str) -> None:
    behaviour, settings, words = BROKEN[name]
    error = await failure(behaviour, settings)
    assert isinstance(error, BrokenOff)
    assert (error.retry, error.output) == (True, "I went to the mar")
    assert words in str(error)
    assert str(error).isprintable()
    assert error.provenance is not None  # it was paid


async def test_an_error_before_anything_was_said_is_told_in_the_providers_words() -> None:
    error = await failure(streaming(LITELLM), STREAMED)
    assert isinstance(error, BrokenOff)
    assert "upstream  died" in str(error)
    spent = 'data: {"error": {"message": "No quota.", "code": "insufficient_quota"}}\n\n'
    assert isinstance(await failure(streaming(spent), STREAMED), BudgetSpent)


WHOLE: dict[str, tuple[Behaviour, Settings]] = {
    "old servers give no reason": (whole({"choices": [{"message": {"content": "A dog."}}]}), VLLM),
    "or null": (whole({"choices": [{"message": {"content": "A dog."}, "finish_reason": None}]}), VLLM),
    "or their own": (
        whole({"choices": [{"message": {"content": "A dog."}, "finish_reason": "eos_token"}]}), VLLM,
    ),
    "a line may hold a separator of lines": (
        streaming(chunks("A dog.\u2028", finish="stop").replace("\\u2028", "\u2028")), STREAMED,
    ),
    "an event in several lines": (
        streaming('event: chunk\r\ndata: {"choices": [{"delta": {"content": "A dog."},\r\n'
                  'data: "finish_reason": "stop"}]}\r\n\r\n'), STREAMED,
    ),
    "an error that is none": (
        streaming(chunks("A dog.", finish="stop") + 'data: {"choices": [], "error": null}\n\n'),
        STREAMED,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WHOLE)
async def test_an_answer_that_is_whole_is_a_reply(name: str) -> None:
    behaviour, settings = WHOLE[name]
    async with opened(behaviour, settings) as (bot, _):
        assert (await bot.reply(CHAT)).text == "A dog."


@pytest.mark.parametrize("finish", ["length", "LENGTH", "MAX_TOKENS", "model_length"])
async def test_a_limit_of_tokens_is_one_in_any_capitals(finish: str) -> None:
    async with opened(streaming(chunks("A dog. And my c", finish=finish)), STREAMED) as (bot, _):
        reply = await bot.reply(CHAT)
        assert (reply.text, reply.changes) == ("A dog.", ("limit",))


async def test_a_filter_is_one_in_any_capitals() -> None:
    assert isinstance(await failure(refusing("CONTENT_FILTER", content="Well, you "), GPT5), Declined)
