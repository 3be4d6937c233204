"""Phases of an assignment."""

from enum import StrEnum


class Phase(StrEnum):
    """Where an assignment stands."""

    INSTRUCTIONS = "instructions"
    QUESTIONS_BEFORE = "questions_before"
    TUTORIAL = "tutorial"
    TOPIC = "topic"
    CHAT = "chat"
    CHOICE = "choice"
    RATING = "rating"
    QUIZ = "quiz"
    QUESTIONS_AFTER = "questions_after"
    FEEDBACK = "feedback"
    DONE = "done"
    EXPIRED = "expired"
    RETURNED = "returned"
