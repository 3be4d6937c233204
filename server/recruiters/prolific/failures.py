"""Failures of Prolific: the request, the answer, and what to do.

ProlificFailure
├── InvalidRequest      what was wanted is against Prolific's rules; nothing was sent
├── NotDone             Prolific has not done it
│   ├── Unreachable     nobody answered; later somebody may
│   ├── Unwell          an answer without content: a mistake or an outage there
│   ├── TooMany         asked too often; `retry_after` says for how long to wait
│   ├── Refused         Prolific says no, and why
│   │   ├── TokenRefused
│   │   └── NotThere
│   └── Unreadable      an answer that is none of Prolific's, where nothing was to be changed
└── OutcomeUnknown      a change was sent, and no answer, or none that can be read, says whether it was
                        made: look before asking again
"""


class ProlificFailure(Exception):
    """Base of Prolific's failures.

    `operation`: the attempted operation; `remedy`: a hint for the researcher.
    """

    remedy = "Try again in a few minutes; Prolific's status page says whether it is down."

    def __init__(self, operation: str, message: str, remedy: str | None = None) -> None:
        super().__init__(f"Prolific: {operation}: {message}")
        self.operation = operation
        self.message = message
        self.remedy = remedy if remedy is not None else type(self).remedy


class InvalidRequest(ProlificFailure):
    """The request breaks Prolific's rules, and was not sent."""

    remedy = "Correct what is named; nothing was sent."


class NotDone(ProlificFailure):
    """Prolific has not carried out the operation."""


class Unreachable(NotDone):
    """Prolific is unreachable, and nothing was changed."""


class Unwell(NotDone):
    """Prolific had an internal error during a read."""


class PlatformBusy(NotDone):
    """Too many requests to Prolific. `retry_after`: seconds to wait, if Prolific tells."""

    remedy = "Wait a while before you ask again; ask for many at once instead of one by one."

    def __init__(self, operation: str, retry_after: float | None) -> None:
        wait = "" if retry_after is None else f"; it wants to be asked again in {retry_after:.0f} s"
        super().__init__(operation, f"asked too often{wait}")
        self.retry_after = retry_after


class PlatformRefused(NotDone):
    """Prolific has refused the operation."""

    remedy = "Correct what Prolific names, and try again."

    def __init__(
        self, operation: str, message: str, status: int, error_code: int | None, remedy: str | None = None
    ) -> None:
        super().__init__(operation, message, remedy)
        self.status = status
        self.error_code = error_code


class TokenRefused(PlatformRefused):
    """The token is unknown to Prolific, or lacks the permission."""

    remedy = (
        "Give a token of the workspace that the study belongs to (Prolific: Settings, API tokens); one that"
        " was withdrawn is of no use any more."
    )


class NotThere(PlatformRefused):
    """The object does not exist at Prolific, or belongs to another workspace."""

    remedy = "Check the id, and that the token is one of the workspace that it belongs to."


class PlatformUnreadable(NotDone):
    """The response does not follow Prolific's specification."""

    remedy = "Check the address of Prolific's API; if it is right, report this to Candor's maintainers."


class OutcomeUnknown(ProlificFailure):
    """A change was sent, but no response confirmed or refused it."""

    remedy = "Look at Prolific whether it was done before you try again."
