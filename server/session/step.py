"""One worker's way through an assignment. Pure: no clock, no input or output.

`step(state, event)` decides what an event means: which records are to be stored and which effects
follow. The new state is the fold of those records, so a session can be rebuilt from the database by any
process, at any time. The caller stores the records first and performs the effects
afterwards.

    instructions → (topic → chat → rating) × n → feedback → done

An item that is read and rated is a conversation whose rating is due as soon as the worker comes to it:

    instructions → (tutorial) → rating × n → feedback → done

Two conversations side by side are held at once (`pairs`), and chosen from; then, if the study says so, rated:

    instructions → (topic → chat → choice → (rating) × 2) × n → feedback → done
What a study asks before or after all conversations has a phase of its own, behind the instructions and
before the feedback.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from server.errors import (
    ConsentMissing,
    NothingToRate,
    ReplyPending,
    TooFewInputs,
    TooManyInputs,
    TooManyTopicChanges,
    TopicFixed,
    TopicMissing,
    WrongPhase,
)
from server.session import pairs
from server.session import protocol as wire
from server.session.events import (
    Accept,
    AskBot,
    BotGaveUp,
    BotReplied,
    BotStumbled,
    Effect,
    EndedByResearcher,
    Event,
    FromWorker,
    ShowReply,
    Tell,
)
from server.session.phase import Phase
from server.session.plan import derive_seed, is_left_unrated, plan_conversation, replacement
from server.session.rating import answer_records, rating_records
from server.session.records import (
    Agreed,
    BotSaid,
    Closed,
    ConversationEnded,
    ConversationFailed,
    ConversationLeftUnrated,
    ConversationSkipped,
    FeedbackGiven,
    Incident,
    ItemShown,
    QuestionAnswered,
    QuestionnaireHandedIn,
    Record,
    TopicMarked,
    WorkerSaid,
)
from server.session.reply_time import reply_delay
from server.session.state import Conversation, State, fold
from server.session.turn_rating import turn_rating
from server.session.worker_view import question_card, scenario_text

_TAKES: dict[Phase, tuple[str, ...]] = {
    Phase.INSTRUCTIONS: ("agree", "leave"),
    Phase.QUESTIONS_BEFORE: ("questionnaire", "leave"),
    Phase.TUTORIAL: ("answer", "leave"),
    Phase.TOPIC: ("topic", "leave"),
    Phase.CHAT: ("say", "topic_change", "end_conversation", "leave"),
    Phase.CHOICE: ("choose", "leave"),
    Phase.RATING: ("rate", "leave"),
    Phase.QUESTIONS_AFTER: ("questionnaire", "leave"),
    Phase.FEEDBACK: ("feedback", "leave"),
}


_ForConversation = pairs.PairMessage | wire.Rate | wire.RateTurn


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an event means: the state after it, the records to store, then the effects to perform."""

    state: State
    records: tuple[Record, ...] = ()
    effects: tuple[Effect, ...] = ()


def step(state: State, event: Event) -> Outcome:
    """Return what `event` means in `state`.

    Raises:
        RefusedMessage: the worker's message cannot be taken now; nothing changes.
    """
    match event:
        case FromWorker():
            return _from_worker(state, event.message, event.at)
        case BotReplied():
            return _bot_replied(state, event)
        case BotStumbled():
            return _outcome(state, [_failed_try("bot_error", event)])
        case BotGaveUp():
            return _bot_gave_up(state, event)
        case EndedByResearcher():
            return _ended_by_researcher(state, event)


def resume(state: State, at: datetime) -> tuple[Effect, ...]:
    """Return the effects that are under way in `state`: what to take up again after a restart."""
    current = state.current
    if state.phase is not Phase.CHAT or current is None:
        return ()
    if state.pair is not None:
        return pairs.resume(state.pair, at)
    index = len(current.turns)
    if current.awaits_reply():
        return (AskBot(current.plan.conversation, index),)
    if current.hides_reply(at):
        return (ShowReply(current.plan.conversation, index - 1, current.turns[-1].show_at),)
    return ()


def _outcome(state: State, records: list[Record], effects: Iterable[Effect] = ()) -> Outcome:
    return Outcome(fold(state, records), tuple(records), tuple(effects))


def _from_worker(state: State, message: wire.ClientMessage, at: datetime) -> Outcome:
    if state.has_seen(message.id) or (isinstance(message, wire.Leave) and state.closed == "returned"):
        return Outcome(state, effects=(Accept(message.id),))
    taken = _TAKES.get(state.phase, ())
    if state.phase is Phase.CHAT and state.pair is not None:
        taken = (*taken, "choose")
    if state.phase in {Phase.CHAT, Phase.RATING} and state.rules.turn_points is not None:
        taken = (*taken, "rate_turn")
    if message.type not in taken:
        expected = " or ".join(f"`{name}`" for name in taken) or "nothing more"
        raise WrongPhase(f"{expected} ({state.phase} phase)", f"`{message.type}`")
    outcome = _take(state, message, at)
    # Accepted comes last: whoever hears it has already been told all that the message led to.
    return Outcome(outcome.state, outcome.records, (*outcome.effects, Accept(message.id)))


