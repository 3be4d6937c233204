"""A turn changes its own conversation and nothing else in a session."""

from dataclasses import replace

from server.session.conversation import Conversation, TimedTurn
from server.session.instrument import Opinion
from server.session.records import (
    BotSaid,
    MessageReported,
    QuestionAnswered,
    QuizAsked,
    SideChosen,
    WorkerSaid,
)
from server.session.state import State, fold
from tests.server.support.study import AT, new_state, seconds

LATER = AT + seconds(5)


def busy() -> State:
    """Return a session in which no field is as it begins."""
    first, second, *others = new_state().conversations
    name = second.plan.conversation
    chatting = Conversation(
        plan=second.plan,
        turns=(TimedTurn("worker", "Hello.", AT, AT),),
        inputs=1,
        seen=frozenset({"m1"}),
        status="active",
        topic="the sea",
        topics=2,
        opinion=Opinion.LIKE,
        bot_opinion=Opinion.DISLIKE,
        values=((1, 50),),
        choices=(SideChosen(name, 1, "left", AT, "m2"),),
        reports=(MessageReported(name, 1, "other", None, False, AT, "m3"),),
        quiz=QuizAsked(name, (), AT),
        quiz_choice=1,
    )
    state = new_state()
    return State(
        rules=state.rules,
        context=replace(state.context, code="OTHER"),
        conversations=(first, chatting, *others),
        agreed=True,
        answers=(QuestionAnswered(1, 1, True, AT, "m4"),),
        feedback="Fine.",
        closed="completed",
        submitted=frozenset({"before"}),
        seen=frozenset({"m5"}),
    )


def test_a_workers_line_changes_its_conversation_and_nothing_else() -> None:
    state = busy()
    first, spoken, *others = state.conversations
    after = fold(state, [WorkerSaid(spoken.plan.conversation, 1, "Ahoy.", LATER, "m6")])
    changed = spoken._replace(
        turns=(*spoken.turns, TimedTurn("worker", "Ahoy.", LATER, LATER)),
        inputs=2,
        seen=frozenset({"m1", "m6"}),
    )
    assert after == state._replace(conversations=(first, changed, *others))
    assert state == busy()


def test_a_bots_line_changes_its_conversation_and_nothing_else() -> None:
    state = busy()
    first, spoken, *others = state.conversations
    after = fold(state, [BotSaid(spoken.plan.conversation, 1, "Ahoy.", AT, LATER, 12)])
    changed = spoken._replace(turns=(*spoken.turns, TimedTurn("bot", "Ahoy.", AT, LATER)))
    assert after == state._replace(conversations=(first, changed, *others))
    assert state == busy()


def test_no_field_of_a_busy_session_is_as_it_begins() -> None:
    """What the tests above compare would not show a field that is lost, if it had its default."""
    state = busy()
    chatting = state.conversations[1]
    assert [name for name, value in State._field_defaults.items() if getattr(state, name) == value] == []
    assert [n for n, value in Conversation._field_defaults.items() if getattr(chatting, n) == value] == []
