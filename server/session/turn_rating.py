"""Apply a worker's rating of a single reply: a record, or a refusal."""

from datetime import datetime

from server.errors import WrongPhase
from server.session import protocol as wire
from server.session.conversation import Conversation
from server.session.questionnaire import point_to_rating
from server.session.records import TurnRated
from server.session.rules import SessionRules


def turn_rating(
    rules: SessionRules, conversation: Conversation, message: wire.RateTurn, at: datetime
) -> TurnRated:
    """Return the record of a reply's rating, from 0 to 100; it takes the place of an earlier one.

    Raises:
        WrongPhase: the line is no reply that the worker has seen, or the value is not on the study's scale.
    """
    points = rules.turn_points
    turns = conversation.turns
    if points is None or not 1 <= message.value <= points:
        raise WrongPhase(
            f"a value from 1 to {points}" if points else "no rating of replies", str(message.value)
        )
    index = message.turn
    if not conversation.shows(index, at) or turns[index].author != "bot":
        raise WrongPhase("a reply that is shown", f"line {index}")
    value = point_to_rating(message.value, points)
    return TurnRated(conversation.plan.conversation, index, value, at, message.id)
