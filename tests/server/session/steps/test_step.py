"""The session's decisions, one event at a time: no clock, no database, no bots."""

from dataclasses import replace

import pytest

from server.errors import ConsentMissing, TooFewInputs, WrongPhase
from server.session import protocol as wire
from server.session.events import Accept, AskBot, FromWorker, ShowReply
from server.session.instrument import Consent, ConsentBox
from server.session.records import Agreed, ConversationEnded, ConversationFailed
from server.session.state import Phase, fold
from server.session.steps.step import Outcome, resume, step
from tests.server.support.study import AT, new_state, seconds
from tests.server.support.walk import SAMPLES, SLOW, Walk, shown, told

# ---- phases ----------------------------------------------------------------------------------

# What each phase takes, from METHOD section 1 and the protocol; in the order in which it is named.
TAKES = {
    Phase.INSTRUCTIONS: ["agree", "leave"],
    Phase.TOPIC: ["topic", "leave"],
    Phase.CHAT: ["say", "topic_change", "end_conversation", "report", "take_back_report", "leave"],
    Phase.RATING: ["rate", "report", "take_back_report", "leave"],
    Phase.FEEDBACK: ["feedback", "leave"],
    Phase.DONE: [],
    Phase.EXPIRED: [],
    Phase.RETURNED: [],
}
# What only some studies have: test_step_items has the tutorial, test_step_questions what is asked, test_pairs
# the choice, test_quiz the quiz.
ELSEWHERE = {Phase.TUTORIAL, Phase.QUESTIONS_BEFORE, Phase.QUESTIONS_AFTER, Phase.CHOICE, Phase.QUIZ}
PHASES = [phase for phase in Phase if phase not in ELSEWHERE]
PAIRS = [(phase, type_) for phase in PHASES for type_ in SAMPLES]


@pytest.mark.parametrize(("phase", "type_"), [pair for pair in PAIRS if pair[1] not in TAKES[pair[0]]])
def test_a_message_out_of_phase_is_refused_by_name(phase: Phase, type_: str) -> None:
    walk = Walk().to(phase)
    if (phase, type_) == (Phase.RETURNED, "leave"):  # leaving twice is the same wish: see below
        assert walk.send("leave").records == ()
        return
    expected = " or ".join(f"`{name}`" for name in TAKES[phase]) or "nothing more"
    before = walk.state
    with pytest.raises(WrongPhase) as refused:
        walk.send(type_)
    assert refused.value.message == f"Expected {expected} ({phase} phase), got `{type_}`"
    assert walk.state == before


def ready(walk: Walk, type_: str) -> Walk:
    """Have happen what a message of this type needs before it."""
    if type_ in {"end_conversation", "report", "take_back_report"} and walk.state.phase is Phase.CHAT:
        walk.chat(2)
    if type_ == "take_back_report":
        walk.send("report", "before")
    return walk


@pytest.mark.parametrize(("phase", "type_"), [(p, t) for p in PHASES for t in TAKES[p]])
def test_a_message_in_phase_is_stored_and_accepted_once_all_it_led_to_is_said(
    phase: Phase, type_: str
) -> None:
    walk = ready(Walk().to(phase), type_)
    outcome = walk.send(type_, "mine")
    assert outcome.effects[-1] == Accept("mine")
    assert outcome.records
    assert outcome.effects.count(Accept("mine")) == 1


def test_the_way_of_a_whole_assignment() -> None:
    walk = Walk()
    phases = [walk.state.phase]
    for type_ in ["agree", *["topic", "say", "say", "end_conversation", "rate"] * 4, "feedback"]:
        walk.send(type_)
        if type_ == "say":
            walk.reply()
        if walk.state.phase != phases[-1]:
            phases.append(walk.state.phase)
    held = [Phase.TOPIC, Phase.CHAT, Phase.RATING]
    assert phases == [Phase.INSTRUCTIONS, *held * 4, Phase.FEEDBACK, Phase.DONE]
    assert [c.status for c in walk.state.conversations] == ["rated"] * 4
    assert walk.state.closed == "completed"


def test_what_the_worker_is_told_at_each_step() -> None:
    walk = Walk()
    assert told(walk.send("agree")) == [
        wire.TopicDue(conversation=1, attempt=1, conversations=4, icebreaker=None)
    ]
    assert told(walk.send("topic")) == [
        wire.ConversationStarted(conversation=1, attempt=1, conversations=4, topic="the sea")
    ]
    said = walk.send("say")
    assert told(said) == [wire.Typing(conversation=1, attempt=1)]
    assert said.effects[-2] == AskBot("a1-1.1", 1)
    assert walk.reply().effects == (ShowReply("a1-1.1", 1, AT),)  # a median of zero: no delay
    walk.chat(1)
    assert told(walk.send("end_conversation")) == [wire.RatingDue(conversation=1, attempt=1)]
    assert told(walk.send("rate")) == [
        wire.TopicDue(conversation=2, attempt=1, conversations=4, icebreaker=None)
    ]
    walk.to(Phase.FEEDBACK)
    assert told(walk.last) == [wire.FeedbackDue()]
    assert told(walk.send("feedback")) == [wire.Completed(code="CODE-1234", return_to=None, debriefing=None)]
    assert told(Walk().send("leave")) == [wire.Ended(phase="returned")]


