"""Platforms through which participants are paid: the operations that a client offers, and the types it uses.

Amounts are whole cents of the study's currency. Every operation raises a RecruiterFailure on failure.

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

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, StringConstraints


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


# Prolific sends amounts as JSON numbers like 250.0, which pydantic takes; 250.5 it refuses.
Cents = Annotated[int, Field(ge=0)]
SHORTEST_REJECTION = 100  # minimum characters of a rejection's reason
LOWEST_SHARE, HIGHEST_SHARE = 8, 99  # per cent of the reward that can be paid in part
EndingKind = Literal[
    "complete", "screened_out", "our_failure", "reported", "no_consent", "returned", "partial"
]


def decimal_amount(cents: int) -> str:
    """Return an amount as a decimal: 150 becomes `1.50`."""
    return f"{cents // 100}.{cents % 100:02d}"


def shown_amount(cents: int, currency: str | None) -> str:
    """Return an amount for people, such as `1.50 GBP`; without a currency if that is unknown."""
    return decimal_amount(cents) if currency is None else f"{decimal_amount(cents)} {currency}"


class Status(StrEnum):
    """The status of a submission, as it is stored. Other platforms' statuses are translated."""

    RESERVED = "RESERVED"
    ACTIVE = "ACTIVE"
    AWAITING_REVIEW = "AWAITING REVIEW"
    APPROVED = "APPROVED"
    PARTIALLY_APPROVED = "PARTIALLY APPROVED"
    REJECTED = "REJECTED"
    RETURNED = "RETURNED"
    TIMED_OUT = "TIMED-OUT"
    SCREENED_OUT = "SCREENED OUT"
    UNKNOWN = "UNKNOWN"

    @classmethod
    def _missing_(cls, value: object) -> "Status":
        """Read a new status of a platform as UNKNOWN, so that it does not break the rest of a list."""
        return cls.UNKNOWN


class RejectionCategory(StrEnum):
    """The reason category of a rejection."""

    TOO_QUICKLY = "TOO_QUICKLY"
    TOO_SLOWLY = "TOO_SLOWLY"
    FAILED_INSTRUCTIONS = "FAILED_INSTRUCTIONS"
    INCOMP_LONGITUDINAL = "INCOMP_LONGITUDINAL"
    FAILED_CHECK = "FAILED_CHECK"
    LOW_EFFORT = "LOW_EFFORT"
    MALINGERING = "MALINGERING"
    NO_CODE = "NO_CODE"
    BAD_CODE = "BAD_CODE"
    NO_DATA = "NO_DATA"
    UNSUPP_DEVICE = "UNSUPP_DEVICE"
    OTHER = "OTHER"


class Transition(StrEnum):
    """A transition of a study. PAUSE stops new participants; STOP closes the study for good."""

    PUBLISH = "PUBLISH"
    PAUSE = "PAUSE"
    START = "START"
    STOP = "STOP"


class PlatformAnswer(BaseModel):
    """Base of platforms' answers. Unknown fields are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class PlatformSubmission(PlatformAnswer):
    """A submission in the list of a study. `study_code`: the completion code that was entered."""

    id: str
    participant_id: str
    status: Status
    started_at: datetime
    completed_at: datetime | None = None
    study_code: str | None = None


class SubmissionDetail(PlatformAnswer):
    """A single submission, with its paid bonuses."""

    id: str
    participant: str
    status: Status
    bonus_payments: tuple[Cents, ...] = ()


class PlatformBonusBatch(PlatformAnswer):
    """A prepared batch of bonuses. `total_amount`: its cost, with fees and tax."""

    id: str
    total_amount: Cents


class PlatformStudy(Protocol):
    """A study on a platform. While nobody sees it yet, its status is UNPUBLISHED; while it admits, ACTIVE."""

    @property
    def id(self) -> str:
        """The platform's id of the study."""

    @property
    def status(self) -> str:
        """The status of the study."""

    @property
    def total_available_places(self) -> int:
        """The number of places."""

    @property
    def pays_screen_outs(self) -> bool:
        """Whether screened-out participants are paid."""

    @property
    def codes(self) -> frozenset[str]:
        """The completion codes."""


class PlatformCost(Protocol):
    """The cost of a study, in cents of its currency."""

    @property
    def currency(self) -> str | None:
        """The currency, such as GBP; None if the platform does not tell."""

    @property
    def reward_cents(self) -> int:
        """The rewards, including those of screen-outs."""

    @property
    def bonus_cents(self) -> int:
        """The bonuses."""

    @property
    def fee_cents(self) -> int:
        """The platform's fees, with tax."""