def _take(state: State, message: wire.ClientMessage, at: datetime) -> Outcome:
    match message:
        case wire.Leave():
            return _outcome(state, [Closed("returned", at)], [Tell(_returned(state))])
        case wire.Agree():
            return _agree(state, message, at)
        case wire.Questionnaire():
            return _take_questionnaire(state, message, at)
        case wire.Answer():
            return _answer(state, message, at)
        case wire.Feedback():
            return _hand_in(state, message, at)
        case wire.Hello():
            raise WrongPhase("`hello` only as the first message", "`hello`")
        case _:
            return _take_in_conversation(state, message, at)


def _take_in_conversation(state: State, message: _ForConversation, at: datetime) -> Outcome:
    current = state.current
    if current is None:
        raise WrongPhase("a conversation", f"`{message.type}`")
    plan = current.plan
    if (message.conversation, message.attempt) != (plan.number, plan.attempt):
        raise WrongPhase(
            f"conversation {plan.number}, attempt {plan.attempt}",
            f"conversation {message.conversation}, attempt {message.attempt}",
        )
    if state.pair is not None and not isinstance(message, wire.Rate | wire.RateTurn):
        return _decided(state, pairs.take(state, state.pair, message, at), at)
    return _take_of_chat(state, current, message, at)


def _take_of_chat(state: State, current: Conversation, message: _ForConversation, at: datetime) -> Outcome:
    """Return what a message about a conversation that stands alone means, or a rating of one of two."""
    match message:
        case wire.Topic():
            return _open(state, current, message, at)
        case wire.Say():
            return _say(state, current, message, at)
        case wire.TopicChange():
            return _change_topic(state, current, message, at)
        case wire.EndConversation():
            return _end(state, current, message, at)
        case wire.Rate():
            return _rate(state, current, message, at)
        case wire.RateTurn():
            return _outcome(state, [turn_rating(state.rules, current, message, at)])
        case wire.Choose():
            raise WrongPhase("a message of a chat with one chatbot", "`choose`")


def _decided(state: State, decision: pairs.Decision, at: datetime) -> Outcome:
    if decision.is_over:
        return _then_next(state, decision.records, at, decision.effects)
    return _outcome(state, decision.records, decision.effects)


def _then_next(state: State, records: list[Record], at: datetime, first: Iterable[Effect] = ()) -> Outcome:
    """Return the outcome of `records`, in which the worker is told what is next, an item being shown."""
    after = fold(state, records)
    if after.phase is Phase.TOPIC and after.current is not None and after.current.plan.item is not None:
        shown = ItemShown(after.current.plan.conversation, at)
        records, after = [*records, shown], fold(after, [shown])
    return Outcome(after, tuple(records), (*first, Tell(_due(after))))


def _due(state: State) -> wire.ServerMessage:
    """Return the message that says what is due next."""
    if state.phase is Phase.QUESTIONS_BEFORE:
        return wire.QuestionnaireDue(part="before")
    if state.phase is Phase.QUESTIONS_AFTER:
        return wire.QuestionnaireDue(part="after")
    if (question := question_card(state)) is not None:
        return wire.QuestionDue(question=question)
    if state.current is None:
        return wire.FeedbackDue()
    plan = state.current.plan
    if state.pair is not None and (due := pairs.choice_due(state, state.pair)) is not None:
        return wire.ChoiceDue(conversation=plan.number, attempt=plan.attempt, turn=due)
    if plan.item is None and state.current.status == "ended":
        return wire.RatingDue(conversation=plan.number, attempt=plan.attempt, side=plan.side)
    named = {
        "conversation": plan.number,
        "attempt": plan.attempt,
        "conversations": state.rules.conversations,
    }
    if plan.item is not None:
        return wire.ItemDue(**named, item=plan.item.content)
    return wire.TopicDue(**named, icebreaker=plan.icebreaker, scenario=scenario_text(state, plan))


