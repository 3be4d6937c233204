"""Apply a worker's message, or a bot's reply or final failure, to a chat with one chatbot or two. Pure.

Two conversations side by side are conversations like any other, each with its own system, turns and end: the
worker's messages are stored in both. Their two replies are shown together, after one delay drawn for both, so
that neither bot's speed shows. If one bot fails, both conversations begin again. `pairs` has the rules that
apply to pairs only.
"""

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
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
from server.session.events import AskBot, BotGaveUp, BotReplied, Decision, Effect, ShowReply, Tell
from server.session.plan import derive_seed, is_left_unrated, plan_conversation, plan_pair, replacement
from server.session.records import (
    BotSaid,
    CallKept,
    ConversationEnded,
    ConversationFailed,
    ConversationLeftUnrated,
    ConversationPlanned,
    ConversationSkipped,
    Incident,
    OutputKept,
    Record,
    TopicMarked,
    WorkerSaid,
    WritingKept,
)
from server.session.reply_time import reply_delay
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
        raise TopicFixed("This study picks the topic itself")
    topic = plan.icebreaker if plan.icebreaker is not None else message.text
    if topic is None:
        raise TopicMissing("This study lets you choose the topic")
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
            raise ReplyPending("The reply is still on its way")
    if isinstance(held, Pair) and pairs.choice_due(state, held) is not None:
        raise ChoiceMissing("The better reply has not been chosen yet")


def _say(state: State, held: Sequence[Conversation], message: wire.Say, at: datetime) -> Decision:
    _refuse_unless_free(state, held, at)
    first = held[0]
    if first.inputs >= state.rules.maximum_inputs:
        raise TooManyInputs(f"This conversation has its maximum of {state.rules.maximum_inputs} messages")
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
        raise TooManyTopicChanges(f"The topic has changed {state.rules.maximum_topic_changes} times")
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


def replied(state: State, conversation: Conversation, event: BotReplied) -> Decision:
    """Return the decision on a reply: it is shown once every bot that was asked has answered."""
    held = state.held_with(conversation)
    show_at = _show_at(state, held[0], event)
    said = BotSaid(event.conversation, event.index, event.text, event.at, show_at, event.latency_ms)
    records: list[Record] = [said]
    if event.output is not None:
        records.append(OutputKept(event.conversation, event.index, event.output, event.changes))
    if event.call is not None:
        records.append(CallKept(event.conversation, event.index, event.call, event.at))
    if event.gave_away is not None:
        # The reply is not changed, because the system's own words are evaluated. The analyst sees the
        # incident.
        records.append(Incident(event.conversation, "gave_itself_away", event.gave_away, event.at))
    if event.offensive:
        words = ", ".join(event.offensive)
        records.append(Incident(event.conversation, "offensive_reply", words, event.at))
    if len(held) == 1:
        return Decision(records, [ShowReply(event.conversation, event.index, show_at)])
    beside = [c for c in held if c is not conversation]
    if any(c.awaits_reply() for c in beside):
        return Decision(records, [])
    waiting = [c.turns[-1].show_at for c in beside if c.hides_reply(event.at)]
    shown_at = max([show_at, *waiting])
    return Decision(records, [ShowReply(held[0].plan.conversation, event.index, shown_at)])


def gave_up(state: State, failed: Conversation, event: BotGaveUp, incidents: list[Record]) -> Decision:
    """Return the decision on a bot that has failed for good.

    If the minimum of messages is reached, the chat is over and is rated as it is; else another system
    replaces the one that failed.
    """
    held = state.held_with(failed)
    if failed.inputs >= state.rules.minimum_inputs:
        return over(state, held, incidents, event.at, None)
    beside = [c for c in held if c is not failed]
    records: list[Record] = [*incidents, ConversationFailed(event.conversation, event.at)]
    records += [ConversationSkipped(c.plan.conversation, event.at) for c in beside]
    return _replace(state, failed, beside, records, event.at)


def seconds_for_retries(state: State, conversation: Conversation, index: int) -> float:
    """Return for how many seconds a failing bot is asked again for line number `index`.

    This is the delay drawn for that line, whatever the system: a later try would show that earlier ones
    failed. Infinity if there is no delay, or if the conversation could neither be rated as it is nor be
    replaced.
    """
    held = state.held_with(conversation)
    beside = [c for c in held if c is not conversation]
    if conversation.inputs < state.rules.minimum_inputs and _substitute(state, conversation, beside) is None:
        return math.inf
    return _delay(state, held[0], index).total_seconds() or math.inf


def resume(held: Sequence[Conversation], at: datetime) -> tuple[Effect, ...]:
    """Return the effects in progress of conversations held side by side."""
    waiting = [c for c in held if c.awaits_reply()]
    if waiting:
        return tuple(AskBot(c.plan.conversation, len(c.turns)) for c in waiting)
    hidden = [c.turns[-1].show_at for c in held if c.hides_reply(at)]
    first = held[0]
    return (ShowReply(first.plan.conversation, len(first.turns) - 1, max(hidden)),) if hidden else ()


def _show_at(state: State, first: Conversation, event: BotReplied) -> datetime:
    """Return when a reply may be shown: after the delay drawn for it, or at once if that is over.

    The delay begins at the worker's line, or at the reply if the clock was set back in between.
    """
    delay = _delay(state, first, event.index)
    return max(min(first.turns[event.index - 1].at, event.at) + delay, event.at)


def _delay(state: State, first: Conversation, index: int) -> timedelta:
    """Return the delay of line number `index`, drawn by the `first` of conversations side by side."""
    return reply_delay(state.rules.reply_time, state.context.reply_pace, first.plan.seed, index)


def _replace(
    state: State, failed: Conversation, beside: Sequence[Conversation], records: list[Record], at: datetime
) -> Decision:
    """Return `records` and the conversations that begin again; if no system is left, skip the rest."""
    plan = failed.plan
    system = _substitute(state, failed, beside)
    if system is None:
        rest = [c for c in state.conversations if c.status == "planned"]
        return Decision([*records, *(ConversationSkipped(c.plan.conversation, at) for c in rest)], [], True)
    swap = Incident(plan.conversation, "replaced", f"{plan.system} was replaced by {system}", at)
    told = wire.Replaced(conversation=plan.number, attempt=plan.attempt + 1)
    anew = _planned_anew(state, failed, beside, system)
    return Decision([*records, swap, *anew], [Tell(told)], True)


def _substitute(state: State, failed: Conversation, beside: Sequence[Conversation]) -> str | None:
    """Return the system that replaces one that failed; None if none is left."""
    plan = failed.plan
    met = [c.plan.system for c in state.conversations]
    if beside:  # a pair may have systems that were met before, if they did not fail
        broken = [c.plan.system for c in state.conversations if c.status == "failed"]
        met = [*broken, *(c.plan.system for c in beside)]
    seed = derive_seed(state.context.seed, "replacement", plan.position, plan.attempt)
    return replacement(plan.system, state.rules.lineup.variants, met, seed)


def _planned_anew(
    state: State, failed: Conversation, beside: Sequence[Conversation], system: str
) -> tuple[ConversationPlanned, ...]:
    plan, context, lineup = failed.plan, state.context, state.rules.lineup
    attempt = plan.attempt + 1
    if not beside:
        return (
            plan_conversation(
                lineup, context.assignment, context.seed, plan.position, attempt, system, plan.scenario
            ),
        )
    other = beside[0].plan.system
    systems = (system, other) if plan.side == "left" else (other, system)
    return plan_pair(lineup, context.assignment, context.seed, plan.number, attempt, systems)
