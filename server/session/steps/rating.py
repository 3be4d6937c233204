"""Apply a worker's rating of a conversation, an item or a turn: return records, or refuse it."""

import re
from collections.abc import Mapping
from datetime import datetime

from server.errors import EditMissing, EditSenseless, IncompleteRating, WrongPhase
from server.session import protocol as wire
from server.session.answer_kinds import ShownTexts, point_to_rating
from server.session.conversation import Conversation
from server.session.correctness import correctness_values
from server.session.instrument import Part, checked_answers
from server.session.records import AnswerGiven, ConversationRated, ItemEdited, Record, TurnRated
from server.session.state import SessionRules

# Chaganty et al. (2018): a worker who rates a text below the top must edit it; the edit's value is the number
# of edited words over the length. Edits of fewer than five characters are rejected.
FEWEST_CHARACTERS = 5
_REPEATED_MARK = re.compile(r"(\S)\1{4,}")
_REPEATED_WORD = re.compile(r"\b(\w+)(?:\W+\1\b){2,}", re.IGNORECASE)
_WORD = re.compile(r"\w+")


def edit_share(shown: str, edited: str) -> float:
    """Return the number of edited words over the length of `shown` in words; 0 if the texts are the same.

    Edited words are those to insert, delete or replace, at the least (Levenshtein). More words may be
    inserted than there were, so the share can be above 1.
    """
    before, after = shown.split(), edited.split()
    return _distance(before, after) / max(len(before), 1)


def why_senseless(shown: str, edited: str) -> str | None:
    """Return why `edited` cannot be an improvement of `shown`, in words for the worker; None if it can."""
    if not _WORD.search(edited):
        return "there are no words in the text"
    if _is_near(shown, edited, FEWEST_CHARACTERS - 1):
        return f"fewer than {FEWEST_CHARACTERS} characters were changed"
    if _letters(shown) == _letters(edited):
        return "only blanks, marks or capitals were changed"
    if _REPEATED_MARK.search(edited) and not _REPEATED_MARK.search(shown):
        return "one character stands there again and again"
    if _REPEATED_WORD.search(edited) and not _REPEATED_WORD.search(shown):
        return "one word stands there again and again"
    return None


def _letters(text: str) -> str:
    return "".join(_WORD.findall(text.casefold()))


def _distance(before: list[str], after: list[str]) -> int:
    """Return how many words must be inserted, deleted or replaced; in time of the product of the lengths.

    Common beginnings and ends cost nothing, so that a small edit of a long text is quick.
    """
    before, after = _without_common_ends(before, after)
    row = list(range(len(after) + 1))
    for i, one in enumerate(before, start=1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(after, start=1):
            exchanged = diagonal + (one != other)
            diagonal = row[j]
            row[j] = min(exchanged, row[j] + 1, row[j - 1] + 1)
    return row[-1]


def _without_common_ends(before: list[str], after: list[str]) -> tuple[list[str], list[str]]:
    most, start = min(len(before), len(after)), 0
    while start < most and before[start] == after[start]:
        start += 1
    end = 0
    while end < most - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return before[start : len(before) - end], after[start : len(after) - end]


def _is_near(one: str, other: str, most: int) -> bool:
    """Return whether at most `most` characters must be inserted, deleted or replaced.

    Only cells less than `most` off the diagonal are computed, so that the time grows with the length.
    """
    if abs(len(one) - len(other)) > most:
        return False
    beyond = most + 1
    row = {j: j for j in range(min(most, len(other)) + 1)}
    for i in range(1, len(one) + 1):
        lowest = max(0, i - most)
        new: dict[int, int] = {}
        for j in range(lowest, min(len(other), i + most) + 1):
            here = row.get(j - 1, beyond) + (one[i - 1] != other[j - 1]) if j else i
            new[j] = min(here, row.get(j, beyond) + 1, new.get(j - 1, beyond) + 1)
        row = new
    return row.get(len(other), beyond) <= most


def turn_rating(
    rules: SessionRules, conversation: Conversation, message: wire.RateTurn, at: datetime
) -> TurnRated:
    """Return the record of a reply's rating, from 0 to 100; it replaces an earlier one.

    Raises:
        WrongPhase: The line is not a reply that the worker has seen, or the value is off the study's scale.
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


def rating_records(
    rules: SessionRules, conversation: Conversation, message: wire.Rate, at: datetime
) -> list[Record]:
    """Return the records of a rating: its values, the answers that came with it, and an improved text.

    Raises:
        IncompleteRating: A criterion has no value or one off its scale, or is not in the study.
        AnswersUnfit: A question has no answer or an invalid one.
        EditMissing, EditSenseless: A text that was not rated at the top was not improved.
    """
    name = conversation.plan.conversation
    checked = checked_answers(rules.questionnaires.conversation, message.answers, _shown(conversation))
    computed = correctness_values(checked) if rules.correctness else {}
    values = _values(rules, message, computed)
    rated = ConversationRated(name, tuple(values.items()), at, message.id)
    answers = [AnswerGiven(name, "conversation", label, value, at) for label, value in checked]
    return [*answers, rated, *_edits(rules, conversation, message, values, at)]


def _shown(conversation: Conversation) -> ShownTexts:
    """Return the texts that the questions about a conversation, or an item, are about."""
    item = conversation.plan.item
    if item is not None:
        return item.content.shown
    return ShownTexts({i: turn.text for i, turn in enumerate(conversation.turns) if turn.author == "bot"})


def answer_records(rules: SessionRules, part: Part, answers: wire.Answers, at: datetime) -> list[Record]:
    """Return a record for each answer to a part of the questionnaires. Raises AnswersUnfit."""
    checked = checked_answers(rules.questionnaires.of(part), answers)
    return [AnswerGiven(None, part, label, value, at) for label, value in checked]


def _values(rules: SessionRules, message: wire.Rate, computed: Mapping[str, int]) -> dict[str, int]:
    """Return the value of each criterion, from 0 to 100. Raises IncompleteRating."""
    asked, given = set(rules.criteria) - set(computed), set(message.ratings)
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
    ratings = {**message.ratings, **computed}
    return {
        label: point_to_rating(ratings[label], rules.points[label])
        if label in rules.points and label not in computed
        else ratings[label]
        for label in rules.criteria
    }


def _edits(
    rules: SessionRules,
    conversation: Conversation,
    message: wire.Rate,
    values: dict[str, int],
    at: datetime,
) -> list[Record]:
    """Return the record of a worker's improvement of a text that they did not rate at the top.

    Raises:
        EditMissing: There is no improved text.
        EditSenseless: The edited text is no improvement.
    """
    asked, item = rules.post_edit, conversation.plan.item
    if asked is None or item is None or item.content.text is None:
        return []
    if values[asked.criterion] >= asked.top:
        return []
    if message.edit is None:
        raise EditMissing("The text was neither rated at the top nor improved")
    shown = item.content.text
    reason = why_senseless(shown, message.edit)
    if reason is not None:
        raise EditSenseless(reason)
    return [ItemEdited(conversation.plan.conversation, message.edit, edit_share(shown, message.edit), at)]
