"""Models of services, each behind its stand-in, through the real server: what a worker's page receives."""

import asyncio
import json
import re
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest
from pydantic import TypeAdapter

from bots import Bot, Chat, Reply
from bots.serving import Endpoint, open_endpoint
from tests.bots.support import standins
from tests.bots.support.servers import Request, serving
from tests.bots.support.standins import KEY, Answer, Service, standing_in
from tests.server.support.database import make_run
from tests.server.support.server import House, stored
from tests.server.support.study import study_text
from tests.support.waiting import PATIENCE

Serve = Callable[..., House]
ENDPOINT: TypeAdapter[Endpoint] = TypeAdapter(Endpoint)
# Every service, told to think and to say what it thought wherever it can be told that.
SERVICES: dict[str, tuple[Service, str, dict[str, Any]]] = {
    "gpt-5": (standins.gpt5, "/v1", {"kind": "openai", "model": "gpt-5-mini", "reasoning_effort": "high"}),
    "azure": (
        standins.azure,
        "/openai/deployments/chat",
        {
            "kind": "openai",
            "model": "chat",
            "key_header": "api-key",
            "query": {"api-version": "2024-10-21"},
        },
    ),
    "vllm": (standins.vllm, "/v1", {"kind": "openai", "model": "qwen3"}),
    "ollama": (standins.ollama, "/v1", {"kind": "openai", "model": "qwen3:8b"}),
    "llama.cpp": (standins.llama_cpp, "/v1", {"kind": "openai", "model": "gemma", "stream": True}),
    "anthropic": (
        standins.anthropic,
        "/v1",
        {
            "kind": "anthropic",
            "model": "claude-sonnet-4-5",
            "max_tokens": 2_000,
            "extra_body": {"thinking": {"type": "enabled", "budget_tokens": 1_000}},
        },
    ),
    "gemini": (
        standins.gemini,
        "/v1beta",
        {
            "kind": "gemini",
            "model": "gemini-3-flash",
            "extra_body": {"generationConfig": {"thinkingConfig": {"includeThoughts": True}}},
        },
    ),
    "bedrock": (
        standins.bedrock,
        "",
        {
            "kind": "bedrock",
            "model": "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "extra_body": {"additionalModelRequestFields": {"thinking": {"type": "enabled"}}},
        },
    ),
}
# What the stand-ins think of and go on with is a pet; what they say is a dog.
LEAKS = re.compile(
    r"\bpet\b|think|User:|im_end|reasoning|gpt-5|azure|qwen|gemma|gguf|claude|anthropic|gemini|bedrock|chatcmpl"
)
SYSTEMS = [{"name": f"system_{at}", "family": f"family_{at}", "bot": "x"} for at in range(len(SERVICES))]


def unruly(service: Service) -> Service:
    """Return a service that also thinks within its reply, closes it with a mark and speaks for the user."""

    def answers(request: Request) -> Answer:
        answer = service(request)
        whole = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
        for said, instead in {
            '"A dog."': "<think>A pet it is.</think>A dog.<|im_end|>\nUser: What pet?",
            '"A d"': "<think>A pet it is.</think>A d",
            '"og."': "og.<|im_end|>\nUser: What pet?",
        }.items():
            whole = whole.replace(said, json.dumps(instead))
        body = whole if isinstance(answer.body, str) else json.loads(whole)
        return Answer(body, answer.status, answer.headers)

    return answers


class Served:
    """A model of a service, asked over a connection of its own each time."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    async def reply(self, chat: Chat) -> Reply:
        bot = open_endpoint(self._endpoint)
        try:
            return await bot.reply(chat)
        finally:
            await bot.close()


def payloads(house: House) -> list[str]:
    """Return all that a worker is sent who talks to every system, their page drawn anew in each chat."""
    joined = house.join("ann")
    token, sent = joined.json()["token"], [str(joined.headers), joined.text]
    with house.open(token) as page:
        page.agree()
        sent += page.frames
    for number in range(len(SERVICES) + 1):
        with house.open(token) as page:
            page.open_topic()
            page.say("Hello!")
            page.say("And who are you?")
            sent += page.frames
        with house.open(token) as page:
            page.send("end_conversation")
            page.until("rating_due")
            page.rate("topic_due" if number < len(SERVICES) else "feedback_due")
            sent += page.frames
    return [payload.replace(token, "") for payload in sent]


async def test_of_every_service_the_reply_reaches_the_worker_and_nothing_else(
    url: str, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOT_KEY", KEY)
    study = study_text(
        systems=SYSTEMS,
        systems_per_assignment=len(SYSTEMS),
        simulate={"quality": {each["name"]: 0.5 for each in SYSTEMS}},
        timeouts={"bot_try": PATIENCE, "bot_total": 2 * PATIENCE},
    )
    async with AsyncExitStack() as stack:
        bots: dict[str, Bot] = {}
        for system, (service, path, settings) in zip(SYSTEMS, SERVICES.values(), strict=True):
            served = await stack.enter_async_context(serving(standing_in(unruly(service))))
            given = {**settings, "urls": [served.url + path], "key": "BOT_KEY"}
            bots[system["name"]] = Served(ENDPOINT.validate_python(given))
        house = serve(url, make_run(url, study, bots), messages_per_session="1000/10second")
        sent = await asyncio.to_thread(payloads, house)
    everything = "\n".join(sent)
    assert LEAKS.findall(everything.casefold()) + LEAKS.findall(everything) == []
    shown = stored(house, "SELECT text FROM v1_reply_output")
    assert shown == [("A dog.",)] * (2 * len(SERVICES))
    assert everything.count('"text":"A dog."') >= 2 * len(SERVICES)
    outputs = [output for (output,) in stored(house, "SELECT output FROM reply_output")]
    assert all("A pet it is." in output for output in outputs)  # kept for the analyst, all the same
