"""A moderation service, real HTTP: what it flags fails a bot, and what is no answer is told."""

import asyncio
import json

import pytest

from bots import BotError
from bots.conformance.check import MODERATED
from bots.endpoints.moderation import Moderation
from bots.serving import check_bot
from tests.bots.support.servers import Request, answer, serving
from tests.bots.support.wrong_bots import Speaks
from tests.support.waiting import PATIENCE


async def flags_grumbling(request: Request, writer: asyncio.StreamWriter) -> None:
    lines = json.loads(request.body)["input"]
    results = [{"flagged": "grumble" in line, "categories": {}} for line in lines]
    await answer(200, json.dumps({"id": "1", "results": results}).encode())(request, writer)


async def test_what_the_service_flags_fails() -> None:
    async with serving(flags_grumbling) as service:
        moderation = Moderation(service.url)
        assert await moderation.flagged(["fine", "grumble", "fine"]) == ["grumble"]
        report = await check_bot(
            Speaks(lambda chat: f"I grumble for the {chat.replies_given()}th time."),
            names=(),
            at_once=1,
            delays=(),
            patience=PATIENCE,
            progress=lambda done, total: None,
            moderation=moderation,
        )
    found = next(finding for finding in report.findings if finding.question == "Is it decent?")
    assert found.verdict == "fail"
    assert "what the moderation service flags in" in found.reason


async def test_a_service_that_does_not_answer_leaves_a_warning_and_the_rest_of_the_check() -> None:
    async with serving(answer(500, b"")) as service:
        report = await check_bot(
            Speaks(lambda chat: f"I grumble for the {chat.replies_given()}th time."),
            names=(),
            at_once=1,
            delays=(),
            patience=PATIENCE,
            progress=lambda done, total: None,
            moderation=Moderation(service.url),
        )
    assert report.findings[-1].question == MODERATED
    assert (report.findings[-1].verdict, report.verdict) in {("warn", "warn"), ("warn", "fail")}
    assert f"the moderation service at {service.url} gave no answer" in report.findings[-1].reason
    assert next(each for each in report.findings if each.question == "Is it decent?").verdict == "pass"


@pytest.mark.parametrize("content", [b"no JSON", b'{"results": []}'], ids=["no JSON", "too few"])
async def test_what_is_no_answer_is_told(content: bytes) -> None:
    async with serving(answer(200, content)) as service:
        with pytest.raises(BotError, match="the moderation service at http://127"):
            await Moderation(service.url).flagged(["fine"])
