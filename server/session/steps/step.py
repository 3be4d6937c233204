"""Apply one event to a worker's session. Pure: no clock, no input or output.

`step(state, event)` decides what an event means: which records to store and which effects to perform. The new
state is the fold of those records, so any process can rebuild a session from the database at any time. The
caller stores the records first and performs the effects afterwards.

    instructions → (topic → chat → rating → (quiz)) × n → feedback → done

An item to read and rate is a conversation whose rating is due at once:

    instructions → (tutorial) → rating × n → feedback → done

In comparisons, two conversations are held side by side (`pairs`). The worker chooses between them and, if the
study asks for it, rates them:

    instructions → (topic → chat → choice → (rating) × 2) × n → feedback → done

Questionnaires before and after all conversations have phases of their own, after the instructions and before
the feedback.
"""

from datetime import datetime
from typing import Literal, NamedTuple

from server.errors import ConsentMissing, NothingToRate, WrongPhase
from server.session import protocol as wire
from server.session.conversation import Conversation, Pair
from server.session.events import (
    Accept,
    BotGaveUp,
    BotReplied,
    BotStumbled,
    Decision,
    Effect,
    EndedByResearcher,
    Event,
    FromWorker,
    Tell,
)
from server.session.instrument import Side
from server.session.records import (
    Agreed,
    CallKept,
    Closed,
    FeedbackGiven,
    Incident,
    ItemShown,
    MessageReported,
    QuestionAnswered,
    QuestionnaireSubmitted,
    Record,
    ReportTakenBack,
    WorkerSaid,
)
from server.session.state import Phase, State, fold
from server.session.steps import chat, pairs
from server.session.steps.quiz import quiz, quiz_answer
from server.session.steps.rating import answer_records, rating_records, turn_rating
from server.session.steps.worker_view import question_card, quiz_card

_REPORTS = ("report", "take_back_report")
_TAKES: dict[Phase, tuple[str, ...]] = {
    Phase.INSTRUCTIONS: ("agree", "leave"),
    Phase.QUESTIONS_BEFORE: ("questionnaire", "leave"),
    Phase.TUTORIAL: ("answer", "leave"),
    Phase.TOPIC: ("topic", "leave"),
    Phase.CHAT: ("say", "topic_change", "end_conversation", *_REPORTS, "leave"),
    Phase.CHOICE: ("choose", *_REPORTS, "leave"),
    Phase.RATING: ("rate", *_REPORTS, "leave"),
    Phase.QUIZ: ("answer_quiz", "leave"),
    Phase.QUESTIONS_AFTER: ("questionnaire", "leave"),
    Phase.FEEDBACK: ("feedback", "leave"),
}


_CUTS: dict[str, wire.CutShort] = {
    "bot_gave_up": "chatbot",
    "ended_by_partner": "chatbot",
    "ended_by_researcher": "researcher",
}
_ForConversation = (
    chat.ChatMessage | wire.Rate | wire.RateTurn | wire.Report | wire.TakeBackReport | wire.AnswerQuiz
)


class Outcome(NamedTuple):
    """The result of an event: the state after it, the records to store, then the effects to perform."""

    state: State
    records: tuple[Record, ...] = ()
    effects: tuple[Effect, ...] = ()


def step(state: State, event: Event) -> Outcome:
    """Return the outcome of `event` in `state`.

    A worker's message goes through `_from_worker` (is it allowed in this phase?) and `_take` (what does it
    mean?), and a message within a conversation on to the module of its kind, such as `chat`.

    Raises:
        RefusedMessage: The worker's message is not allowed now; nothing changes.
    """
    match event:
        case FromWorker():
            return _from_worker(state, event)
        case BotReplied():
            return _bot_replied(state, event)
        case BotStumbled():
            return _outcome(state, Decision(_failed_try("bot_error", event)), event.at)
        case BotGaveUp():
            return _bot_gave_up(state, event)
        case EndedByResearcher():
            return _ended_by_researcher(state, event)


def resume(state: State, at: datetime) -> tuple[Effect, ...]:
    """Return the effects in progress in `state`, which are to be performed again after a restart."""
    current = state.current
    if current is None or state.phase_in(current) is not Phase.CHAT:
        return ()
    return chat.resume(state.held_with(current), at)


