"""Tests of reply times: they follow the study's distribution of delays, whatever the bot and its words."""

import math
import statistics
from statistics import NormalDist, median

import pytest

from server.session.plan import QC, derive_seed
from server.session.reply_time import ReplyTime, reply_delay, word_pace
from server.session.state import Phase
from tests.server.support.study import AT, new_state, seconds
from tests.server.support.walk import SLOW, Walk, shown

N = 200
NATURAL = ReplyTime(median=2.5, spread=0.35, longest=8.0)


def test_they_are_quantiles_of_the_log_normal() -> None:
    times = ReplyTime(median=2.0, spread=0.5, longest=120.0).quantiles(N)
    assert sorted(times) == list(times)
    assert median(times) == pytest.approx(2.0, rel=1e-3)
    # About 15.9 % lie below one standard deviation under the mean of the logarithm.
    below = sum(time < 2.0 * math.exp(-0.5) for time in times) / len(times)
    assert below == pytest.approx(NormalDist().cdf(-1), abs=1 / len(times))


def test_the_longest_cuts_them_off() -> None:
    assert max(ReplyTime(median=2.5, spread=0.35, longest=4.0).quantiles(N)) == 4.0


def test_a_study_without_delays_has_none() -> None:
    assert set(ReplyTime(median=0.0).quantiles(N)) == {0.0}


def delays(reply_time: ReplyTime, pace: float = 1.0, n: int = 4000) -> list[float]:
    return [reply_delay(reply_time, pace, seed, 1).total_seconds() for seed in range(n)]


def test_reply_times_follow_the_studys_distribution() -> None:
    drawn = delays(NATURAL)
    # The median of 4000 draws has a standard error of 1.2533 * 0.35 / sqrt(4000) = 0.7 % of 2.5.
    assert statistics.median(drawn) == pytest.approx(2.5, rel=0.03)
    # One standard deviation up, in logarithms: exp(0.35) * 2.5 = 3.548; the 84.13 % quantile.
    assert sorted(drawn)[round(0.8413 * len(drawn))] == pytest.approx(3.548, rel=0.04)
    assert len(set(drawn)) > 3900


def test_no_reply_takes_longer_than_the_longest() -> None:
    drawn = delays(ReplyTime(median=2.5, spread=1.5, longest=4.0))
    assert max(drawn) == 4.0
    assert min(drawn) > 0


@pytest.mark.parametrize("pace", [0.0, 0.1, 1.0])
def test_pace_scales_every_delay(pace: float) -> None:
    scaled = delays(NATURAL, pace, 50)
    assert scaled == pytest.approx([pace * delay for delay in delays(NATURAL, 1.0, 50)], abs=1e-6)


def test_a_study_without_delays_shows_every_reply_at_once() -> None:
    assert set(delays(ReplyTime(median=0.0), n=20)) == {0.0}


def test_no_spread_is_always_the_median() -> None:
    assert set(delays(ReplyTime(median=3.0, spread=0.0, longest=8.0), n=20)) == {3.0}


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_a_quantile_is_that_of_the_delays(share: float) -> None:
    drawn = sorted(delays(ReplyTime(median=2.5, spread=0.35, longest=4.0)))
    below = sum(delay <= ReplyTime(median=2.5, spread=0.35, longest=4.0).quantile(share) for delay in drawn)
    # The share of 4000 draws has a standard error of at most sqrt(0.25 / 4000) = 0.008. The cut at 4.0 is
    # 1.34 standard deviations up, so that the 95 % quantile is the cut itself, which every delay reaches.
    assert below / len(drawn) == pytest.approx(1.0 if share == 0.95 else share, abs=0.03)


def test_the_floor_is_what_hardly_a_delay_is_below() -> None:
    # exp(-1.644854 * 0.35) * 2.5 = 1.4058
    assert NATURAL.floor == pytest.approx(1.4058, abs=1e-4)
    assert ReplyTime(median=0.0).floor == 0.0
    assert ReplyTime(median=9.0, spread=0.0, longest=5.0).floor == 5.0


def test_each_line_has_a_delay_of_its_own_that_is_the_same_after_a_restart() -> None:
    drawn = [reply_delay(NATURAL, 1.0, 7, index) for index in range(1, 21, 2)]
    assert len(set(drawn)) == 10
    assert drawn == [reply_delay(NATURAL, 1.0, 7, index) for index in range(1, 21, 2)]


@pytest.mark.parametrize("text", ["Yes.", "x" * 2000])
@pytest.mark.parametrize("system", ["quokka_plain", "marmot_warm", QC])
def test_delays_depend_neither_on_the_system_nor_on_what_it_says(system: str, text: str) -> None:
    # Whoever stands at a place, and however much they say, the delay is that of the place's seed.
    walk = Walk(new_state((system, "wombat_plain"), **SLOW)).to(Phase.CHAT)
    walk.send("say")
    plan = walk.state.conversations[0].plan
    expected = reply_delay(ReplyTime(**SLOW["reply_time"]), 1.0, plan.seed, 1)
    assert shown(walk.reply(text)) == AT + expected
    assert plan.seed == new_state(("dugong_plain", "wombat_plain")).conversations[0].plan.seed


def test_a_bot_that_is_slower_than_its_delay_is_shown_at_once() -> None:
    walk = Walk(new_state(**SLOW)).to(Phase.CHAT)
    walk.send("say")
    walk.now = AT + seconds(11)  # later than `longest`
    assert shown(walk.reply()) == walk.now


def test_the_pace_of_words_tells_no_system_apart() -> None:
    # The chance that a line of one system appears at a slower pace than a line of the others, for six systems
    # of 500 lines each: at 0.5 it says nothing. Its standard deviation is about 0.0135, so 0.05 is 3.7 of
    # them.
    paces = {
        system: [word_pace(derive_seed(system, line // 10), line % 10 * 2 + 1) for line in range(500)]
        for system in range(6)
    }
    for system, own in paces.items():
        rest = [pace for other, of_other in paces.items() if other != system for pace in of_other]
        slower = sum((own_pace > pace) + (own_pace == pace) / 2 for own_pace in own for pace in rest)
        assert abs(slower / (len(own) * len(rest)) - 0.5) < 0.05
    every = [pace for own in paces.values() for pace in own]
    assert 45 <= min(every) < 50
    assert 110 < max(every) <= 120
