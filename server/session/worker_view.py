"""What a worker sees of a session. Nothing here tells systems apart."""

from datetime import datetime

from server.session.phase import Phase
from server.session.protocol import ConversationCard, QuestionCard, Snapshot, StudyCard, TurnCard
from server.session.records import ConversationPlanned
from server.session.state import Conversation, State


def snapshot(state: State, study: StudyCard, at: datetime) -> Snapshot:
    """Return all that a page needs to draw the session as it stands at `at`."""
    done = state.phase is Phase.DONE
    current = state.current if state.phase in {Phase.TOPIC, Phase.CHAT, Phase.RATING} else None
    return Snapshot(
        phase=state.phase,
        study=study,
        conversation=_conversation_card(state, current, at) if current is not None else None,
        question=question_card(state) if state.phase is Phase.TUTORIAL else None,
        code=state.context.code if done else None,
        return_to=state.context.return_to if done else None,
        debriefing=state.rules.debriefing if done else None,
    )


def question_card(state: State) -> QuestionCard | None:
    """Return the test question that is due; None where there is none, or none is left."""
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


def scenario_text(state: State, plan: ConversationPlanned) -> str | None:
    """Return what the worker reads of the scenario of a conversation; None where it has none."""
    return None if plan.scenario is None else state.rules.scenarios[plan.scenario]


def _conversation_card(state: State, conversation: Conversation, at: datetime) -> ConversationCard:
    return ConversationCard(
        conversation=conversation.plan.position,
        attempt=conversation.plan.attempt,
        icebreaker=conversation.plan.icebreaker,
        topic=conversation.topic,
        scenario=scenario_text(state, conversation.plan),
        opinion=conversation.opinion,
        bot_opinion=conversation.bot_opinion,
        turns=[
            TurnCard(turn=index, author=line.author, text=line.text)
            for index, line in enumerate(conversation.turns)
            if line.show_at <= at
        ],
        inputs=conversation.inputs,
        typing=conversation.awaits_reply() or conversation.hides_reply(at),
        item=conversation.plan.item.content if conversation.plan.item is not None else None,
    )