def _outcome(state: State, decision: Decision, at: datetime, *last: Effect) -> Outcome:
    """Return the outcome of a decision, with the effects `last` after its own.

    If a phase is over, the worker is told what comes next; if that is an item, it counts as shown.
    """
    records = decision.records
    after = fold(state, records)
    if not decision.is_over:
        return Outcome(after, tuple(records), (*decision.effects, *last))
    if after.phase is Phase.TOPIC and after.current is not None and after.current.plan.item is not None:
        shown = ItemShown(after.current.plan.conversation, at)
        records, after = [*records, shown], fold(after, [shown])
    return Outcome(after, tuple(records), (*decision.effects, Tell(_due(after, _cut_short(records))), *last))


def _from_worker(state: State, event: FromWorker) -> Outcome:
    message = event.message
    if state.has_seen(message.id) or (message.type == "leave" and state.closed == "returned"):
        return Outcome(state, effects=(Accept(message.id),))
    current = state.current
    phase = state.phase_in(current)
    if message.type not in _TAKES.get(phase, ()):
        _require_taken_besides(state, phase, message.type)
    # Accepted comes last, so that the page has received everything else that the message led to.
    return _outcome(state, _take(state, current, event), event.at, Accept(message.id))


def _require_taken_besides(state: State, phase: Phase, type_: str) -> None:
    """Check that a message is one of those that only this study, not every study, allows in a phase."""
    besides: tuple[str, ...] = ()
    if phase is Phase.CHAT and state.pair is not None:
        besides = ("choose",)
    if phase in {Phase.CHAT, Phase.RATING} and state.rules.turn_points is not None:
        besides = (*besides, "rate_turn")
    if type_ not in besides:
        expected = " or ".join(f"`{name}`" for name in (*_TAKES.get(phase, ()), *besides)) or "nothing more"
        raise WrongPhase(f"{expected} ({phase} phase)", f"`{type_}`")


def _take(state: State, current: Conversation | None, event: FromWorker) -> Decision:
    message, at = event.message, event.at
    # By the type's name: `isinstance` checks of pydantic's classes in turn took a third of a step.
    match message.type:
        case "leave":
            return Decision([Closed("returned", at)], [Tell(_returned(state))])
        case "agree":
            return _agree(state, message, at)
        case "questionnaire":
            return _take_questionnaire(state, message, at)
        case "answer":
            return _answer(state, message, at)
        case "feedback":
            return _hand_in(state, message, at)
        case "hello":
            raise WrongPhase("`hello` only as the first message", "`hello`")
        case _:
            return _take_in_conversation(state, current, message, event)


def _take_in_conversation(
    state: State, current: Conversation | None, message: _ForConversation, event: FromWorker
) -> Decision:
    if current is None:
        raise WrongPhase("a conversation", f"`{message.type}`")
    plan = current.plan
    if message.conversation != plan.number or message.attempt != plan.attempt:
        raise WrongPhase(
            f"conversation {plan.number}, attempt {plan.attempt}",
            f"conversation {message.conversation}, attempt {message.attempt}",
        )
    match message.type:
        case "say" | "topic" | "topic_change" | "end_conversation" | "choose":
            decision = chat.take(state, state.held_with(current), message, event.at)
            if event.offensive:
                decision.records += _offences(decision.records, event)
            return decision
        case "rate":
            return _rate(state, current, message, event)
        case "rate_turn":
            return Decision([turn_rating(state.rules, current, message, event.at)])
        case "report":
            return _reported(state, report(state, current, message, event.at))
        case "take_back_report":
            return Decision(take_back(state, current, message, event.at))
        case "answer_quiz":
            return Decision([quiz_answer(current, message, event.at)], is_over=True)


def _offences(records: list[Record], event: FromWorker) -> list[Record]:
    """Return incidents for offensive words in a message, which is stored and answered like any other."""
    said = [record for record in records if isinstance(record, WorkerSaid)]
    words = ", ".join(event.offensive)
    return [Incident(record.conversation, "offensive_input", words, event.at) for record in said]


def _cut_short(records: list[Record]) -> wire.CutShort | None:
    """Return who ended a conversation by these records, if not the worker.

    To the worker, a person in the bot's place who ends the chat is a chatbot that has failed.
    """
    return next((_CUTS[r.kind] for r in records if isinstance(r, Incident) and r.kind in _CUTS), None)


