"""Errors of messages that are invalid, or not allowed now."""

from server.errors.error import CandorError


class InvalidMessage(CandorError):
    """The message is not one of the protocol's."""

    code = "invalid_message"
    status = 400
    hint = "Send a message that follows the wire protocol."


class MalformedJson(InvalidMessage):
    """The frame is not JSON."""

    code = "malformed_json"
    hint = "Send one JSON object per frame."


class UnknownMessage(InvalidMessage):
    """The message's `type` is unknown."""

    code = "unknown_message"


class InvalidField(InvalidMessage):
    """A field is missing, of the wrong kind, or out of range."""

    code = "invalid_field"
    hint = "Correct the field that is named and send it again."


class MessageTooLong(InvalidMessage):
    """A text is longer than its limit."""

    code = "too_long"
    status = 413
    hint = "Shorten the text and send it again."


class RefusedMessage(CandorError):
    """The message is valid, but the session does not allow it now."""

    code = "refused"
    status = 409
    hint = "Reload the page to see where the conversation stands."


class WrongPhase(RefusedMessage):
    """The message belongs to another phase than the session's."""

    code = "wrong_phase"

    def __init__(self, expected: str, got: str) -> None:
        super().__init__(f"Expected {expected}, got {got}")


class ChoiceMissing(RefusedMessage):
    """The worker has not chosen between two replies yet."""

    code = "choice_missing"
    hint = "Choose one of the two replies first."


class NoTies(RefusedMessage):
    """The study does not allow ties."""

    code = "no_ties"
    hint = "Choose one of the two."


class ReplyPending(RefusedMessage):
    """The chatbot has not replied yet."""

    code = "reply_pending"
    retry = True
    hint = "Wait for the chatbot's reply, then send it again."


class TooFewInputs(RefusedMessage):
    """The conversation has not reached its minimum of messages."""

    code = "too_few_inputs"
    hint = "Continue until the minimum is reached."

    def __init__(self, missing: int) -> None:
        super().__init__(f"{missing} more message{'s' if missing != 1 else ''} needed in this conversation")
        self.missing = missing


class TooManyInputs(RefusedMessage):
    """The conversation has reached its maximum of messages."""

    code = "too_many_inputs"
    hint = "End the conversation and rate it."


class TooManyTopicChanges(RefusedMessage):
    """The conversation has reached its maximum of topic changes."""

    code = "too_many_topic_changes"
    hint = "Continue with this topic, or end the conversation."


class IncompleteRating(RefusedMessage):
    """A statement was not rated, or one was rated that is not in the study."""

    code = "incomplete_rating"
    hint = "Rate every statement once, with a whole number from 0 to 100."


class ConsentMissing(RefusedMessage):
    """The study has a consent form, and the worker has not ticked all required boxes."""

    code = "consent_missing"
    hint = "Send the consent's version, and tick every required box."


class TopicMissing(RefusedMessage):
    """The study lets the worker choose the topic, and none was given."""

    code = "topic_missing"
    hint = "Send a topic."


class TopicFixed(RefusedMessage):
    """The study sets the topic, and another one was given."""

    code = "topic_fixed"
    hint = "Leave the topic out; only your opinion of it is asked."


class EditMissing(RefusedMessage):
    """The text is not at the top of the scale, and was not improved."""

    code = "edit_missing"
    hint = "Improve the text, or rate it at the top if nothing can be improved."


class EditSenseless(RefusedMessage):
    """The edited text is no improvement."""

    code = "edit_senseless"
    hint = "Change what is wrong in the text, and leave the rest as it is."


class AnswersUnfit(RefusedMessage):
    """A required question has no answer, or an answer is invalid."""

    code = "answers_unfit"
    hint = "Answer every question that is required, each in its own form."


class OutdatedPage(CandorError):
    """A page uses another version of the wire protocol than the server.

    Workers read the message: pages of version 1 show it unchanged, above a button that reloads the page.
    Unsent messages survive that.
    """

    code = "outdated_page"
    status = 409
    hint = "Load the page again."

    def __init__(self, *, newer: bool) -> None:
        what = (
            "is newer than the study's server"
            if newer
            else "was opened before the study's server was updated"
        )
        super().__init__(
            f"This page {what}. Press the button to continue where you were: nothing that was saved is lost"
        )
