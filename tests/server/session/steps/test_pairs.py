"""Two chatbots side by side: both are asked, both replies come together, the worker chooses."""

import pytest

from server.bots.lineup import study_card
from server.errors import ChoiceMissing, IncompleteRating, NoTies, ReplyPending, TopicMissing, WrongPhase
from server.session import protocol as wire
from server.session.events import AskBot, EndedByResearcher, ShowReply
from server.session.records import ConversationRated, SideChosen, WritingKept
from server.session.state import Phase
from server.session.steps.pairs import heard
from server.session.steps.step import resume
from server.session.steps.worker_view import reply as show_reply
from server.session.steps.worker_view import snapshot
from server.study import parse_study
from tests.server.support.pair_walk import ONE_HISTORY, PairWalk
from tests.server.support.study import AT, pairs_text, seconds
from tests.server.support.walk import told
from tests.server.support.writing import WRITING

BY_TURN = {"choose": "turn"}
NAMED = {"conversation": 1, "attempt": 1}


def test_both_are_asked_and_shown_together_after_one_drawn_delay() -> None:
    walk = PairWalk(reply_time={"median": 4, "spread": 0.5, "longest": 10})
    asked = walk.say(0)
    assert [effect for effect in asked.effects if isinstance(effect, AskBot)] == [
        AskBot("a1-1.1", 1),
        AskBot("a1-2.1", 1),
    ]
    walk.now = AT + seconds(1)
    assert walk.answer(2, 1, "right").effects == ()  # the other one has not answered
    assert snapshot(walk.state, study_card(parse_study(pairs_text())), AT + seconds(60)).conversation.typing
    walk.now = AT + seconds(30)  # slower than any delay
    (shown,) = walk.answer(1, 1, "left").effects
    assert shown == ShowReply("a1-1.1", 1, AT + seconds(30))


def test_a_fast_pair_waits_for_the_delay_that_is_drawn_once() -> None:
    walk = PairWalk(reply_time={"median": 4, "spread": 0.5, "longest": 10})
    walk.say(0)
    walk.answer(1, 1, "left")
    (shown,) = walk.answer(2, 1, "right").effects
    assert isinstance(shown, ShowReply)
    # No record tells the two apart by their pace: both may be shown at one and the same time.
    assert {conversation.turns[1].show_at for conversation in walk.state.conversations[:2]} == {shown.at}
    assert shown.at > AT
    assert resume(walk.state, AT) == (shown,)
    with pytest.raises(ReplyPending):
        walk.say(2)


def test_at_the_end_the_worker_chooses_once_and_nothing_is_rated() -> None:
    walk = PairWalk()
    walk.exchange(0)
    walk.exchange(2)
    (due, _) = walk.tell("end_conversation").effects
    assert due.message == wire.ChoiceDue(conversation=1, attempt=1, turn=3)
    assert walk.state.phase is Phase.CHOICE
    with pytest.raises(WrongPhase, match="after line 3"):
        walk.choose(1, "left")
    outcome = walk.choose(3, "right")
    assert [type(record) for record in outcome.records] == [SideChosen, ConversationRated, ConversationRated]
    assert [record.ratings for record in outcome.records[1:]] == [(), ()]
    assert told(outcome)[0] == wire.TopicDue(conversation=2, attempt=1, conversations=2, icebreaker=None)


def test_each_of_the_two_is_rated_where_the_study_has_criteria() -> None:
    walk = PairWalk(criteria=[{"label": "fun", "statement": "It was fun."}])
    walk.exchange(0)
    walk.exchange(2)
    walk.tell("end_conversation")
    assert told(walk.choose(3, "tie")) == [wire.RatingDue(conversation=1, attempt=1, side="left")]
    with pytest.raises(WrongPhase, match="rating of left"):
        walk.tell("rate", ratings={"fun": 3}, side="right")
    assert told(walk.tell("rate", ratings={"fun": 3}, side="left")) == [
        wire.RatingDue(conversation=1, attempt=1, side="right")
    ]
    with pytest.raises(IncompleteRating):
        walk.tell("rate", ratings={}, side="right")
    assert isinstance(told(walk.tell("rate", ratings={"fun": 9}, side="right"))[0], wire.TopicDue)


def test_after_each_turn_the_worker_chooses_before_going_on() -> None:
    walk = PairWalk(BY_TURN)
    walk.exchange(0)
    with pytest.raises(ChoiceMissing):
        walk.say(2)
    assert told(walk.choose(1, "left")) == []
    with pytest.raises(WrongPhase, match="nothing to choose now"):
        walk.choose(1, "right")
    walk.exchange(2)
    with pytest.raises(ChoiceMissing):
        walk.tell("end_conversation")
    walk.choose(3, "tie")
    assert isinstance(told(walk.tell("end_conversation"))[0], wire.TopicDue)
    left, right = walk.state.conversations[:2]
    assert [choice.preference for choice in left.choices] == ["left", "tie"]
    # Each system knows what it has said itself.
    assert [line.text for line in heard(walk.state, right)] == ["Hello.", "right 0", "Hello.", "right 2"]


