"""Messages that cannot be read, or not now."""

from server.errors.error import CandorError


class InvalidMessage(CandorError):
    """The message cannot be read as one of the protocol's."""

    code = "invalid_message"
    status = 400
    hint = "Send a message that follows the wire protocol."


class MalformedJson(InvalidMessage):
    """The frame is not JSON."""

    code = "malformed_json"
    hint = "Send one JSON object per frame."


class UnknownMessage(InvalidMessage):
    """The message's `type` is none of the protocol's."""

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
    """The message is fine, but the session cannot take it now."""

    code = "refused"
    status = 409
    hint = "Reload the page to see where the conversation stands."


class WrongPhase(RefusedMessage):
    """The session is in another phase than the message belongs to."""

    code = "wrong_phase"

    def __init__(self, expected: str, got: str) -> None:
        super().__init__(f"expected {expected}, got {got}")


class ChoiceMissing(RefusedMessage):
    """The worker has not said yet which of the two replies is the better one."""

    code = "choice_missing"
    hint = "Choose one of the two replies first."


class NoTies(RefusedMessage):
    """The study wants one of the two to be preferred."""

    code = "no_ties"
    hint = "Choose one of the two."


class ReplyPending(RefusedMessage):
    """The chatbot has not replied yet."""

    code = "reply_pending"
    retry = True
    hint = "Wait for the chatbot's reply, then send it again."


class TooFewInputs(RefusedMessage):
    """The conversation has not reached its minimum of inputs."""

    code = "too_few_inputs"
    hint = "Go on chatting until the minimum is reached."

    def __init__(self, missing: int) -> None:
        super().__init__(f"{missing} more input{'s' if missing != 1 else ''} needed in this conversation")
        self.missing = missing


class TooManyInputs(RefusedMessage):
    """The conversation has as many inputs as it may have."""

    code = "too_many_inputs"
    hint = "End the conversation and rate it."


class TooManyTopicChanges(RefusedMessage):
    """The topic of the conversation has changed as often as it may."""

    code = "too_many_topic_changes"
    hint = "Go on with this topic, or end the conversation."


class IncompleteRating(RefusedMessage):
    """Not every statement was rated, or one that is none of the study's."""

    code = "incomplete_rating"
    hint = "Rate every statement once, with a whole number from 0 to 100."


class ConsentMissing(RefusedMessage):
    """The study has a consent, and the worker has not ticked all that must be ticked."""

    code = "consent_missing"
    hint = "Name the consent's version, and tick every box that is required."


class TopicMissing(RefusedMessage):
    """The study lets the worker choose the topic, and none was given."""

    code = "topic_missing"
    hint = "Send a topic."


class TopicFixed(RefusedMessage):
    """The study picks the topic, and another was given."""

    code = "topic_fixed"
    hint = "Leave the topic out; only your opinion of it is asked."


class EditMissing(RefusedMessage):
    """The text is not at the top of the scale, and was not improved."""

    code = "edit_missing"
    hint = "Improve the text, or rate it at the top if nothing can be improved."


class EditSenseless(RefusedMessage):
    """What was written does not improve the text."""

    code = "edit_senseless"
    hint = "Change what is wrong in the text, and leave the rest as it is."


class AnswersUnfit(RefusedMessage):
    """A question of a questionnaire is without an answer, or with something that is none."""

    code = "answers_unfit"
    hint = "Answer every question that is required, each in its own form."


class OutdatedPage(CandorError):
    """A page speaks another version of the wire than the server.

    The message is what a worker reads who has the page open: the pages of version 1 show it as it is, over
    a button that loads the page anew. What they have not sent yet outlives that.
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
            f"this page {what}. Press the button to go on where you were: nothing that was saved is lost"
        )
