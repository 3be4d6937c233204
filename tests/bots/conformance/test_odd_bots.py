"""Tests of the whole check, without a server, on each of the odd bots."""

import random

import pytest

from bots.serving import ConformanceReport, check_bot
from tests.bots.conformance.odd_bots import GOOD, JOKES, ODD, OddBot
from tests.support.waiting import PATIENCE


async def checked(bot: OddBot, seed: int) -> ConformanceReport:
    return await check_bot(
        bot,
        names=("mybot",),
        at_once=2,
        delays=(30.0, 60.0),
        patience=PATIENCE,
        progress=lambda done, total: None,
        rng=random.Random(seed),
    )


def test_there_are_fifty_three() -> None:
    assert len({bot.name for bot in ODD}) == len(ODD) == 53


@pytest.mark.parametrize("bot", [*ODD, *JOKES], ids=lambda bot: bot.name)
async def test_an_odd_bot_is_found_out_by_its_oddity(bot: OddBot) -> None:
    for seed in range(2):
        report = await checked(bot, seed)
        found = {finding.question: finding for finding in report.findings}
        assert found[bot.question].verdict == bot.verdict, (seed, found[bot.question])
        assert report.verdict == max(bot.verdict, report.verdict, key=("pass", "warn", "fail").index)


@pytest.mark.parametrize("bot", GOOD, ids=lambda bot: bot.name)
async def test_a_good_bot_raises_no_alarm(bot: OddBot) -> None:
    for seed in range(4):
        report = await checked(bot, seed)
        assert [finding for finding in report.findings if finding.verdict != "pass"] == []
