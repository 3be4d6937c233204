"""Tests of `step` in a conversation: topics, turns and ratings."""

from typing import Any

import pytest

from server.errors import (
    IncompleteRating,
    ReplyPending,
    TooFewInputs,
    TooManyInputs,
    TooManyTopicChanges,
    TopicFixed,
    TopicMissing,
    WrongPhase,
)
from server.session import protocol as wire
from server.session.events import Accept
from server.session.instrument import Opinion, TopicChangeKind
from server.session.records import BotSaid, Closed, ConversationRated, FeedbackGiven, TopicMarked, WorkerSaid
from server.session.state import Phase
from server.session.steps.step import Outcome
from tests.server.support.study import AT, CRITERIA, PERSONAS, RATINGS, new_state, seconds
from tests.server.support.walk import SAMPLES, SLOW, Walk, pending, shown, told

# ---- topics ----------------------------------------------------------------------------------


def test_a_free_topic_has_to_be_given() -> None:
    walk = Walk().to(Phase.TOPIC)
    with pytest.raises(TopicMissing):
        walk.send("topic", opinion="like")
    mark = walk.send("topic", "mine", text="the sea", opinion="dislike").records
    assert mark == (TopicMarked("a1-1.1", 0, 0, "the sea", Opinion.DISLIKE, None, None, AT, "mine"),)


def test_an_icebreaker_is_shown_and_cannot_be_replaced() -> None:
    walk = Walk(new_state(topic_mode="icebreaker"))
    (due,) = told(walk.send("agree"))
    assert due.icebreaker in {sentence for persona in PERSONAS for sentence in persona}
    with pytest.raises(TopicFixed):
        walk.send("topic", text="the sea", opinion="like")
    outcome = walk.send("topic", opinion="ambivalent")
    assert told(outcome) == [
        wire.ConversationStarted(conversation=1, attempt=1, conversations=4, topic=due.icebreaker)
    ]
    assert isinstance(mark := outcome.records[0], TopicMarked)
    assert mark.topic == due.icebreaker


def test_topic_marks_count_themselves_and_the_inputs_so_far() -> None:
    walk = Walk().to(Phase.CHAT)
    marks = [walk.send("topic_change")]  # before any input
    walk.send("say")
    marks.append(walk.send("topic_change"))  # while the bot is typing
    walk.reply()
    marks.append(walk.send("topic_change", topic="trains", **_without_topic()))  # twice in one round
    walk.chat(1)
    marks.append(walk.send("topic_change"))
    records = [outcome.records[0] for outcome in marks]
    assert [(r.ordinal, r.round) for r in records if isinstance(r, TopicMarked)] == [
        (1, 0),
        (2, 1),
        (3, 1),
        (4, 2),
    ]
    assert walk.state.current is not None
    assert (walk.state.current.topic, walk.state.current.topics) == ("ships", 5)


def _without_topic() -> dict[str, Any]:
    return {key: value for key, value in SAMPLES["topic_change"].items() if key != "topic"}


@pytest.mark.parametrize("how", list(TopicChangeKind))
def test_every_kind_of_change_is_stored_with_both_opinions(how: TopicChangeKind) -> None:
    walk = Walk().to(Phase.CHAT)
    (mark,) = walk.send(
        "topic_change", how=how.value, topic="ships", opinion="like", bot_opinion="dislike"
    ).records
    assert isinstance(mark, TopicMarked)
    assert (mark.how, mark.opinion, mark.bot_opinion) == (how, Opinion.LIKE, Opinion.DISLIKE)


# ---- chatting --------------------------------------------------------------------------------


@pytest.mark.parametrize(("inputs", "missing"), [(0, 2), (1, 1)])
def test_a_conversation_cannot_end_below_the_minimum(inputs: int, missing: int) -> None:
    walk = Walk().to(Phase.CHAT).chat(inputs)
    with pytest.raises(TooFewInputs, match=f"^{missing} more message") as refused:
        walk.send("end_conversation")
    assert refused.value.missing == missing


def test_more_than_the_minimum_is_welcome() -> None:
    walk = Walk().to(Phase.CHAT).chat(5)
    walk.send("end_conversation")
    assert walk.state.phase is Phase.RATING


def test_turns_alternate_and_are_numbered_from_zero() -> None:
    walk = Walk().to(Phase.CHAT)
    said = walk.send("say", "mine", text="Hi.").records
    replied = walk.reply("Hello.").records
    assert said == (WorkerSaid("a1-1.1", 0, "Hi.", AT, "mine"),)
    assert replied == (BotSaid("a1-1.1", 1, "Hello.", AT, AT, 12),)
    assert isinstance(second := walk.send("say").records[0], WorkerSaid)
    assert second.index == 2


@pytest.mark.parametrize("type_", ["say", "end_conversation"])
def test_before_the_reply_nothing_more_can_be_said(type_: str) -> None:
    walk = Walk().to(Phase.CHAT).chat(1)
    walk.send("say")
    with pytest.raises(ReplyPending) as refused:
        walk.send(type_)
    assert refused.value.retry


@pytest.mark.parametrize("type_", ["say", "end_conversation"])
def test_a_reply_that_is_not_shown_yet_is_still_pending(type_: str) -> None:
    walk = Walk(new_state(**SLOW)).slow_to_minimum()
    show_at = shown(walk.reply())
    assert show_at > walk.now
    walk.now = show_at - seconds(0.001)
    with pytest.raises(ReplyPending):
        walk.send(type_)
    walk.now = show_at
    assert walk.send(type_).records


