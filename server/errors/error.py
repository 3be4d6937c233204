"""Base class of errors, and their form in an answer."""

from typing import ClassVar

from pydantic import BaseModel


class CandorError(Exception):
    """Base of every error that a caller is told."""

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500
    retry: ClassVar[bool] = False
    hint: str = "Try again; if it happens again, tell the researchers."

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint if hint is not None else type(self).hint


class NeedsConfirmation(CandorError):
    """What is asked for costs money, or much of it, and who asks has not said that they mean it."""

    code = "needs_confirmation"
    status = 409
    hint = "If you mean it, send the same again with `confirmed: true`."


class ErrorDetail(BaseModel):
    """An error as a caller is told it: `code` for programs, `message` and `hint` for people."""

    code: str
    message: str
    hint: str


class ErrorBody(BaseModel):
    """The one shape of every error that is answered over HTTP."""

    error: ErrorDetail