def _due(state: State, cut_short: wire.CutShort | None) -> wire.ServerMessage:
    """Return the message that tells what is due next, after a conversation that may have been `cut_short`."""
    if state.phase is Phase.QUESTIONS_BEFORE:
        return wire.QuestionnaireDue(part="before")
    if state.phase is Phase.QUESTIONS_AFTER:
        return wire.QuestionnaireDue(part="after")
    if (question := question_card(state)) is not None:
        return wire.QuestionDue(question=question)
    if state.current is None:
        return wire.FeedbackDue()
    plan = state.current.plan
    if (quiz_due := quiz_card(state)) is not None:
        return wire.QuizDue(quiz=quiz_due)
    if state.pair is not None and (due := pairs.choice_due(state, state.pair)) is not None:
        return wire.ChoiceDue(conversation=plan.number, attempt=plan.attempt, turn=due)
    if plan.item is None and state.current.status == "ended":
        return wire.RatingDue(
            conversation=plan.number, attempt=plan.attempt, side=plan.side, cut_short=cut_short
        )
    named = {
        "conversation": plan.number,
        "attempt": plan.attempt,
        "conversations": state.rules.conversations,
    }
    if plan.item is not None:
        return wire.ItemDue(**named, item=plan.item.content)
    return wire.TopicDue(
        **named, icebreaker=plan.icebreaker, scenario=state.rules.scenario_text(plan.scenario)
    )


def _agree(state: State, message: wire.Agree, at: datetime) -> Decision:
    consent = state.rules.consent
    if consent is None:
        return Decision([Agreed(at, message.id)], is_over=True)
    if message.consent != consent.version:
        raise ConsentMissing(f"The consent is version {consent.version}, not {message.consent}")
    if not consent.are_ticked(message.ticked):
        required = ", ".join(box.label for box in consent.boxes if box.required)
        ticked = ", ".join(message.ticked) or "nothing"
        raise ConsentMissing(f"Boxes that must be ticked: {required}; ticked: {ticked}")
    in_order = tuple(box.label for box in consent.boxes if box.label in message.ticked)
    return Decision([Agreed(at, message.id, consent.version, in_order)], is_over=True)


def _take_questionnaire(state: State, message: wire.Questionnaire, at: datetime) -> Decision:
    due = "before" if state.phase is Phase.QUESTIONS_BEFORE else "after"
    if message.part != due:
        raise WrongPhase(f"the questions {due} all conversations", f"those {message.part} them")
    answers = answer_records(state.rules, message.part, message.answers, at)
    return Decision([*answers, QuestionnaireSubmitted(message.part, at, message.id)], is_over=True)


def _answer(state: State, message: wire.Answer, at: datetime) -> Decision:
    tutorial, due = state.rules.tutorial, state.question
    if tutorial is None or due is None or message.question != due:
        raise WrongPhase(f"test question {due}", f"test question {message.question}")
    question = tutorial.questions[due - 1]
    if message.answer > len(question.answers):
        raise WrongPhase(f"an answer from 1 to {len(question.answers)}", f"answer {message.answer}")
    answered = QuestionAnswered(due, message.answer, message.answer == question.right, at, message.id)
    after = fold(state, [answered])
    if sum(not answer.is_right for answer in after.answers) > tutorial.mistakes:
        return Decision([answered, Closed("returned", at)], [Tell(_returned(after))])
    explained = [Tell(wire.AnswerExplained(why=question.why))] if answered.is_right else []
    return Decision([answered], explained, is_over=True)


def _rate(state: State, current: Conversation, message: wire.Rate, event: FromWorker) -> Decision:
    if message.side != current.plan.side:
        raise WrongPhase(f"a rating of {current.plan.side or 'one chatbot'}", f"one of {message.side}")
    records = rating_records(state.rules, current, message, event.at)
    asked = quiz(state, current, event.others, event.at)
    return Decision(records if asked is None else [*records, asked], is_over=True)


def _hand_in(state: State, message: wire.Feedback, at: datetime) -> Decision:
    records: list[Record] = [FeedbackGiven(message.text, at, message.id), Closed("completed", at)]
    completed = wire.Completed(
        code=state.context.code, return_to=state.context.return_to, debriefing=state.debriefing
    )
    return Decision(records, [Tell(completed)])