class StudyPlan(BaseModel):
    """The plan of a study on the platform. Amounts are cents of the workspace's currency.

    `minutes`: the estimated duration; by default, that of the study file. `keep_out`: the platform's
    participant groups to exclude.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    places: Annotated[int, Field(ge=1, le=100_000, strict=True)]
    reward: Annotated[int, Field(ge=1, le=1_000_000, strict=True)]
    minutes: Annotated[int, Field(ge=1, le=1_000, strict=True)] | None = None
    screen_out_reward: Annotated[int, Field(ge=0, le=1_000_000, strict=True)] = 0
    screen_out_places: Annotated[int, Field(ge=0, le=100_000, strict=True)] = 0
    description: Annotated[str, StringConstraints(strip_whitespace=True, max_length=4_000)] = ""
    keep_out: Annotated[tuple[str, ...], Field(max_length=50)] = ()


@dataclass(frozen=True, slots=True)
class PlatformDraft:
    """A study to draft on a platform.

    `run`: our name of the run; `address`: the run's address, without parameters; `codes`: the completion
    codes by ending; `signed`: the platform signs each participant's address.
    """

    run: str
    title: str
    description: str
    address: str
    minutes: int
    plan: StudyPlan
    codes: Mapping[EndingKind, str]
    signed: bool


class StudyCalls(Protocol):
    """The operations on studies."""

    async def draft_new(self, new: PlatformDraft) -> PlatformStudy:
        """Create a draft. Nobody sees it, and it costs nothing, until it is published."""

    async def discard(self, study: str) -> None:
        """Delete a study that was never published."""

    async def study(self, study: str) -> PlatformStudy:
        """Return a study by its id."""

    def drafts(self, internal_name: str) -> AsyncIterator[str]:
        """Yield the ids of the drafts of a run's name."""

    async def move(self, study: str, transition: Transition) -> PlatformStudy:
        """Publish, pause, resume or close a study."""

    async def set_places(self, study: str, places: int) -> PlatformStudy:
        """Set the number of places."""

    async def cost(self, study: str, *, projected: bool = False) -> PlatformCost:
        """Return the cost of a study so far; with `projected`, of all its places."""


class SubmissionCalls(Protocol):
    """The operations on submissions. A decision returns the submission's status afterwards."""

    def of_study(self, study: str) -> AsyncIterator[PlatformSubmission]:
        """Yield every submission of a study."""

    async def submission(self, submission: str) -> SubmissionDetail:
        """Return one submission, with its bonuses."""

    async def approve(self, submission: str) -> Status:
        """Approve a submission, which pays it in full."""

    async def reject(self, submission: str, category: RejectionCategory, message: str) -> Status:
        """Reject a submission without pay, with a reason for the participant."""

    async def pay_in_part(self, submission: str, code: str, share: int, message: str) -> Status:
        """Pay `share` per cent of the reward; `code` is the study's code for the ending `partial`."""

    async def screen_out(self, submission: str) -> Status:
        """Screen a submission out, which pays the study's screen-out reward."""

    async def request_return(self, submission: str, *reasons: str) -> None:
        """Ask a participant to return a submission."""


class BonusCalls(Protocol):
    """The operations on bonuses."""

    async def set_up(self, study: str, cents: Mapping[str, int]) -> PlatformBonusBatch:
        """Prepare bonuses, in cents by submission, without paying."""

    async def pay(self, batch: str) -> None:
        """Pay a prepared batch. The request is sent only once."""


class MessageCalls(Protocol):
    """The operations on messages."""

    async def send(self, participant: str, study: str, body: str) -> None:
        """Send a message to a participant of a study."""


class PlatformSecret(PlatformAnswer):
    """The secret that signs a workspace's events. A new one replaces the old."""

    value: str


@dataclass(frozen=True, slots=True)
class LostEvent:
    """An event that did not arrive. `study`, `submission`: its subject."""

    id: str
    study: str | None
    submission: str | None


class EventCalls(Protocol):
    """The operations on events that a platform sends."""

    async def new_secret(self, workspace: str) -> PlatformSecret:
        """Create the secret that signs a workspace's events. It replaces the earlier one."""

    async def subscribe_to_missing(self, workspace: str, target: str) -> bool:
        """Create missing subscriptions that send events to `target`; return whether any was missing."""

    async def lost_events(self, target: str) -> list[LostEvent]:
        """Return the events for `target` that could not be delivered."""


class PayPlatform(Protocol):
    """Client of a platform, with its operations grouped by kind of object."""

    @property
    def studies(self) -> StudyCalls:
        """The operations on studies."""

    @property
    def submissions(self) -> SubmissionCalls:
        """The operations on submissions."""

    @property
    def bonuses(self) -> BonusCalls:
        """The operations on bonuses."""

    @property
    def messages(self) -> MessageCalls:
        """The operations on messages."""

    @property
    def hooks(self) -> EventCalls | None:
        """The operations on events; None if the platform sends none."""
