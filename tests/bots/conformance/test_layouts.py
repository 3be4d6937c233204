"""A model whose chat template is unusual is not fit, and the check says which settings it needs."""

import asyncio
import json
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from pydantic import TypeAdapter

from bots.conformance.check import LAYOUT
from bots.conformance.report import ConformanceReport
from bots.serving import Endpoint, check_bot, open_endpoint
from tests.bots.support.servers import Request, answer, saying, serving

ENDPOINT: TypeAdapter[Endpoint] = TypeAdapter(Endpoint)
Messages = list[dict[str, Any]]


def roles(messages: Messages) -> list[str]:
    return [message["role"] for message in messages]


def no_system(messages: Messages) -> bool:
    return "system" not in roles(messages) and "developer" not in roles(messages)


def alternating(messages: Messages) -> bool:
    return all(one != other for one, other in pairwise(roles(messages)))


TEMPLATES: dict[str, tuple[int, Callable[[Messages], bool], str]] = {
    "Gemma 2, by vLLM": (400, no_system, "instructions: first_message, alternating: false, parts: false"),
    "Gemma 2, by llama-cpp-python": (
        500,
        lambda messages: no_system(messages) and alternating(messages),
        "instructions: first_message, alternating: true, parts: false",
    ),
    "developer only": (
        400,
        lambda messages: "system" not in roles(messages) and "developer" in roles(messages),
        "instructions: developer, alternating: false, parts: false",
    ),
    "parts only": (
        422,
        lambda messages: all(isinstance(message["content"], list) for message in messages),
        "instructions: system, alternating: false, parts: true",
    ),
}


async def checked(status: int, takes: Callable[[Messages], bool], **settings: Any) -> ConformanceReport:
    """Return the check of a model whose server answers `status` to messages that its template refuses."""

    async def behave(request: Request, writer: asyncio.StreamWriter) -> None:
        good = takes(json.loads(request.body)["messages"])
        await (saying("Tea is fine.") if good else answer(status, b"{}"))(request, writer)

    async with serving(behave) as served:
        given = {"kind": "openai", "urls": [served.url], "model": "m", "prompt": "Be kind.\n\n{persona}"}
        bot = open_endpoint(ENDPOINT.validate_python(given | settings))
        try:
            return await check_bot(bot, names=(), at_once=1, delays=(), progress=lambda done, of: None)
        finally:
            await bot.close()


@pytest.mark.parametrize("name", TEMPLATES)
async def test_the_check_says_which_settings_a_template_needs(name: str) -> None:
    status, takes, settings = TEMPLATES[name]
    report = await checked(status, takes)
    (found_layout,) = [finding for finding in report.findings if finding.question == LAYOUT]
    assert settings in found_layout.reason
    assert report.verdict == "fail"
    chosen = {
        key: json.loads(value) if value in ("true", "false") else value
        for key, value in re.findall(r"(\w+): (\w+)", settings)
    }
    again = await checked(status, takes, **chosen)
    assert not again.stopped
    assert all(finding.question != LAYOUT for finding in again.findings)


async def test_where_no_layout_helps_nothing_is_advised() -> None:
    report = await checked(400, lambda messages: False)
    assert report.verdict == "fail"
    assert all(finding.question != LAYOUT for finding in report.findings)


async def test_a_bot_that_only_thinks_is_asked_in_no_other_layout() -> None:
    thoughts = saying("<think>Tea?</think>")
    async with serving(thoughts) as served:
        given = {"kind": "openai", "urls": [served.url], "model": "m"}
        bot = open_endpoint(ENDPOINT.validate_python(given))
        report = await check_bot(bot, names=(), at_once=1, delays=(), progress=lambda done, of: None)
        await bot.close()
        assert len(served.requests) == report.calls
