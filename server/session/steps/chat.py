"""Apply a worker's message to its chat, with one chatbot or two at once. Pure.

Two conversations side by side are conversations like any other, each with its own system, turns and end: the
worker's messages are stored in both. `pairs` has the rules that apply to pairs only.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from server.errors import (
    ChoiceMissing,
    ReplyPending,
    TooFewInputs,
    TooManyInputs,
    TooManyTopicChanges,
    TopicFixed,
    TopicMissing,
    WrongPhase,
)
from server.session import protocol as wire
from server.session.conversation import Conversation, Pair
from server.session.events import AskBot, Decision, Effect, Tell
from server.session.plan import is_left_unrated
from server.session.records import (
    ConversationEnded,
    ConversationLeftUnrated,
    Record,
    TopicMarked,
    WorkerSaid,
    WritingKept,
)
from server.session.state import State
from server.session.steps import pairs

ChatMessage = wire.Topic | wire.Say | wire.TopicChange | wire.EndConversation | wire.Choose


def take(state: State, held: Sequence[Conversation], message: ChatMessage, at: datetime) -> Decision:
    """Return the decision on a worker's message in conversations held side by side, the left one first.

    Raises:
        RefusedMessage: The message is not allowed now.
    """
    match message.type:
        case "say":
            return _say(state, held, message, at)
        case "topic":
            return _open(state, held, message, at)
        case "topic_change":
            return _change_topic(state, held, message, at)
        case "end_conversation":
            return _end(state, held, message, at)
        case "choose":
            if not isinstance(held, Pair):
                raise WrongPhase("a message of a chat with one chatbot", "`choose`")
            return pairs.choose(state, held, message, at)


def over(
    state: State, held: Sequence[Conversation], records: list[Record], at: datetime, client_id: str | None
) -> Decision:
    """Return the end of a chat, after `records`."""
    ended = [*records, *(ConversationEnded(c.plan.conversation, at, client_id) for c in held)]
    plan = held[0].plan
    if isinstance(held, Pair):
        ended += pairs.closing(state, held, at, client_id)
    elif is_left_unrated(plan, state.rules.rate_share):
        ended.append(ConversationLeftUnrated(plan.conversation))
    return Decision(ended, [], True)


def _open(state: State, held: Sequence[Conversation], message: wire.Topic, at: datetime) -> Decision:
    plan = held[0].plan
    if plan.icebreaker is not None and message.text is not None:
        raise TopicFixed("this study picks the topic itself")
    topic = plan.icebreaker if plan.icebreaker is not None else message.text
    if topic is None:
        raise TopicMissing("this study lets you choose the topic")
    marks: list[Record] = [
        TopicMarked(c.plan.conversation, 0, 0, topic, message.opinion, None, None, at, message.id)
        for c in held
    ]
    started = wire.ConversationStarted(
        conversation=plan.number,
        attempt=plan.attempt,
        conversations=state.rules.conversations,
        topic=topic,
        scenario=state.rules.scenario_text(plan.scenario),
    )
    return Decision(marks, [Tell(started)])


def _refuse_unless_free(state: State, held: Sequence[Conversation], at: datetime) -> None:
    for conversation in held:
        if conversation.awaits_reply() or conversation.hides_reply(at):
            raise ReplyPending("the reply is still on its way")
    if isinstance(held, Pair) and pairs.choice_due(state, held) is not None:
        raise ChoiceMissing("the better reply has not been chosen yet")


def _say(state: State, held: Sequence[Conversation], message: wire.Say, at: datetime) -> Decision:
    _refuse_unless_free(state, held, at)
    first = held[0]
    if first.inputs >= state.rules.maximum_inputs:
        raise TooManyInputs(f"this conversation has all of its {state.rules.maximum_inputs} inputs")
    index = len(first.turns)
    if message.turn != index:
        raise WrongPhase(f"line {index}", f"line {message.turn}")
    said: list[Record] = []
    effects: list[Effect] = [_typing(first.plan.number, first.plan.attempt)]
    for conversation in held:
        name = conversation.plan.conversation
        said.append(WorkerSaid(name, index, message.text, at, message.id))
        effects.append(AskBot(name, index + 1))
    if state.rules.records_writing and message.writing is not None:
        writing = message.writing.kept(message.text)
        said += [WritingKept(c.plan.conversation, index, writing) for c in held]
    return Decision(said, effects)


@lru_cache
def _typing(number: int, attempt: int) -> Tell:
    """Return the effect that shows the bot as typing; cached, as every turn has it."""
    return Tell(wire.Typing(conversation=number, attempt=attempt))


def _change_topic(
    state: State, held: Sequence[Conversation], message: wire.TopicChange, at: datetime
) -> Decision:
    if held[0].topics > state.rules.maximum_topic_changes:  # the opening topic is one of `topics`
        raise TooManyTopicChanges(f"the topic has changed {state.rules.maximum_topic_changes} times")
    marks: list[Record] = [
        TopicMarked(
            c.plan.conversation,
            c.topics,
            c.inputs,
            message.topic,
            message.opinion,
            message.how,
            message.bot_opinion,
            at,
            message.id,
        )
        for c in held
    ]
    return Decision(marks, [])


def _end(state: State, held: Sequence[Conversation], message: wire.EndConversation, at: datetime) -> Decision:
    missing = state.rules.minimum_inputs - held[0].inputs
    if missing > 0:
        raise TooFewInputs(missing)
    _refuse_unless_free(state, held, at)
    return over(state, held, [], at, message.id)