def _agree(state: State, message: wire.Agree, at: datetime) -> Outcome:
    consent = state.rules.consent
    if consent is None:
        return _then_next(state, [Agreed(at, message.id)], at)
    if message.consent != consent.version:
        raise ConsentMissing(f"the consent is version {consent.version}, not {message.consent}")
    if not consent.are_ticked(message.ticked):
        required = ", ".join(box.label for box in consent.boxes if box.required)
        ticked = ", ".join(message.ticked) or "nothing"
        raise ConsentMissing(f"what has to be ticked: {required}; what is: {ticked}")
    in_order = tuple(box.label for box in consent.boxes if box.label in message.ticked)
    return _then_next(state, [Agreed(at, message.id, consent.version, in_order)], at)


def _take_questionnaire(state: State, message: wire.Questionnaire, at: datetime) -> Outcome:
    due = "before" if state.phase is Phase.QUESTIONS_BEFORE else "after"
    if message.part != due:
        raise WrongPhase(f"the questions {due} all conversations", f"those {message.part} them")
    answers = answer_records(state.rules, message.part, message.answers, at)
    return _then_next(state, [*answers, QuestionnaireHandedIn(message.part, at, message.id)], at)


def _answer(state: State, message: wire.Answer, at: datetime) -> Outcome:
    tutorial, due = state.rules.tutorial, state.question
    if tutorial is None or due is None or message.question != due:
        raise WrongPhase(f"test question {due}", f"test question {message.question}")
    question = tutorial.questions[due - 1]
    if message.answer > len(question.answers):
        raise WrongPhase(f"an answer from 1 to {len(question.answers)}", f"answer {message.answer}")
    answered = QuestionAnswered(due, message.answer, message.answer == question.right, at, message.id)
    after = fold(state, [answered])
    if sum(not answer.is_right for answer in after.answers) > tutorial.mistakes:
        return _outcome(state, [answered, Closed("returned", at)], [Tell(_returned(state))])
    return _then_next(state, [answered], at)


def _open(state: State, current: Conversation, message: wire.Topic, at: datetime) -> Outcome:
    plan = current.plan
    icebreaker = plan.icebreaker
    if icebreaker is not None and message.text is not None:
        raise TopicFixed("this study picks the topic itself")
    topic = icebreaker if icebreaker is not None else message.text
    if topic is None:
        raise TopicMissing("this study lets you choose the topic")
    mark = TopicMarked(plan.conversation, 0, 0, topic, message.opinion, None, None, at, message.id)
    started = wire.ConversationStarted(
        conversation=plan.position,
        attempt=plan.attempt,
        conversations=state.rules.conversations,
        topic=topic,
        scenario=scenario_text(state, plan),
    )
    return _outcome(state, [mark], [Tell(started)])


def _refuse_while_pending(current: Conversation, at: datetime) -> None:
    if current.awaits_reply() or current.hides_reply(at):
        raise ReplyPending("the chatbot's reply is still on its way")


def _say(state: State, current: Conversation, message: wire.Say, at: datetime) -> Outcome:
    _refuse_while_pending(current, at)
    if current.inputs >= state.rules.maximum_inputs:
        raise TooManyInputs(f"this conversation has all of its {state.rules.maximum_inputs} inputs")
    plan, index = current.plan, len(current.turns)
    if message.turn != index:
        raise WrongPhase(f"line {index}", f"line {message.turn}")
    said = WorkerSaid(plan.conversation, index, message.text, at, message.id)
    typing = wire.Typing(conversation=plan.position, attempt=plan.attempt)
    return _outcome(state, [said], [Tell(typing), AskBot(plan.conversation, index + 1)])


def _change_topic(state: State, current: Conversation, message: wire.TopicChange, at: datetime) -> Outcome:
    if current.topics > state.rules.maximum_topic_changes:  # the opening topic is one of `topics`
        raise TooManyTopicChanges(f"the topic has changed {state.rules.maximum_topic_changes} times")
    mark = TopicMarked(
        current.plan.conversation,
        current.topics,
        current.inputs,
        message.topic,
        message.opinion,
        message.how,
        message.bot_opinion,
        at,
        message.id,
    )
    return _outcome(state, [mark])


def _end(state: State, current: Conversation, message: wire.EndConversation, at: datetime) -> Outcome:
    missing = state.rules.minimum_inputs - current.inputs
    if missing > 0:
        raise TooFewInputs(missing)
    _refuse_while_pending(current, at)
    return _over(state, current, [], at, message.id)


def _over(
    state: State, conversation: Conversation, records: list[Record], at: datetime, client_id: str | None
) -> Outcome:
    """Return the outcome of `records` and a chat's end: its rating is due, or what comes after it."""
    plan = conversation.plan
    ended: list[Record] = [*records, ConversationEnded(plan.conversation, at, client_id)]
    if is_left_unrated(plan, state.rules.rate_share):
        return _then_next(state, [*ended, ConversationLeftUnrated(plan.conversation)], at)
    due = wire.RatingDue(conversation=plan.position, attempt=plan.attempt)
    return _outcome(state, ended, [Tell(due)])


