"""Failures of recruiters: the request, the answer, and what to do.

RecruiterFailure
├── InvalidRequest      what was wanted is against the recruiter's rules; nothing was sent
├── NotDone             the recruiter has not done it
│   ├── Unreachable     nobody answered; later somebody may
│   ├── Unwell          an answer without content: a mistake or an outage there
│   ├── PlatformBusy    asked too often; `retry_after` says for how long to wait
│   ├── PlatformRefused the recruiter says no, and why
│   │   ├── TokenRefused
│   │   └── NotThere
│   └── PlatformUnreadable
│                       an answer that is none of the recruiter's, where nothing was to be changed
└── OutcomeUnknown      a change was sent, and no answer, or none that can be read, says whether it was
                        made: look before asking again
"""


class RecruiterFailure(Exception):
    """Base of recruiters' failures.

    `operation`: the attempted operation; `remedy`: a hint for the researcher, with `{recruiter}` for its
    name.
    """

    remedy = "Try again in a few minutes; {recruiter}'s status page says whether it is down."

    def __init__(self, operation: str, message: str, remedy: str | None = None) -> None:
        super().__init__(f"{operation}: {message}")
        self.operation = operation
        self.message = message
        self.remedy = remedy if remedy is not None else type(self).remedy

    def remedy_at(self, recruiter: str) -> str:
        """Return the hint with the recruiter's name in it."""
        return self.remedy.replace("{recruiter}", recruiter)


class InvalidRequest(RecruiterFailure):
    """The request breaks the recruiter's rules, and was not sent."""

    remedy = "Correct what is named; nothing was sent."


class NotDone(RecruiterFailure):
    """The recruiter has not carried out the operation."""


class Unreachable(NotDone):
    """The recruiter is unreachable, and nothing was changed."""


class Unwell(NotDone):
    """The recruiter had an internal error during a read."""


class PlatformBusy(NotDone):
    """Too many requests. `retry_after`: seconds to wait, if the recruiter tells."""

    remedy = "Wait a while before you ask again; ask for many at once instead of one by one."

    def __init__(self, operation: str, retry_after: float | None) -> None:
        wait = "" if retry_after is None else f"; it wants to be asked again in {retry_after:.0f} s"
        super().__init__(operation, f"asked too often{wait}")
        self.retry_after = retry_after


class PlatformRefused(NotDone):
    """The recruiter has refused the operation."""

    remedy = "Correct what {recruiter} names, and try again."

    def __init__(
        self, operation: str, message: str, status: int, error_code: int | None, remedy: str | None = None
    ) -> None:
        super().__init__(operation, message, remedy)
        self.status = status
        self.error_code = error_code


class TokenRefused(PlatformRefused):
    """The token is unknown to the recruiter, or lacks the permission."""

    remedy = (
        "Give a token of the workspace that the study belongs to ({recruiter}: Settings, API tokens); one"
        " that was withdrawn is of no use any more."
    )


class NotThere(PlatformRefused):
    """The object does not exist there, or belongs to another workspace."""

    remedy = "Check the id, and that the token is one of the workspace that it belongs to."


class PlatformUnreadable(NotDone):
    """The response does not follow the recruiter's specification."""

    remedy = "Check the address of {recruiter}'s API; if it is right, report this to Candor's maintainers."


class OutcomeUnknown(RecruiterFailure):
    """A change was sent, but no response confirmed or refused it."""

    remedy = "Look at {recruiter} whether it was done before you try again."
