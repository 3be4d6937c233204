"""Tests of `step` when a bot answers, gives itself away, or fails."""

from typing import Any

import pytest

from server.session import protocol as wire
from server.session.events import BotGaveUp, BotReplied, BotStumbled, EndedByResearcher, FromWorker, ShowReply
from server.session.plan import QC
from server.session.records import (
    BotSaid,
    Closed,
    ConversationEnded,
    ConversationFailed,
    ConversationPlanned,
    ConversationSkipped,
    Incident,
    WorkerSaid,
)
from server.session.state import Phase, fold
from server.session.steps.step import Outcome, resume, step
from tests.server.support.study import AT
from tests.server.support.walk import Walk, message, pending, told

# ---- bots that give themselves away ----------------------------------------------------------


def test_a_reply_that_gives_its_bot_away_is_said_unaltered_and_noted() -> None:
    text, words = "As an AI language model, I like it.", "As an AI language model"
    walk = pending()
    before = walk.state
    outcome = walk.reply(text, gave_away=words)
    said, incident = outcome.records
    assert isinstance(said, BotSaid)
    assert said.text == text
    assert incident == Incident("a1-1.1", "gave_itself_away", words, AT)
    assert outcome.effects == (ShowReply("a1-1.1", 1, AT),)
    assert walk.state == fold(before, [said])


def test_another_reply_is_no_incident() -> None:
    (said,) = pending().reply("I see.").records
    assert isinstance(said, BotSaid)


def test_a_reply_that_comes_twice_is_noted_once() -> None:
    walk = pending()
    walk.reply("I am a bot.", gave_away="I am a bot")
    again = BotReplied("a1-1.1", 1, "I am a bot.", 12, AT, gave_away="I am a bot")
    assert walk.event(again) == Outcome(walk.state)


# ---- bots that fail --------------------------------------------------------------------------


def test_a_stumble_is_noted_and_changes_nothing() -> None:
    walk = pending()
    before = walk.state
    outcome = walk.event(BotStumbled("a1-1.1", 1, "timed out", AT, "timeout"))
    assert outcome == Outcome(before, (Incident("a1-1.1", "bot_error", "timed out", AT, "timeout"),), ())


def test_a_failed_system_is_replaced_by_its_other_variant() -> None:
    walk = pending()
    outcome = walk.gives_up()
    gave_up, failed, swap, planned = outcome.records
    assert gave_up == Incident("a1-1.1", "bot_gave_up", "out of order", AT, "error")
    assert failed == ConversationFailed("a1-1.1", AT)
    assert isinstance(swap, Incident)
    assert swap.text == "quokka_plain was replaced by quokka_warm"
    assert isinstance(planned, ConversationPlanned)
    assert (planned.conversation, planned.position, planned.attempt) == ("a1-1.2", 1, 2)
    assert planned.system == "quokka_warm"
    assert planned.seed != walk.state.conversation("a1-1.1").plan.seed
    assert told(outcome) == [
        wire.Replaced(conversation=1, attempt=2),
        wire.TopicDue(conversation=1, attempt=2, conversations=4, icebreaker=None),
    ]
    assert walk.state.phase is Phase.TOPIC
    assert walk.current() == "a1-1.2"


def test_where_both_variants_failed_a_stranger_takes_over_then_whatever_is_new() -> None:
    walk = pending()
    # quokka's other variant; dugong, the only family not met; then marmot, of which the assignment
    # has the other variant.
    for attempt, system in enumerate(["quokka_warm", "dugong_plain", "marmot_plain"], start=2):
        walk.gives_up()
        assert walk.state.conversation(f"a1-1.{attempt}").plan.system == system
        walk.send("topic")
        (started,) = told(walk.last)
        assert (started.conversation, started.attempt) == (1, attempt)
        walk.send("say")


def test_a_failed_qc_bot_is_replaced_by_a_family_not_met() -> None:
    walk = Walk().to(Phase.RATING)
    walk.send("rate")
    assert walk.state.conversation("a1-2.1").plan.system == QC
    walk.send("topic")
    walk.send("say")
    walk.gives_up()
    assert walk.state.conversation("a1-2.2").plan.system == "dugong_plain"


