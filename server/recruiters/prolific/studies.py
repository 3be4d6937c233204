"""Studies at Prolific: drafts, publishing, pausing and closing, and cost."""

from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from server.recruiters.pay_platform import (
    Cents,
    EndingKind,
    InvalidRequest,
    PlatformAnswer,
    PlatformDraft,
    StudyPlan,
    Transition,
)
from server.recruiters.prolific.connection import PlatformConnection

_PARAMETERS = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
_LONGEST = 3  # the maximum time is so many times the estimated duration
_NO_CONSENT = "You did not agree to take part. Please return the submission, so that your place is free."
_RETURNED = "You have not finished the study. Please return the submission, so that your place is free."


class _Sent(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Approve(_Sent):
    """Pay at once."""

    action: Literal["AUTOMATICALLY_APPROVE"] = "AUTOMATICALLY_APPROVE"


class Review(_Sent):
    """Wait for the researcher."""

    action: Literal["MANUALLY_REVIEW"] = "MANUALLY_REVIEW"


class AddToGroup(_Sent):
    """Put the participant into a group."""

    action: Literal["ADD_TO_PARTICIPANT_GROUP"] = "ADD_TO_PARTICIPANT_GROUP"
    participant_group: str


class RemoveFromGroup(_Sent):
    """Take the participant out of a group."""

    action: Literal["REMOVE_FROM_PARTICIPANT_GROUP"] = "REMOVE_FROM_PARTICIPANT_GROUP"
    participant_group: str


class RequestReturn(_Sent):
    """Ask the participant to return the place."""

    action: Literal["REQUEST_RETURN"] = "REQUEST_RETURN"
    return_reason: str


class DynamicPayment(_Sent):
    """Let the researcher pay a share of the reward."""

    action: Literal["DYNAMIC_PAYMENT"] = "DYNAMIC_PAYMENT"


class ScreenOut(_Sent):
    """Pay `fixed_screen_out_reward` cents, at most `slots` times. Then the study pauses."""

    action: Literal["FIXED_SCREEN_OUT_PAYMENT"] = "FIXED_SCREEN_OUT_PAYMENT"
    fixed_screen_out_reward: Cents
    slots: int


Action = Annotated[
    Approve | Review | AddToGroup | RemoveFromGroup | RequestReturn | DynamicPayment | ScreenOut,
    Field(discriminator="action"),
]


class CompletionCode(_Sent):
    """A completion code with its actions. `actor`: who may use it."""

    code: str
    code_type: str
    actions: tuple[Action, ...]
    actor: Literal["participant", "researcher"] = "participant"


class ParticipantFilter(_Sent):
    """A filter with which Prolific admits or excludes participants."""

    filter_id: str
    selected_values: tuple[str, ...]


def without_groups(*groups: str) -> ParticipantFilter:
    """Return the filter that excludes the members of these participant groups."""
    return ParticipantFilter(filter_id="participant_group_blocklist", selected_values=groups)


class FilterLimits(_Sent):
    """Limits of submissions per participant, and of concurrent submissions (-1: unlimited)."""

    max_submissions_per_participant: int = 1
    max_concurrent_submissions: int = -1


class StudyDraft(_Sent):
    """A study to draft. Times are in minutes; `reward` is per participant.

    `signed_arrivals`: Prolific adds a signed token to each participant's address.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True)
    name: Annotated[str, Field(min_length=1, max_length=200)]
    internal_name: str
    description: Annotated[str, Field(min_length=1)]
    external_study_url: str
    prolific_id_option: Literal["url_parameters"] = "url_parameters"
    total_available_places: Annotated[int, Field(ge=1)]
    estimated_completion_time: Annotated[int, Field(ge=1)]
    maximum_allowed_time: Annotated[int, Field(ge=1)]
    reward: Cents
    completion_codes: tuple[CompletionCode, ...]
    signed_arrivals: bool = Field(default=False, alias="is_external_study_url_secure")
    device_compatibility: tuple[Literal["desktop", "tablet", "mobile"], ...] = ("desktop", "tablet", "mobile")
    filters: tuple[ParticipantFilter, ...] = ()
    submissions_config: FilterLimits = FilterLimits()
    project: str | None = None

    @model_validator(mode="after")
    def _codes_differ(self) -> "StudyDraft":
        codes = [code.code for code in self.completion_codes]
        if len(set(codes)) < len(codes):
            raise ValueError("two completion codes are the same, so their endings could not be told apart")
        return self


def draft_of(new: PlatformDraft) -> StudyDraft:
    """Return the draft of a study."""
    plan = new.plan
    return StudyDraft(
        name=new.title[:200],
        internal_name=new.run,
        description=new.description,
        external_study_url=f"{new.address}?{_PARAMETERS}",
        signed_arrivals=new.signed,
        total_available_places=plan.places,
        estimated_completion_time=new.minutes,
        maximum_allowed_time=new.minutes * _LONGEST,
        reward=plan.reward,
        completion_codes=_completion_codes(new.codes, plan),
        filters=(without_groups(*plan.keep_out),) if plan.keep_out else (),
    )


def _completion_codes(codes: Mapping[EndingKind, str], plan: StudyPlan) -> tuple[CompletionCode, ...]:
    pay = ScreenOut(fixed_screen_out_reward=plan.screen_out_reward, slots=plan.screen_out_places)
    kinds: dict[EndingKind, tuple[str, Action]] = {
        "complete": ("COMPLETED", Review()),
        "our_failure": ("OTHER", Review()),
        "reported": ("OTHER", Review()),
        "no_consent": ("NO_CONSENT", RequestReturn(return_reason=_NO_CONSENT)),
        "returned": ("OTHER", RequestReturn(return_reason=_RETURNED)),
        "partial": ("OTHER", DynamicPayment()),
        "screened_out": ("FIXED_SCREENOUT", pay),
    }
    return tuple(
        CompletionCode(
            code=code,
            code_type=kinds[ending][0],
            actions=(kinds[ending][1],),
            actor="researcher" if ending == "partial" else "participant",
        )
        for ending, code in codes.items()
    )


class ProlificStudy(PlatformAnswer):
    """A study in Prolific's responses. Filters are not read."""

    id: str
    name: str
    status: str
    internal_name: str | None = None
    external_study_url: str
    total_available_places: int
    reward: Cents
    estimated_completion_time: float
    completion_codes: tuple[CompletionCode, ...] = ()
    is_external_study_url_secure: bool = False

    @property
    def codes(self) -> frozenset[str]:
        """The completion codes."""
        return frozenset(code.code for code in self.completion_codes)

    @property
    def pays_screen_outs(self) -> bool:
        """Whether screened-out participants are paid."""
        actions = [action for code in self.completion_codes for action in code.actions]
        return any(
            isinstance(action, ScreenOut) and action.slots > 0 and action.fixed_screen_out_reward > 0
            for action in actions
        )


class _Listed(PlatformAnswer):
    id: str
    internal_name: str | None = None


class _Amount(PlatformAnswer):
    amount: Cents = 0
    currency: str = ""


class StudyCost(PlatformAnswer):
    """The components of a cost."""

    rewards: _Amount = _Amount()
    fees: _Amount = _Amount()
    tax: _Amount = _Amount()

    @property
    def cents(self) -> int:
        """The sum of the components."""
        return self.rewards.amount + self.fees.amount + self.tax.amount


class TotalCost(PlatformAnswer):
    """The cost of a study, in rewards and in bonuses."""

    rewards: StudyCost = StudyCost()
    bonuses: StudyCost = StudyCost()

    @property
    def currency(self) -> str | None:
        """The currency of the study's amounts, such as GBP; None if Prolific does not tell."""
        return self.rewards.rewards.currency or None

    @property
    def reward_cents(self) -> int:
        """The rewards, including those of screen-outs."""
        return self.rewards.rewards.amount

    @property
    def bonus_cents(self) -> int:
        """The bonuses."""
        return self.bonuses.rewards.amount

    @property
    def fee_cents(self) -> int:
        """Prolific's fees, with tax."""
        return sum(part.fees.amount + part.tax.amount for part in (self.rewards, self.bonuses))


class Studies:
    """The operations on studies. Each raises a RecruiterFailure."""

    def __init__(self, connection: PlatformConnection) -> None:
        self._connection = connection

    async def draft(self, draft: StudyDraft) -> ProlificStudy:
        """Create a draft. Nobody sees it, and it costs nothing, until it is published."""
        body = draft.model_dump(mode="json", by_alias=True, exclude_none=True)
        return await self._connection.change(
            "draft the study", "POST", "/api/v1/studies/", ProlificStudy, body
        )

    async def draft_new(self, new: PlatformDraft) -> ProlificStudy:
        """Create a draft from the parts of it that all platforms have. Raises like `draft`."""
        return await self.draft(draft_of(new))

    async def discard(self, study: str) -> None:
        """Delete a study that was never published."""
        await self._connection.tell("delete the draft", "DELETE", f"/api/v1/studies/{study}/")

    async def study(self, study: str) -> ProlificStudy:
        """Return a study by its id."""
        return await self._connection.get("look at the study", f"/api/v1/studies/{study}/", ProlificStudy)

    async def drafts(self, internal_name: str) -> AsyncIterator[str]:
        """Yield the ids of the drafts of this name."""
        path, query = "/api/v1/studies/", {"state": "UNPUBLISHED"}
        async for one in self._connection.every("list the drafts", path, _Listed, query):
            if one.internal_name == internal_name:
                yield one.id

    async def move(self, study: str, transition: Transition) -> ProlificStudy:
        """Publish, pause, resume or close a study."""
        path = f"/api/v1/studies/{study}/transition/"
        return await self._connection.change(
            f"{transition.value.lower()} the study", "POST", path, ProlificStudy, {"action": transition.value}
        )

    async def set_places(self, study: str, places: int) -> ProlificStudy:
        """Set the number of places. Prolific does not allow a reduction."""
        operation, path = "add places", f"/api/v1/studies/{study}/"
        have = (await self.study(study)).total_available_places
        if places < have:
            raise InvalidRequest(operation, f"the study has {have} places, and the number cannot be reduced")
        return await self._connection.change(
            operation, "PATCH", path, ProlificStudy, {"total_available_places": places}
        )

    async def cost(self, study: str, *, projected: bool = False) -> TotalCost:
        """Return the cost of a study so far; with `projected`, of all its places."""
        path, query = f"/api/v1/studies/{study}/cost/", {"is_projected": "true"} if projected else None
        return await self._connection.get("read the cost", path, TotalCost, query)