def test_an_assignment_that_goes_back_to_a_platform_has_an_address_and_no_code() -> None:
    state = new_state()
    context = replace(state.context, return_to="https://example.org/x")
    walk = Walk(state._replace(context=context))
    walk.to(Phase.DONE)
    assert told(walk.last) == [
        wire.Completed(code="CODE-1234", return_to="https://example.org/x", debriefing=None)
    ]


# ---- idempotency -----------------------------------------------------------------------------


@pytest.mark.parametrize(("phase", "type_"), [(p, t) for p in PHASES for t in TAKES[p]])
def test_the_same_message_again_is_accepted_and_changes_nothing_now_or_later(
    phase: Phase, type_: str
) -> None:
    walk = ready(Walk().to(phase), type_)
    walk.send(type_, "mine")
    while True:
        before = walk.state
        assert walk.send(type_, "mine") == Outcome(before, (), (Accept("mine"),))
        if before.closed is not None:
            break
        walk.advance()


def test_an_id_is_remembered_across_conversations_and_for_every_kind_of_message() -> None:
    walk = Walk()
    sent = []
    for type_ in ["agree", "topic", "say", "topic_change", "say", "end_conversation", "rate"]:
        walk.send(type_, f"id-{len(sent)}")
        sent.append((type_, f"id-{len(sent)}"))
        if type_ == "say":
            walk.reply()
    walk.to(Phase.FEEDBACK).send("feedback", "id-last")
    for type_, id_ in [*sent, ("feedback", "id-last")]:
        assert walk.send(type_, id_).records == ()


def test_leaving_twice_is_leaving_once_whatever_the_id() -> None:
    walk = Walk()
    walk.send("leave", "first")
    assert walk.send("leave", "second").effects == (Accept("second"),)


def test_a_refused_message_is_not_remembered() -> None:
    walk = Walk().to(Phase.CHAT)
    with pytest.raises(TooFewInputs):
        walk.send("end_conversation", "mine")
    walk.chat(2)
    assert isinstance(walk.send("end_conversation", "mine").records[0], ConversationEnded)


# ---- taking up again -------------------------------------------------------------------------


@pytest.mark.parametrize("phase", [p for p in PHASES if p is not Phase.CHAT])
def test_outside_a_chat_nothing_is_taken_up(phase: Phase) -> None:
    assert resume(Walk().to(phase).state, AT) == ()


def test_after_a_restart_the_bot_is_asked_again_or_its_reply_shown() -> None:
    walk = Walk(new_state(**SLOW)).to(Phase.CHAT)
    assert resume(walk.state, AT) == ()  # it is the worker's turn
    walk.send("say")
    assert resume(walk.state, AT) == (AskBot("a1-1.1", 1),)
    show_at = shown(walk.reply())
    assert resume(walk.state, show_at - seconds(0.1)) == (ShowReply("a1-1.1", 1, show_at),)
    assert resume(walk.state, show_at) == ()


def test_a_record_of_an_unknown_conversation_is_an_error() -> None:
    with pytest.raises(KeyError):
        fold(new_state(), [ConversationFailed("elsewhere", AT)])


# ---- consent ---------------------------------------------------------------------------------

CONSENT = Consent(
    version="1.2",
    text="We store what you write.",
    boxes=[
        ConsentBox(label="data", text="You may."),
        ConsentBox(label="publish", text="That, too.", required=False),
    ],
)


def test_who_agrees_to_a_consent_has_ticked_what_must_be_ticked() -> None:
    state = new_state()
    asked = state._replace(rules=replace(state.rules, consent=CONSENT))
    for consent, ticked, reason in [
        (None, ["data"], "version 1.2, not None"),
        ("1.1", ["data"], "version 1.2, not 1.1"),
        ("1.2", [], "Boxes that must be ticked: data; ticked: nothing"),
        ("1.2", ["publish"], "ticked: publish"),
        ("1.2", ["data", "more"], "ticked: data, more"),
    ]:
        with pytest.raises(ConsentMissing, match=reason):
            step(asked, FromWorker(wire.Agree(type="agree", id="a", consent=consent, ticked=ticked), AT))
    for ticked in (["data"], ["publish", "data"]):
        agree = wire.Agree(type="agree", id="a", consent="1.2", ticked=ticked)
        outcome = step(asked, FromWorker(agree, AT))
        assert outcome.records == (Agreed(AT, "a", "1.2", tuple(sorted(ticked))),)


def test_what_a_worker_said_of_the_topic_is_shown_again() -> None:
    walk = Walk()
    walk.send("agree")
    walk.send("topic")
    current = walk.state.current
    assert current is not None
    assert (current.opinion, current.bot_opinion) == ("like", None)