@pytest.mark.parametrize(
    ("phase", "type_"),
    [
        (Phase.TOPIC, "topic"),
        (Phase.CHAT, "say"),
        (Phase.CHAT, "topic_change"),
        (Phase.CHAT, "end_conversation"),
        (Phase.RATING, "rate"),
    ],
)
@pytest.mark.parametrize(("conversation", "attempt"), [(2, 1), (4, 1), (99, 1), (1, 2)])
def test_what_belongs_to_another_conversation_is_refused(
    phase: Phase, type_: str, conversation: int, attempt: int
) -> None:
    """As from a page that was away while the worker went on elsewhere."""
    walk = Walk().to(phase)
    before = walk.state
    reason = f"^Expected conversation 1, attempt 1, got conversation {conversation}, attempt {attempt}$"
    with pytest.raises(WrongPhase, match=reason):
        walk.send(type_, None, **(SAMPLES[type_] | {"conversation": conversation, "attempt": attempt}))
    assert walk.state == before


@pytest.mark.parametrize(
    ("phase", "type_"),
    [
        (Phase.TOPIC, "topic"),
        (Phase.CHAT, "say"),
        (Phase.CHAT, "topic_change"),
        (Phase.CHAT, "end_conversation"),
        (Phase.RATING, "rate"),
    ],
)
def test_what_was_meant_for_a_failed_attempt_does_not_land_in_its_replacement(
    phase: Phase, type_: str
) -> None:
    """A page was away with it; it is sent again where the replacement takes the very same message."""
    walk = pending()
    walk.gives_up()
    walk.to(phase)
    if type_ == "end_conversation":
        walk.chat(2)  # the minimum
    turn = {"turn": walk.index()} if type_ == "say" else {}
    before = walk.state
    reason = "^Expected conversation 1, attempt 2, got conversation 1, attempt 1$"
    with pytest.raises(WrongPhase, match=reason):
        walk.send(type_, "held", **(SAMPLES[type_] | turn))
    assert walk.state == before
    assert walk.send(type_).records  # what names the replacement is taken


def test_what_is_stored_of_a_failed_attempt_is_accepted_again_and_does_nothing() -> None:
    walk = Walk().to(Phase.CHAT)
    walk.send("say", "mine")
    walk.gives_up()
    walk.to(Phase.CHAT)
    before = walk.state
    outcome = walk.send("say", "mine", **SAMPLES["say"])
    assert outcome == Outcome(before, effects=(Accept("mine"),))


@pytest.mark.parametrize("turn", [0, 1, 3])
def test_a_line_that_is_not_the_next_one_is_refused(turn: int) -> None:
    walk = Walk().to(Phase.CHAT).chat(1)
    with pytest.raises(WrongPhase, match=f"^Expected line 2, got line {turn}$"):
        walk.send("say", turn=turn, text="Hi.")
    assert walk.send("say", turn=2, text="Hi.").records


# ---- rating ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ratings", "reason"),
    [
        ({}, "no rating for fluent, fun, robotic"),
        ({"robotic": 1, "fun": 2}, "no rating for fluent"),
        ({**RATINGS, "charm": 3}, "not in this study: charm"),
        ({"robotic": 1, "charm": 3}, "no rating for fluent, fun; not in this study: charm"),
    ],
)
def test_a_rating_is_whole_or_refused(ratings: dict[str, int], reason: str) -> None:
    walk = Walk().to(Phase.RATING)
    with pytest.raises(IncompleteRating) as refused:
        walk.send("rate", ratings=ratings)
    assert refused.value.message == reason


def test_ratings_are_stored_in_the_studys_order() -> None:
    walk = Walk().to(Phase.RATING)
    (rated,) = walk.send("rate", "mine", ratings={"fun": 0, "fluent": 100, "robotic": 50}).records
    assert rated == ConversationRated("a1-1.1", (("robotic", 50), ("fun", 0), ("fluent", 100)), AT, "mine")
    assert tuple(label for label, _ in rated.ratings) == CRITERIA


def test_feedback_may_be_empty() -> None:
    walk = Walk().to(Phase.FEEDBACK)
    assert walk.send("feedback", "mine", text="").records == (
        FeedbackGiven("", AT, "mine"),
        Closed("completed", AT),
    )


# ---- limits ----------------------------------------------------------------------------------


def test_a_conversation_that_is_full_takes_no_more_inputs_and_can_be_rated() -> None:
    walk = Walk(new_state(maximum_inputs=3)).to(Phase.CHAT).chat(3)
    full = walk.state
    with pytest.raises(TooManyInputs, match="its maximum of 3 messages"):
        walk.send("say")
    assert walk.state == full
    walk.send("end_conversation")
    walk.send("rate")
    walk.send("topic")
    walk.chat(1)  # the next one has its own three


def test_the_topic_changes_no_more_often_than_it_may() -> None:
    walk = Walk(new_state(maximum_topic_changes=2)).to(Phase.CHAT)
    walk.send("topic_change")
    walk.send("topic_change")
    with pytest.raises(TooManyTopicChanges, match="has changed 2 times"):
        walk.send("topic_change")
    walk.send("say")
