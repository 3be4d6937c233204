"""View of a session for its worker. It contains nothing that tells systems apart."""

from collections.abc import Iterable
from datetime import datetime

from server.session.answer_kinds import rating_to_point
from server.session.conversation import Conversation, Pair
from server.session.protocol import (
    ConversationCard,
    QuestionCard,
    QuizCard,
    ReportCard,
    SaidByBot,
    SaidByBoth,
    Snapshot,
    StudyCard,
    TurnCard,
)
from server.session.reply_time import word_pace
from server.session.state import Phase, State
from server.session.steps import pairs


def snapshot(state: State, study: StudyCard, at: datetime) -> Snapshot:
    """Return everything that a page needs to draw the session's state at `at`."""
    at_work = {Phase.TOPIC, Phase.CHAT, Phase.CHOICE, Phase.RATING}
    current = state.current if state.phase in at_work else None
    return Snapshot(
        phase=state.phase,
        study=study,
        conversation=_conversation_card(state, current, at) if current is not None else None,
        question=question_card(state) if state.phase is Phase.TUTORIAL else None,
        quiz=quiz_card(state),
        code=state.code,
        return_to=_return_to(state),
        debriefing=state.debriefing if state.closed is not None else None,
    )


def _return_to(state: State) -> str | None:
    """Return the link for a worker whose assignment has ended, however it has ended."""
    if state.closed is None:
        return None
    return state.context.return_to if state.closed == "completed" else state.way_out


def reply(state: State, conversation_id: str, index: int) -> SaidByBot | SaidByBoth:
    """Return the message that shows line `index` of a conversation, or of both conversations of a pair.

    Raises:
        KeyError, IndexError: There is no such conversation or line.
    """
    conversation = state.conversation(conversation_id)
    plan = conversation.plan
    pace = word_pace(plan.seed, index) if state.rules.streaming else None
    number, attempt = plan.number, plan.attempt
    if plan.side is None:
        text = conversation.turns[index].text
        return SaidByBot(conversation=number, attempt=attempt, turn=index, text=text, pace=pace)
    left, right = [c.turns[index].text for c in state.pair_of(conversation)]
    return SaidByBoth(conversation=number, attempt=attempt, turn=index, left=left, right=right, pace=pace)


def question_card(state: State) -> QuestionCard | None:
    """Return the test question that is due; None if none is left, or the study has none."""
    tutorial, due = state.rules.tutorial, state.question
    if tutorial is None or due is None:
        return None
    question = tutorial.questions[due - 1]
    was_wrong = bool(state.answers) and not state.answers[-1].is_right
    return QuestionCard(
        question=due,
        questions=len(tutorial.questions),
        text=question.text,
        asked=question.question,
        answers=question.answers,
        why=question.why if was_wrong else None,
    )


def quiz_card(state: State) -> QuizCard | None:
    """Return the quiz that is due; None if there is none."""
    current = state.current
    if state.phase is not Phase.QUIZ or current is None or current.quiz is None:
        return None
    plan, quiz = current.plan, current.quiz
    lines = [line.text for line in quiz.lines]
    return QuizCard(conversation=plan.number, attempt=plan.attempt, about=quiz.about, lines=lines)


def _conversation_card(state: State, conversation: Conversation, at: datetime) -> ConversationCard:
    plan, pair = conversation.plan, state.pair
    is_hidden = conversation.awaits_reply() or conversation.hides_reply(at)
    typing = is_hidden if pair is None else pairs.hides_replies(pair, at)
    turns = (
        _lines(conversation, state.rules.turn_points, at) if pair is None else _lines_of_both(state, pair, at)
    )
    if state.rules.streaming and turns and turns[-1].author == "bot":
        turns[-1] = _appearing(pair or (conversation,), turns[-1], at)
    waits = pair is not None and typing and conversation.status == "active"
    return ConversationCard(
        conversation=plan.number,
        attempt=plan.attempt,
        icebreaker=plan.icebreaker,
        topic=conversation.topic,
        scenario=state.rules.scenario_text(plan.scenario),
        opinion=conversation.opinion,
        bot_opinion=conversation.bot_opinion,
        turns=turns,
        inputs=conversation.inputs,
        typing=typing,
        item=plan.item.content if plan.item is not None else None,
        choice_due=None if pair is None or waits else pairs.choice_due(state, pair),
        side=plan.side if state.phase is Phase.RATING else None,
        reports=_reports(state, conversation),
    )


def _reports(state: State, conversation: Conversation) -> tuple[ReportCard, ...]:
    """Return the worker's reports on the conversations that they see, without those taken back."""
    return tuple(
        ReportCard(turn=report.index, side=held.plan.side, reason=report.reason, note=report.note)
        for held in state.held_with(conversation)
        for report in held.reports
    )


def _appearing(shown: Iterable[Conversation], line: TurnCard, at: datetime) -> TurnCard:
    """Return a reply that appears word by word, with the time for which it has been appearing."""
    both = list(shown)
    since = max(c.turns[line.turn].show_at for c in both)
    pace = word_pace(both[0].plan.seed, line.turn)
    shown_for = max(round((at - since).total_seconds() * 1000), 0)
    return line.model_copy(update={"pace": pace, "shown_for": shown_for})


def _lines(conversation: Conversation, points: int | None, at: datetime) -> list[TurnCard]:
    values = {} if points is None else {n: rating_to_point(v, points) for n, v in conversation.values}
    return [
        TurnCard(turn=index, author=line.author, text=line.text, value=values.get(index))
        for index, line in enumerate(conversation.turns)
        if conversation.shows(index, at)
    ]


def _lines_of_both(state: State, pair: Pair, at: datetime) -> list[TurnCard]:
    """Return the lines of two conversations side by side; in a chosen history, the chosen replies."""
    told = [pairs.heard(state, conversation) for conversation in pair]
    return [
        TurnCard(
            turn=index,
            author=left.author,
            text=left.text,
            right=right.text if left.author == "bot" and left is not right else None,
        )
        for index, (left, right) in enumerate(zip(*told, strict=False))
        if all(conversation.shows(index, at) for conversation in pair)
    ]
