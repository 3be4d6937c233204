"""What a worker sees of a session. Nothing here tells systems apart."""

from datetime import datetime

from server.session.phase import Phase
from server.session.protocol import ConversationCard, Snapshot, StudyCard, TurnCard
from server.session.state import Conversation, State


def snapshot(state: State, study: StudyCard, at: datetime) -> Snapshot:
    """Return all that a page needs to draw the session as it stands at `at`."""
    done = state.phase is Phase.DONE
    current = state.current if state.phase in {Phase.TOPIC, Phase.CHAT, Phase.RATING} else None
    return Snapshot(
        phase=state.phase,
        study=study,
        conversation=_conversation_card(current, at) if current is not None else None,
        code=state.context.code if done else None,
        return_to=state.context.return_to if done else None,
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