def test_with_nothing_left_the_rest_is_skipped_and_feedback_is_due() -> None:
    walk = pending()
    for _ in range(3):  # as above; the assignment's own other systems are spoken for
        walk.gives_up()
        walk.send("topic")
        walk.send("say")
    outcome = walk.gives_up()
    assert told(outcome) == [wire.FeedbackDue()]
    assert [r for r in outcome.records if isinstance(r, ConversationSkipped)] == [
        ConversationSkipped(f"a1-{position}.1", AT) for position in (2, 3, 4)
    ]
    assert [c.status for c in walk.state.conversations] == ["failed"] * 4 + ["skipped"] * 3
    assert walk.state.phase is Phase.FEEDBACK
    walk.send("feedback")
    assert walk.state.closed == "completed"  # ended early, and paid


def test_earlier_ratings_survive_an_early_end() -> None:
    walk = Walk().to(Phase.RATING)
    walk.send("rate")
    while walk.state.phase is Phase.TOPIC:
        walk.send("topic")
        walk.send("say")
        walk.gives_up()
    assert walk.state.phase is Phase.FEEDBACK
    assert walk.state.conversations[0].status == "rated"


def test_from_the_minimum_of_inputs_on_a_failed_conversation_is_rated() -> None:
    walk = pending()
    walk.reply()
    walk.send("say")  # the second input: the minimum
    outcome = walk.gives_up()
    assert outcome.records == (
        Incident("a1-1.1", "bot_gave_up", "out of order", AT, "error"),
        ConversationEnded("a1-1.1", AT, None),
    )
    assert told(outcome) == [wire.RatingDue(conversation=1, attempt=1, cut_short="chatbot")]
    assert walk.state.phase is Phase.RATING
    walk.send("rate")
    assert walk.state.conversations[0].status == "rated"


def test_a_worker_is_told_that_researchers_have_ended_their_conversation() -> None:
    walk = pending()
    walk.reply()
    outcome = walk.event(EndedByResearcher("a fire alarm", AT))
    assert told(outcome) == [wire.RatingDue(conversation=1, attempt=1, cut_short="researcher")]


def test_a_person_who_ends_a_conversation_is_told_like_a_chatbot_that_fails() -> None:
    walk = pending()
    walk.reply()
    walk.send("say")
    outcome = walk.event(BotGaveUp("a1-1.1", 3, "they left", AT, "ended"))
    assert told(outcome) == [wire.RatingDue(conversation=1, attempt=1, cut_short="chatbot")]


@pytest.mark.parametrize("answer", [BotReplied, BotGaveUp])
def test_an_answer_that_comes_too_late_is_nothing(answer: type[BotReplied] | type[BotGaveUp]) -> None:
    def late(conversation: str, index: int) -> Any:
        return (
            BotReplied(conversation, index, "Late.", 9, AT)
            if answer is BotReplied
            else BotGaveUp(conversation, index, "late", AT, "timeout")
        )

    walk = pending()
    stale = [late("a1-1.1", 3), late("a1-1.1", 0), late("a1-2.1", 1)]  # ahead, behind, elsewhere
    for event in stale:
        assert walk.event(event) == Outcome(walk.state)
    walk.reply()
    assert walk.event(late("a1-1.1", 1)) == Outcome(walk.state)  # answered already
    walk.chat(1).send("end_conversation")
    assert walk.event(late("a1-1.1", 4)) == Outcome(walk.state)  # over
    closed = pending()
    closed.send("leave")
    assert closed.event(late("a1-1.1", 1)) == Outcome(closed.state)


def test_a_session_whose_assignment_has_expired_takes_nothing_more() -> None:
    walk = pending()
    expired = fold(walk.state, [Closed("expired", AT)])
    assert (expired.phase, resume(expired, AT)) == (Phase.EXPIRED, ())
    assert step(expired, BotReplied("a1-1.1", 1, "Late.", 3, AT)) == Outcome(expired)


def test_what_should_not_have_been_said_is_noted_and_stays() -> None:
    walk = Walk().to(Phase.CHAT)
    said = FromWorker(message("say", conversation=1, attempt=1, turn=0, text="Damn it."), AT, (), ("damn",))
    line, noted = walk.event(said).records
    assert isinstance(line, WorkerSaid)
    assert noted == Incident("a1-1.1", "offensive_input", "damn", AT)
    reply, noted = walk.event(BotReplied("a1-1.1", 1, "Damn you.", 12, AT, offensive=("damn",))).records
    assert isinstance(reply, BotSaid)
    assert reply.text == "Damn you."
    assert noted == Incident("a1-1.1", "offensive_reply", "damn", AT)