def _rate(state: State, current: Conversation, message: wire.Rate, at: datetime) -> Outcome:
    if message.side != current.plan.side:
        raise WrongPhase(f"a rating of {current.plan.side or 'one chatbot'}", f"one of {message.side}")
    return _then_next(state, rating_records(state.rules, current, message, at), at)


def _hand_in(state: State, message: wire.Feedback, at: datetime) -> Outcome:
    records: list[Record] = [FeedbackGiven(message.text, at, message.id), Closed("completed", at)]
    completed = wire.Completed(
        code=state.context.code, return_to=state.context.return_to, debriefing=state.debriefing
    )
    return _outcome(state, records, [Tell(completed)])


def _returned(state: State) -> wire.Ended:
    return wire.Ended(phase="returned", debriefing=state.debriefing)


def _stale(state: State, conversation_id: str, index: int) -> bool:
    """Return whether an answer for line `index` is too late: another one is there, or the chat is over."""
    conversation = state.conversation(conversation_id)
    return state.closed is not None or not (conversation.awaits_reply() and len(conversation.turns) == index)


def _bot_replied(state: State, event: BotReplied) -> Outcome:
    if _stale(state, event.conversation, event.index):
        return Outcome(state)
    conversation = state.conversation(event.conversation)
    show_at = _show_at(state, conversation, event)
    said = BotSaid(event.conversation, event.index, event.text, event.at, show_at, event.latency_ms)
    records: list[Record] = [said]
    if event.gave_away is not None:
        # The reply stays as it is: what a system says is what is evaluated. The analyst is told.
        records.append(Incident(event.conversation, "gave_itself_away", event.gave_away, event.at))
    if conversation.plan.side is None:
        return _outcome(state, records, [ShowReply(event.conversation, event.index, show_at)])
    pair = (after := fold(state, records)).pair_of(after.conversation(event.conversation))
    both_there = not any(c.awaits_reply() for c in pair)
    return Outcome(after, tuple(records), (pairs.show(pair),) if both_there else ())


def _show_at(state: State, conversation: Conversation, event: BotReplied) -> datetime:
    if conversation.plan.side is not None:
        return pairs.reply_shown(state, state.pair_of(conversation), event.at)
    delay = reply_delay(state.rules.reply_time, state.context.reply_pace, conversation.plan.seed, event.index)
    return max(conversation.turns[-1].at + delay, event.at)


def _bot_gave_up(state: State, event: BotGaveUp) -> Outcome:
    if _stale(state, event.conversation, event.index):
        return Outcome(state)
    conversation = state.conversation(event.conversation)
    incident = _failed_try("bot_gave_up", event)
    if conversation.plan.side is not None:
        pair = state.pair_of(conversation)
        return _decided(state, pairs.gave_up(state, pair, event, incident), event.at)
    if conversation.inputs >= state.rules.minimum_inputs:
        return _over(state, conversation, [incident], event.at, None)
    failed: list[Record] = [incident, ConversationFailed(event.conversation, event.at)]
    return _replace(state, conversation, failed, event.at)


def _ended_by_researcher(state: State, event: EndedByResearcher) -> Outcome:
    current = state.current
    if state.phase is not Phase.CHAT or current is None or not any(t.author == "bot" for t in current.turns):
        raise NothingToRate("the worker has no conversation under way in which a chatbot has replied")
    incident = Incident(current.plan.conversation, "ended_by_researcher", event.why, event.at)
    return _over(state, current, [incident], event.at, None)


def _failed_try(kind: Literal["bot_error", "bot_gave_up"], event: BotStumbled | BotGaveUp) -> Incident:
    return Incident(event.conversation, kind, event.reason, event.at, event.failure)


def _replace(state: State, failed: Conversation, records: list[Record], at: datetime) -> Outcome:
    plan, context = failed.plan, state.context
    system = replacement(
        plan.system,
        state.rules.lineup.variants,
        [c.plan.system for c in state.conversations],
        derive_seed(context.seed, "replacement", plan.position, plan.attempt),
    )
    if system is None:
        rest = [c for c in state.conversations if c.status == "planned"]
        return _then_next(state, records + [ConversationSkipped(c.plan.conversation, at) for c in rest], at)
    planned = plan_conversation(
        state.rules.lineup,
        context.assignment,
        context.seed,
        plan.position,
        plan.attempt + 1,
        system,
        plan.scenario,
    )
    swap = Incident(plan.conversation, "replaced", f"{plan.system} was replaced by {system}", at)
    replaced = wire.Replaced(conversation=planned.position, attempt=planned.attempt)
    return _then_next(state, [*records, swap, planned], at, [Tell(replaced)])
