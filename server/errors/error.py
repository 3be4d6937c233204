"""Base class of errors, and their form in responses."""

from typing import ClassVar

from pydantic import BaseModel


class CandorError(Exception):
    """Base of every error that a caller gets."""

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500
    retry: ClassVar[bool] = False
    hint: str = "Try again; if it happens again, tell the researchers."

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint if hint is not None else type(self).hint


class NeedsConfirmation(CandorError):
    """The request costs money, or much of it, and was not confirmed."""

    code = "needs_confirmation"
    status = 409
    hint = "If you mean it, send the same again with `confirmed: true`."


class ErrorDetail(BaseModel):
    """An error in a response: `code` for programs, `message` and `hint` for people."""

    code: str
    message: str
    hint: str


class ErrorBody(BaseModel):
    """The body of every HTTP response that is an error."""

    error: ErrorDetail
