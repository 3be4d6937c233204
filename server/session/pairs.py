"""Two conversations side by side: what a worker's message, a reply or a failure means for both. Pure.

The two are conversations like any other, each with its own system, turns and end; the worker's words are
stored in both. What is special of a pair is here: both are asked, both replies are shown together, and the
worker chooses between them.
"""

from datetime import datetime
from typing import NamedTuple

from server.errors import (
    ChoiceMissing,
    NoTies,
    ReplyPending,
    TooFewInputs,
    TooManyInputs,
    TooManyTopicChanges,
    TopicMissing,
    WrongPhase,
)
from server.session import protocol as wire
from server.session.comparison import Comparison, Preference, Side
from server.session.events import AskBot, BotGaveUp, Effect, ShowReply, Tell
from server.session.plan import derive_seed, plan_pair, replacement
from server.session.records import (
    ConversationEnded,
    ConversationFailed,
    ConversationRated,
    ConversationSkipped,
    Incident,
    Record,
    SideChosen,
    TopicMarked,
    WorkerSaid,
)
from server.session.reply_time import reply_delay
from server.session.state import Conversation, Pair, State, Turn

PairMessage = wire.Topic | wire.Say | wire.TopicChange | wire.EndConversation | wire.Choose


class Decision(NamedTuple):
    """What is to be stored and done. `is_over`: the worker is to be told what comes next."""

    records: list[Record]
    effects: list[Effect]
    is_over: bool = False


def take(state: State, pair: Pair, message: PairMessage, at: datetime) -> Decision:
    """Return what a worker's message about the current pair means.

    Raises:
        RefusedMessage: it cannot be taken now.
    """
    match message:
        case wire.Topic():
            return _open(state, pair, message, at)
        case wire.Say():
            return _say(state, pair, message, at)
        case wire.TopicChange():
            return _change_topic(state, pair, message, at)
        case wire.EndConversation():
            return _end(state, pair, message, at)
        case wire.Choose():
            return _choose(state, pair, message, at)


def hides_replies(pair: Pair, at: datetime) -> bool:
    """Return whether one of the two is to answer, or it is too early to show the answers."""
    return any(c.awaits_reply() or c.hides_reply(at) for c in pair)


def choice_due(state: State, pair: Pair) -> int | None:
    """Return the line after which the worker is to choose; None where there is nothing to choose now."""
    comparison, left = state.rules.comparison, pair.left
    if comparison is None:
        return None
    turn = 2 * left.inputs - 1
    if comparison.choose == "end":
        return turn if left.status == "ended" and not left.choices else None
    answered = left.status == "active" and all(len(c.turns) == turn + 1 for c in pair)
    return turn if answered and turn > 0 and _preferred(pair, turn) is None else None


def goes_on(pair: Pair, turn: int) -> Side | None:
    """Return whose reply the chosen history has at line `turn`; None where the worker has not chosen.

    Where both are about the same it is drawn, by the conversation's seed.
    """
    preference = _preferred(pair, turn)
    if preference != "tie":
        return preference
    return "left" if derive_seed(pair.left.plan.seed, "tie", turn) % 2 else "right"


def heard(state: State, conversation: Conversation) -> tuple[Turn, ...]:
    """Return a conversation's lines as its bot is told them; a history that is chosen has chosen replies."""
    comparison = state.rules.comparison
    if comparison is None or comparison.history == "own":
        return conversation.turns
    pair = state.pair_of(conversation)
    return tuple(
        line if line.author == "worker" else _at_side(pair, goes_on(pair, index), index) or line
        for index, line in enumerate(conversation.turns)
    )


def reply_shown(state: State, pair: Pair, at: datetime) -> datetime:
    """Return when the replies of both are shown, of which the second has come at `at`.

    One delay is drawn for both, so that neither's pace is seen.
    """
    plan, lines = pair.left.plan, pair.left.turns
    index = 2 * pair.left.inputs - 1
    delay = reply_delay(state.rules.reply_time, state.context.reply_pace, plan.seed, index)
    return max(lines[index - 1].at + delay, at)


def resume(pair: Pair, at: datetime) -> tuple[Effect, ...]:
    """Return what is under way in a pair that is being chatted with."""
    waiting = [c for c in pair if c.awaits_reply()]
    if waiting:
        return tuple(AskBot(c.plan.conversation, len(c.turns)) for c in waiting)
    if any(c.hides_reply(at) for c in pair):
        return (show(pair),)
    return ()


def show(pair: Pair) -> ShowReply:
    """Return the effect that shows the replies of both, at the later of their times."""
    shown = max(c.turns[-1].show_at for c in pair)
    return ShowReply(pair.left.plan.conversation, len(pair.left.turns) - 1, shown)


def gave_up(state: State, pair: Pair, event: BotGaveUp, incident: Incident) -> Decision:
    """Return what follows where one of the two bots answers no more.

    With the minimum of inputs the pair is over, and is judged as far as it went; else another system takes
    the place of the one that failed, and both begin anew.
    """
    if pair.left.inputs >= state.rules.minimum_inputs:
        return _over(state, pair, [incident], event.at, None)
    failed = state.conversation(event.conversation)
    other = pair.right if failed is pair.left else pair.left
    records: list[Record] = [
        incident,
        ConversationFailed(event.conversation, event.at),
        ConversationSkipped(other.plan.conversation, event.at),
    ]
    return _replace(state, failed, other, records, event.at)


