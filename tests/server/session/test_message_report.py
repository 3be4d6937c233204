"""A worker reports a message, takes that back, or leaves with it: what is stored, and what they are told."""

from dataclasses import replace
from typing import Any

import pytest

from server.bots.lineup import study_card
from server.errors import WrongPhase
from server.session import protocol as wire
from server.session.events import Accept
from server.session.records import Closed, MessageReported, ReportTakenBack
from server.session.state import Phase, WaysOut
from server.session.steps.worker_view import snapshot
from server.study import parse_study
from tests.server.support.items import new_items_state
from tests.server.support.pair_walk import ONE_HISTORY, PairWalk
from tests.server.support.study import new_state, study_text
from tests.server.support.walk import SLOW, Walk, shown, told

LINE: dict[str, Any] = {"conversation": 1, "attempt": 1, "turn": 1, "reason": "offensive"}
CARD = study_card(parse_study(study_text()))


def chatting(**changes: Any) -> Walk:
    return Walk(new_state(**changes)).to(Phase.CHAT)


def shown_reports(walk: Walk) -> tuple[wire.ReportCard, ...]:
    card = snapshot(walk.state, CARD, walk.now).conversation
    assert card is not None
    return card.reports


def test_a_reply_is_reported_changed_and_taken_back() -> None:
    walk = chatting().chat(1)
    outcome = walk.send("report", "one", **LINE, note="It insults me.")
    first = MessageReported("a1-1.1", 1, "offensive", "It insults me.", False, walk.now, "one")
    assert outcome.records == (first,)
    assert outcome.effects == (Accept("one"),)
    card = wire.ReportCard(turn=1, side=None, reason="offensive", note="It insults me.")
    assert shown_reports(walk) == (card,)
    again = walk.send("report", "two", **LINE | {"reason": "harm"})
    second = MessageReported("a1-1.1", 1, "harm", None, False, walk.now, "two")
    assert again.records == (ReportTakenBack("a1-1.1", 1, walk.now, "two"), second)
    assert walk.state.conversations[0].reports == (second,)
    back = walk.send("take_back_report", "three", conversation=1, attempt=1, turn=1)
    assert back.records == (ReportTakenBack("a1-1.1", 1, walk.now, "three"),)
    assert shown_reports(walk) == ()
    assert walk.state.phase is Phase.CHAT  # all of it beside the chat
    with pytest.raises(WrongPhase, match="Expected a line that is reported"):
        walk.send("take_back_report", conversation=1, attempt=1, turn=1)


def test_only_what_the_partner_has_said_and_the_worker_has_seen_is_reported() -> None:
    walk = chatting(**SLOW)
    walk.send("say")
    at = shown(walk.reply())
    for turn in (0, 1, 2):  # their own line, one that is not shown yet, none
        with pytest.raises(WrongPhase, match="a message of the chat partner that is shown"):
            walk.send("report", **LINE | {"turn": turn})
    with pytest.raises(WrongPhase, match="a message of one chatbot"):
        walk.send("report", **LINE, side="left")
    walk.now = at
    assert walk.send("report", **LINE).records


def test_who_leaves_with_a_report_is_paid_as_if_they_had_finished() -> None:
    state = new_state()
    context = replace(state.context, return_to="/done", ways_out=WaysOut(returned="/back"))
    walk = Walk(state._replace(context=context)).to(Phase.CHAT).chat(1)
    outcome = walk.send("report", "bye", **LINE, leave=True)
    report = MessageReported("a1-1.1", 1, "offensive", None, True, walk.now, "bye")
    assert outcome.records == (report, Closed("returned", walk.now))
    assert told(outcome) == [wire.Ended(phase="returned", return_to="/done", code="CODE-1234")]
    assert outcome.effects[-1] == Accept("bye")
    assert walk.send("report", "bye", **LINE, leave=True).records == ()
    view = snapshot(walk.state, CARD, walk.now)
    assert (view.phase, view.code, view.return_to) == (Phase.RETURNED, "CODE-1234", "/done")


def test_where_a_report_has_a_way_of_its_own_the_worker_goes_there() -> None:
    state = new_state()
    ways = WaysOut(our_failure="/fault", reported="/reported", reported_code="R1", returned="/back")
    context = replace(state.context, return_to="/done", ways_out=ways)
    walk = Walk(state._replace(context=context)).to(Phase.CHAT).chat(1)
    assert told(walk.send("report", **LINE, leave=True)) == [
        wire.Ended(phase="returned", return_to="/reported", code="R1")
    ]


def test_who_reports_and_later_leaves_otherwise_has_no_code() -> None:
    walk = chatting().chat(1)
    walk.send("report", **LINE)
    assert told(walk.send("leave")) == [wire.Ended(phase="returned")]
    assert snapshot(walk.state, CARD, walk.now).code is None


def test_a_reply_of_either_side_is_reported() -> None:
    walk = PairWalk()
    walk.exchange(0)
    with pytest.raises(WrongPhase, match="which of two chatbots"):
        walk.tell("report", turn=1, reason="sexual")
    walk.tell("report", turn=1, side="right", reason="sexual")
    assert [len(c.reports) for c in walk.state.conversations[:2]] == [0, 1]
    assert [(card.turn, card.side) for card in shown_reports(walk)] == [(1, "right")]
    walk.tell("take_back_report", turn=1, side="right")
    assert shown_reports(walk) == ()


def test_of_one_history_the_line_that_was_chosen_is_reported() -> None:
    walk = PairWalk(ONE_HISTORY)
    walk.exchange(0)
    walk.tell("choose", turn=1, preference="right")
    walk.tell("report", turn=1, reason="other", note="Odd.")
    assert [len(c.reports) for c in walk.state.conversations[:2]] == [0, 1]


def test_a_line_of_an_item_is_reported_whoever_said_it() -> None:
    walk = Walk(new_items_state())
    walk.send("agree")
    with pytest.raises(WrongPhase):
        walk.send("report", **LINE)  # a text is one line
    walk.send("report", **LINE | {"turn": 0})
    assert shown_reports(walk)[0].turn == 0
