"""Where an assignment stands."""

from enum import StrEnum


class Phase(StrEnum):
    """Where an assignment stands."""

    INSTRUCTIONS = "instructions"
    TUTORIAL = "tutorial"
    TOPIC = "topic"
    CHAT = "chat"
    CHOICE = "choice"
    RATING = "rating"
    FEEDBACK = "feedback"
    DONE = "done"
    EXPIRED = "expired"
    RETURNED = "returned"
