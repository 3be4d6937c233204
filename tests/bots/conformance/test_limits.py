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
    report, told = await checked(set(range(5)))
    # Four of the five lines are long enough to count: 4 ln 4 - 44 ln(0.95 / 0.80) = -2.0 leaves it open.
    # After 70 replies it is -5.8, below -ln 99 = -4.6.
    assert report.calls == FIRST + MORE
    assert told[-1] == (report.calls, report.calls)
    assert report.verdict != "fail"


async def test_a_bot_that_goes_on_is_refused_and_one_beyond_doubt_is_not_asked_more() -> None:
    report, _ = await checked(set(range(0, 200, 4)))
    assert report.verdict == "fail"
    assert report.calls == FIRST  # 10 of 48 or more: 10 ln 4 - 38 ln(0.95 / 0.80) = 7.3, above ln 99
    report, _ = await checked({7, 9})
    assert (report.calls, report.verdict) == (FIRST, "pass")


def test_a_share_of_half_or_twice_the_limit_is_rarely_taken_for_the_other() -> None:
    assert refused(TOLERATED, 0.05, FIRST, MOST_MORE)[0] == pytest.approx(0.0023, abs=1e-4)
    assert refused(TOLERATED, 0.20, FIRST, MOST_MORE)[0] == pytest.approx(0.9968, abs=1e-4)
    assert refused(DEAF, 0.35, 28, MOST_MORE)[0] == pytest.approx(0.0020, abs=1e-4)
