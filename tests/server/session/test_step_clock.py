"""A server's clock that is set back while people chat: nothing said is hidden, nobody waits for it."""

from datetime import timedelta

from server.bots.lineup import study_card
from server.session.protocol import ConversationCard
from server.session.state import Phase
from server.session.steps.step import resume
from server.session.steps.worker_view import snapshot
from server.study import parse_study
from tests.server.support.pair_walk import PairWalk
from tests.server.support.study import new_state, seconds, study_text
from tests.server.support.walk import SLOW, Walk, shown

NOW, BACK = seconds(0), seconds(60)
LONGEST = seconds(10)  # that a reply of SLOW waits


def card(walk: Walk, *, earlier: timedelta = NOW) -> ConversationCard:
    drawn = snapshot(walk.state, study_card(parse_study(study_text())), walk.now - earlier).conversation
    assert drawn is not None
    return drawn


def lines(walk: Walk, *, earlier: timedelta = NOW) -> list[int]:
    return [turn.turn for turn in card(walk, earlier=earlier).turns]


def test_the_worker_goes_on_and_a_page_that_comes_back_shows_every_line() -> None:
    walk = Walk(new_state(**SLOW)).to(Phase.CHAT)
    walk.send("say")
    walk.now = shown(walk.reply())
    walk.now -= BACK
    assert walk.send("say").records  # the reply before it was shown
    assert lines(walk) == [0, 1, 2]
    walk.now = shown(walk.reply())
    assert lines(walk) == [0, 1, 2, 3]
    assert not card(walk).typing


def test_a_reply_made_before_is_shown_at_once() -> None:
    walk = Walk(new_state(**SLOW)).slow_to_minimum()
    walk.reply()
    assert lines(walk) == [0, 1, 2]
    assert lines(walk, earlier=BACK) == [0, 1, 2, 3]
    assert not card(walk, earlier=BACK).typing
    assert resume(walk.state, walk.now - BACK) == ()


def test_a_reply_made_after_waits_no_longer_than_ever() -> None:
    walk = Walk(new_state(**SLOW)).slow_to_minimum()
    walk.now -= BACK
    assert walk.now < shown(walk.reply()) <= walk.now + LONGEST


def test_of_two_side_by_side_the_second_waits_for_no_time_that_is_gone() -> None:
    walk = PairWalk(**SLOW)
    walk.say(0)
    walk.answer(1, 1, "left")
    walk.now -= BACK
    show_at = shown(walk.answer(2, 1, "right"))
    assert walk.now < show_at <= walk.now + LONGEST
    assert lines(walk) == [0]
    walk.now = show_at
    assert lines(walk) == [0, 1]
    walk.now -= BACK
    walk.say(2)
    assert lines(walk) == [0, 1, 2]