def _reported(state: State, records: list[Record]) -> Decision:
    after = fold(state, records)
    return Decision(records, [Tell(_returned(after))] if after.closed is not None else [])


def _returned(state: State) -> wire.Ended:
    return wire.Ended(phase="returned", debriefing=state.debriefing, return_to=state.way_out, code=state.code)


def _stale(state: State, conversation: Conversation, index: int) -> bool:
    """Return whether an answer for line `index` is too late: the line exists, or the chat is over."""
    return state.closed is not None or len(conversation.turns) != index or not conversation.awaits_reply()


def _bot_replied(state: State, event: BotReplied) -> Outcome:
    conversation = state.conversation(event.conversation)
    if _stale(state, conversation, event.index):
        return Outcome(state)
    return _outcome(state, chat.replied(state, conversation, event), event.at)


def _bot_gave_up(state: State, event: BotGaveUp) -> Outcome:
    failed = state.conversation(event.conversation)
    if _stale(state, failed, event.index):
        return Outcome(state)
    if event.failure == "ended":  # a person in the bot's place ended the chat, which is no failure
        kept: list[Record] = [Incident(event.conversation, "ended_by_partner", event.reason, event.at)]
    else:
        kept = _failed_try("bot_gave_up", event)
    return _outcome(state, chat.gave_up(state, failed, event, kept), event.at)


def _ended_by_researcher(state: State, event: EndedByResearcher) -> Outcome:
    current = state.current
    if state.phase is not Phase.CHAT or current is None or not any(t.author == "bot" for t in current.turns):
        raise NothingToRate("The worker has no active conversation in which a chatbot has replied")
    incident = Incident(current.plan.conversation, "ended_by_researcher", event.why, event.at)
    return _outcome(state, chat.over(state, state.held_with(current), [incident], event.at, None), event.at)


def _failed_try(kind: Literal["bot_error", "bot_gave_up"], event: BotStumbled | BotGaveUp) -> list[Record]:
    incident = Incident(event.conversation, kind, event.reason, event.at, event.failure)
    if event.call is None:
        return [incident]
    return [incident, CallKept(event.conversation, event.index, event.call, event.at)]


# If a line is reported again, its earlier report is taken back: the last report counts.
def report(state: State, current: Conversation, message: wire.Report, at: datetime) -> list[Record]:
    """Return the records of a report, with the end of the assignment if the worker leaves with the report.

    Raises:
        WrongPhase: The line is not the partner's (or the item's), or is not shown yet.
    """
    index = message.turn
    conversation = _reported_in(state, current, message.side, index)
    if not _is_reportable(conversation, index, at):
        raise WrongPhase("a message of the chat partner that is shown", f"line {index}")
    name = conversation.plan.conversation
    records: list[Record] = []
    if conversation.report_of(index) is not None:
        records.append(ReportTakenBack(name, index, at, message.id))
    records.append(
        MessageReported(name, index, message.reason, message.note or None, message.leave, at, message.id)
    )
    return [*records, Closed("returned", at)] if message.leave else records


def take_back(
    state: State, current: Conversation, message: wire.TakeBackReport, at: datetime
) -> list[Record]:
    """Return the record that takes a report back. Raises WrongPhase if the line is not reported."""
    conversation = _reported_in(state, current, message.side, message.turn)
    if conversation.report_of(message.turn) is None:
        raise WrongPhase("a line that is reported", f"line {message.turn}")
    return [ReportTakenBack(conversation.plan.conversation, message.turn, at, message.id)]


def _reported_in(state: State, current: Conversation, side: Side | None, index: int) -> Conversation:
    """Return the conversation that a line belongs to: of two side by side, the one that the page names.

    In a chosen history both sides show the same line, so the page names no side: the chosen side is meant.
    """
    held = state.held_with(current)
    if not isinstance(held, Pair):
        if side is not None:
            raise WrongPhase("a message of one chatbot", f"one of {side}")
        return current
    found = side or pairs.goes_on(held, index)
    if found is None:
        raise WrongPhase("which of two chatbots it is of", "no side")
    return held.left if found == "left" else held.right


def _is_reportable(conversation: Conversation, index: int, at: datetime) -> bool:
    item = conversation.plan.item
    if item is not None:
        return index < max(len(item.content.lines), 1)  # a text is one line
    return conversation.shows(index, at) and conversation.turns[index].author == "bot"