def test_with_one_history_both_systems_hear_the_chosen_reply() -> None:
    walk = PairWalk(ONE_HISTORY)
    walk.exchange(0)
    assert told(walk.choose(1, "right")) == [wire.GoesOn(conversation=1, attempt=1, turn=1, text="right 0")]
    walk.exchange(2)
    (told_of_tie,) = told(walk.choose(3, "tie"))
    left, right = walk.state.conversations[:2]
    lines = [line.text for line in heard(walk.state, left)]
    assert lines == [line.text for line in heard(walk.state, right)]
    assert lines == ["Hello.", "right 0", "Hello.", told_of_tie.text]
    card = snapshot(walk.state, study_card(parse_study(pairs_text())), AT).conversation
    assert card is not None
    assert [(line.text, line.right) for line in card.turns] == [(line, None) for line in lines]


def test_a_tie_is_refused_where_the_study_wants_one_of_the_two() -> None:
    walk = PairWalk(BY_TURN | {"ties": False})
    walk.exchange(0)
    with pytest.raises(NoTies):
        walk.choose(1, "tie")
    walk.choose(1, "left")


def test_a_bot_that_fails_is_replaced_and_both_begin_anew() -> None:
    walk = PairWalk()
    walk.say(0)
    walk.answer(2, 1, "right")
    outcome = walk.fails(1, 1)
    assert told(outcome)[0] == wire.Replaced(conversation=1, attempt=2)
    states = {c.plan.conversation: (c.status, c.plan.system) for c in walk.state.conversations}
    assert states["a1-1.1"] == ("failed", "quokka_plain")
    assert states["a1-2.1"] == ("skipped", "marmot_plain")
    assert states["a1-1.2"] == ("planned", "quokka_warm")  # a variant of the same family first
    assert states["a1-2.2"] == ("planned", "marmot_plain")
    walk.tell("topic", attempt=2, text="the sea", opinion="like")
    walk.say(0, attempt=2)
    assert walk.answer(1, 1, "too late").records == ()


def test_where_there_is_enough_the_pair_is_judged_as_far_as_it_went() -> None:
    walk = PairWalk()
    walk.exchange(0)
    walk.say(2)
    walk.answer(1, 3, "left 2")
    outcome = walk.fails(2, 3)
    assert told(outcome) == [wire.ChoiceDue(conversation=1, attempt=1, turn=3)]
    by_turn = PairWalk(BY_TURN)
    by_turn.exchange(0)
    by_turn.choose(1, "left")
    by_turn.say(2)
    assert isinstance(told(by_turn.fails(2, 3))[0], wire.TopicDue)


def test_a_snapshot_has_both_replies_and_what_is_to_be_chosen() -> None:
    walk = PairWalk(BY_TURN)
    walk.exchange(0)
    card = snapshot(walk.state, study_card(parse_study(pairs_text(BY_TURN))), AT).conversation
    assert card is not None
    assert card.turns[1] == wire.TurnCard(turn=1, author="bot", text="left 0", right="right 0")
    assert (card.conversation, card.choice_due, card.typing) == (1, 1, False)


def test_a_pair_needs_a_topic() -> None:
    walk = PairWalk()
    walk.exchange(0)
    walk.exchange(2)
    walk.tell("end_conversation")
    walk.choose(3, "left")
    with pytest.raises(TopicMissing):
        walk.tell("topic", 2, opinion="like")


def test_a_reply_that_appears_word_by_word_goes_on_where_it_was() -> None:
    walk = PairWalk(display={"streaming": True})
    walk.exchange(0)
    study = study_card(parse_study(pairs_text(display={"streaming": True})))
    card = snapshot(walk.state, study, AT + seconds(1.5)).conversation
    assert card is not None
    first, reply = card.turns
    assert (first.pace, first.shown_for) == (None, None)
    assert reply.shown_for == 1500
    shown = show_reply(walk.state, "a1-1.1", 1)
    assert isinstance(shown, wire.SaidByBoth)
    assert shown.pace == reply.pace is not None


def test_where_researchers_end_a_pair_both_of_its_conversations_are_over() -> None:
    walk = PairWalk()
    walk.exchange(0)
    outcome = walk.event(EndedByResearcher("a fire alarm", walk.now))
    assert told(outcome) == [wire.ChoiceDue(conversation=1, attempt=1, turn=1)]
    assert [c.status for c in walk.state.conversations[:2]] == ["ended", "ended"]


def test_how_a_line_was_written_is_kept_in_both() -> None:
    walk = PairWalk(records_writing=True)
    said = walk.tell("say", turn=0, text="Hello.", writing=WRITING)
    kept = [record.conversation for record in said.records if isinstance(record, WritingKept)]
    assert kept == ["a1-1.1", "a1-2.1"]
