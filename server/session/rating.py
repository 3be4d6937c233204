"""Apply a worker's rating of a conversation or an item: records, or a refusal."""

from datetime import datetime

from server.errors import EditMissing, EditSenseless, IncompleteRating
from server.session import protocol as wire
from server.session.conversation import Conversation
from server.session.edits import edit_share, why_senseless
from server.session.questionnaire import Part, checked_answers, point_to_rating
from server.session.records import AnswerGiven, ConversationRated, ItemEdited, Record
from server.session.rules import SessionRules


def rating_records(
    rules: SessionRules, conversation: Conversation, message: wire.Rate, at: datetime
) -> list[Record]:
    """Return the records of a rating: its values, the answers that came with it, and how a text was improved.

    Raises:
        IncompleteRating: a criterion has no value, or one off its scale, or is none of the study's.
        AnswersUnfit: a question has no answer, or something that is none.
        EditMissing, EditSenseless: a text that was not rated at the top was not improved.
    """
    name = conversation.plan.conversation
    values = _values(rules, message)
    rated = ConversationRated(name, tuple(values.items()), at, message.id)
    answers = answer_records(rules, "conversation", message.answers, at, name)
    return [*answers, rated, *_edits(rules, conversation, message, values, at)]


def answer_records(
    rules: SessionRules, part: Part, answers: wire.Answers, at: datetime, conversation: str | None = None
) -> list[Record]:
    """Return a record for each answer to a part of the questionnaires. Raises AnswersUnfit."""
    checked = checked_answers(rules.questionnaires.of(part), answers)
    return [AnswerGiven(conversation, part, label, value, at) for label, value in checked]


def _values(rules: SessionRules, message: wire.Rate) -> dict[str, int]:
    """Return the value of each criterion, from 0 to 100. Raises IncompleteRating."""
    asked, given = set(rules.criteria), set(message.ratings)
    missing, unknown = sorted(asked - given), sorted(given - asked)
    faults = [f"no rating for {', '.join(missing)}"] if missing else []
    faults += [f"not in this study: {', '.join(unknown)}"] if unknown else []
    faults += [
        f"{label} is rated from 1 to {points}"
        for label, points in rules.points.items()
        if label in given and not 1 <= message.ratings[label] <= points
    ]
    if faults:
        raise IncompleteRating("; ".join(faults))
    return {
        label: point_to_rating(message.ratings[label], rules.points[label])
        if label in rules.points
        else message.ratings[label]
        for label in rules.criteria
    }


def _edits(
    rules: SessionRules,
    conversation: Conversation,
    message: wire.Rate,
    values: dict[str, int],
    at: datetime,
) -> list[Record]:
    """Return how the worker has improved a text that they did not rate at the top.

    Raises:
        EditMissing: they have not.
        EditSenseless: what they have written does not improve it.
    """
    asked, item = rules.post_edit, conversation.plan.item
    if asked is None or item is None or item.content.text is None:
        return []
    if values[asked.criterion] >= asked.top:
        return []
    if message.edit is None:
        raise EditMissing("the text was not rated at the top, and not improved")
    shown = item.content.text
    reason = why_senseless(shown, message.edit)
    if reason is not None:
        raise EditSenseless(reason)
    return [ItemEdited(conversation.plan.conversation, message.edit, edit_share(shown, message.edit), at)]
