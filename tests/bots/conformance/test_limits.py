"""Verdicts near a limit: who is asked more, and how often the verdict is wrong."""

import random

import pytest

from benchmarks.check_errors import MORE, refused
from bots.conformance.check import check_bot
from bots.conformance.limits import DEAF, MOST_MORE, TOLERATED
from bots.conformance.report import ConformanceReport
from bots.core.chat import Chat, Reply
from tests.bots.support.wrong_bots import Person

FIRST = 48  # calls of a check with eight conversations at once


class SometimesEchoes:
    """A person who says the worker's line again in the calls whose numbers are given, from 0 on."""

    def __init__(self, calls: set[int]) -> None:
        self._calls = calls
        self._asked = -1

    async def reply(self, chat: Chat) -> Reply:
        self._asked += 1
        return Reply(chat.turns[-1].text) if self._asked in self._calls else await Person().reply(chat)


async def checked(calls: set[int]) -> tuple[ConformanceReport, list[tuple[int, int]]]:
    told: list[tuple[int, int]] = []
    report = await check_bot(
        SometimesEchoes(calls),
        names=(),
        at_once=8,
        delays=(),
        rng=random.Random(1),
        progress=lambda done, total: told.append((done, total)),
    )
    return report, told


async def test_a_bot_that_had_bad_luck_is_asked_more_and_is_not_refused() -> None:
    report, told = await checked(set(range(7)))
    # Of the seven lines those of eight characters and more count: 5 or more of 48 are too many for now,
    # and at most 7 of 70 are not.
    assert report.calls == FIRST + MORE
    assert told[-1] == (report.calls, report.calls)
    assert report.verdict != "fail"


async def test_a_bot_beyond_doubt_is_not_asked_more() -> None:
    report, _ = await checked(set(range(0, 200, 3)))
    assert report.verdict == "fail"
    assert report.calls == FIRST  # 14 of 48 or more: 14 ln 2 - 34 ln(0.9 / 0.8) = 5.7, above ln 99 = 4.6
    report, _ = await checked({7, 9})
    assert (report.calls, report.verdict) == (FIRST, "pass")


async def test_a_bot_that_stays_near_the_limit_is_asked_so_often_and_no_more() -> None:
    report, _ = await checked(set(range(0, 400, 6)))
    assert report.calls <= FIRST + MOST_MORE * MORE


def test_a_tolerated_share_is_rarely_refused_and_a_high_one_rarely_let_through() -> None:
    assert refused(TOLERATED, 0.10, FIRST, MOST_MORE)[0] == pytest.approx(0.0200, abs=1e-4)
    assert refused(TOLERATED, 0.25, FIRST, MOST_MORE)[0] == pytest.approx(0.9957, abs=1e-4)
    assert refused(DEAF, 0.50, 28, MOST_MORE)[0] == pytest.approx(0.0196, abs=1e-4)