def _replace(
    state: State, failed: Conversation, other: Conversation, records: list[Record], at: datetime
) -> Decision:
    plan, context = failed.plan, state.context
    broken = [c.plan.system for c in state.conversations if c.status == "failed"]
    system = replacement(
        plan.system,
        state.rules.lineup.variants,
        [*broken, other.plan.system],
        derive_seed(context.seed, "replacement", plan.position, plan.attempt),
    )
    if system is None:
        rest = [c for c in state.conversations if c.status == "planned"]
        return Decision([*records, *(ConversationSkipped(c.plan.conversation, at) for c in rest)], [], True)
    systems = (system, other.plan.system) if plan.side == "left" else (other.plan.system, system)
    planned = plan_pair(
        state.rules.lineup, context.assignment, context.seed, plan.number, plan.attempt + 1, systems
    )
    swap = Incident(plan.conversation, "replaced", f"{plan.system} was replaced by {system}", at)
    told = wire.Replaced(conversation=plan.number, attempt=plan.attempt + 1)
    return Decision([*records, swap, *planned], [Tell(told)], True)


def _open(state: State, pair: Pair, message: wire.Topic, at: datetime) -> Decision:
    if message.text is None:
        raise TopicMissing("this study lets you choose the topic")
    marks: list[Record] = [
        TopicMarked(c.plan.conversation, 0, 0, message.text, message.opinion, None, None, at, message.id)
        for c in pair
    ]
    plan = pair.left.plan
    started = wire.ConversationStarted(
        conversation=plan.number,
        attempt=plan.attempt,
        conversations=state.rules.conversations,
        topic=message.text,
    )
    return Decision(marks, [Tell(started)])


def _refuse_unless_free(state: State, pair: Pair, at: datetime) -> None:
    if hides_replies(pair, at):
        raise ReplyPending("the chatbots' replies are still on their way")
    if choice_due(state, pair) is not None:
        raise ChoiceMissing("it is not said yet which reply is the better one")


def _say(state: State, pair: Pair, message: wire.Say, at: datetime) -> Decision:
    _refuse_unless_free(state, pair, at)
    left = pair.left
    if left.inputs >= state.rules.maximum_inputs:
        raise TooManyInputs(f"this conversation has all of its {state.rules.maximum_inputs} inputs")
    index = len(left.turns)
    if message.turn != index:
        raise WrongPhase(f"line {index}", f"line {message.turn}")
    said: list[Record] = [WorkerSaid(c.plan.conversation, index, message.text, at, message.id) for c in pair]
    typing = wire.Typing(conversation=left.plan.number, attempt=left.plan.attempt)
    return Decision(said, [Tell(typing), *(AskBot(c.plan.conversation, index + 1) for c in pair)])


def _change_topic(state: State, pair: Pair, message: wire.TopicChange, at: datetime) -> Decision:
    if pair.left.topics > state.rules.maximum_topic_changes:  # the opening topic is one of `topics`
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
        for c in pair
    ]
    return Decision(marks, [])


def _end(state: State, pair: Pair, message: wire.EndConversation, at: datetime) -> Decision:
    missing = state.rules.minimum_inputs - pair.left.inputs
    if missing > 0:
        raise TooFewInputs(missing)
    _refuse_unless_free(state, pair, at)
    return _over(state, pair, [], at, message.id)


def _over(state: State, pair: Pair, records: list[Record], at: datetime, client_id: str | None) -> Decision:
    """Return the end of both: they are to be chosen from, rated, or neither."""
    comparison = _required(state.rules.comparison)
    ended: list[Record] = [*records, *(ConversationEnded(c.plan.conversation, at, client_id) for c in pair)]
    if comparison.choose == "turn":
        ended += _judged(state, pair, at, client_id)
    return Decision(ended, [], True)


def _choose(state: State, pair: Pair, message: wire.Choose, at: datetime) -> Decision:
    comparison = _required(state.rules.comparison)
    due = None if hides_replies(pair, at) and pair.left.status == "active" else choice_due(state, pair)
    if due is None:
        raise WrongPhase("nothing to choose now", f"a choice after line {message.turn}")
    if message.turn != due:
        raise WrongPhase(f"a choice after line {due}", f"one after line {message.turn}")
    if message.preference == "tie" and not comparison.ties:
        raise NoTies("this study asks for one of the two")
    chosen = SideChosen(pair.left.plan.conversation, due, message.preference, at, message.id)
    if comparison.choose == "end":
        return Decision([chosen, *_judged(state, pair, at, message.id)], [], True)
    if comparison.history == "own":
        return Decision([chosen], [])
    after = Pair(pair.left._replace(choices=(*pair.left.choices, chosen)), pair.right)
    line = _at_side(after, goes_on(after, due), due)
    plan = pair.left.plan
    text = line.text if line is not None else ""
    return Decision(
        [chosen], [Tell(wire.GoesOn(conversation=plan.number, attempt=plan.attempt, turn=due, text=text))]
    )


def _judged(state: State, pair: Pair, at: datetime, client_id: str | None) -> list[Record]:
    """Return what closes two conversations that nothing is to be rated of."""
    if state.rules.criteria or state.rules.questionnaires.conversation:
        return []
    return [ConversationRated(c.plan.conversation, (), at, client_id) for c in pair]


def _preferred(pair: Pair, turn: int) -> Preference | None:
    return next((c.preference for c in pair.left.choices if c.turn == turn), None)


def _at_side(pair: Pair, side: Side | None, index: int) -> Turn | None:
    """Return line `index` of one side; None where there is none."""
    lines = pair.left.turns if side == "left" else pair.right.turns
    return lines[index] if side is not None and index < len(lines) else None


def _required(comparison: Comparison | None) -> Comparison:
    if comparison is None:
        raise ValueError("a session with pairs has rules for comparing them")
    return comparison
