"""What a worker sees of a session. Nothing here tells systems apart."""

from datetime import datetime

from server.protocol import (
    ConversationCard,
    CriterionCard,
    Phase,
    Snapshot,
    StudyCard,
    TurnCard,
)
from server.state import Conversation, State
from server.study import Study


def snapshot(state: State, study: Study, at: datetime) -> Snapshot:
    """Return all that a page needs to draw the session as it stands at `at`."""
    done = state.phase is Phase.DONE
    current = state.current if state.phase in {Phase.TOPIC, Phase.CHAT, Phase.RATING} else None
    return Snapshot(
        phase=state.phase,
        study=_study_card(study),
        conversation=_conversation_card(current, at) if current is not None else None,
        code=state.ticket.code if done else None,
        return_to=state.ticket.return_to if done else None,
    )


def _study_card(study: Study) -> StudyCard:
    return StudyCard(
        title=study.title,
        payment=study.payment,
        conversations=study.conversations,
        minimum_inputs=study.minimum_inputs,
        topic_mode=study.topic_mode,
        criteria=[CriterionCard(label=c.label, statement=c.statement) for c in study.criteria],
    )


def _conversation_card(conversation: Conversation, at: datetime) -> ConversationCard:
    return ConversationCard(
        k=conversation.plan.position,
        again=conversation.plan.attempt > 1,
        icebreaker=conversation.plan.icebreaker,
        topic=conversation.topic,
        turns=[
            TurnCard(turn=index, author=line.author, text=line.text)
            for index, line in enumerate(conversation.turns)
            if line.show_at <= at
        ],
        inputs=conversation.inputs,
        typing=conversation.awaits_reply() or conversation.hides_reply(at),
    )
