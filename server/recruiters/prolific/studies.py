"""Studies at Prolific: what one is, how it is published and stopped, what it costs."""

from collections.abc import AsyncIterator
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from server.recruiters.prolific.connection import Answer, Connection
from server.recruiters.prolific.failures import InvalidRequest
from server.recruiters.prolific.money import Cents


class CodeType(StrEnum):
    """What a completion code says of those who come back with it."""

    COMPLETED = "COMPLETED"
    FIXED_SCREENOUT = "FIXED_SCREENOUT"
    NO_CONSENT = "NO_CONSENT"
    OTHER = "OTHER"


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
    """Ask the participant to give the place back."""

    action: Literal["REQUEST_RETURN"] = "REQUEST_RETURN"
    return_reason: str


class DynamicPayment(_Sent):
    """Let the researcher say which part of the reward is paid."""

    action: Literal["DYNAMIC_PAYMENT"] = "DYNAMIC_PAYMENT"


class ScreenOut(_Sent):
    """Pay `fixed_screen_out_reward` cents, `slots` times; the study pauses when they are used up."""

    action: Literal["FIXED_SCREEN_OUT_PAYMENT"] = "FIXED_SCREEN_OUT_PAYMENT"
    fixed_screen_out_reward: Cents
    slots: int


Action = Annotated[
    Approve | Review | AddToGroup | RemoveFromGroup | RequestReturn | DynamicPayment | ScreenOut,
    Field(discriminator="action"),
]


class CompletionCode(_Sent):
    """A code with which participants come back, and what follows. `actor`: who may use it."""

    code: str
    code_type: str
    actions: tuple[Action, ...]
    actor: Literal["participant", "researcher"] = "participant"


class Filter(_Sent):
    """Whom Prolific lets in or keeps out, by the values of one of its filters."""

    filter_id: str
    selected_values: tuple[str, ...]


def without_groups(*groups: str) -> Filter:
    """Return the filter that keeps the members of these participant groups out."""
    return Filter(filter_id="participant_group_blocklist", selected_values=groups)


class Limits(_Sent):
    """How often one participant may take part, and how many may at once (-1: any number)."""

    max_submissions_per_participant: int = 1
    max_concurrent_submissions: int = -1


class Draft(_Sent):
    """A study as it is drafted. Times are in minutes, `reward` is for one participant.

    `signed_arrivals`: each participant's address carries a token that Prolific has signed.
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
    filters: tuple[Filter, ...] = ()
    submissions_config: Limits = Limits()
    project: str | None = None

    @model_validator(mode="after")
    def _codes_differ(self) -> "Draft":
        codes = [code.code for code in self.completion_codes]
        if len(set(codes)) < len(codes):
            raise ValueError("two completion codes are the same: nobody could tell the endings apart")
        return self


class Study(Answer):
    """A study as Prolific has it. Filters that are no lists of values are not read."""

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
    def pays_screen_outs(self) -> bool:
        """Whether somebody who is screened out gets something."""
        actions = [action for code in self.completion_codes for action in code.actions]
        return any(
            isinstance(action, ScreenOut) and action.slots > 0 and action.fixed_screen_out_reward > 0
            for action in actions
        )


class _Listed(Answer):
    id: str
    internal_name: str | None = None


class _Amount(Answer):
    amount: Cents = 0
    currency: str = ""


class Cost(Answer):
    """What a share of the cost is made of."""

    rewards: _Amount = _Amount()
    fees: _Amount = _Amount()
    tax: _Amount = _Amount()

    @property
    def cents(self) -> int:
        """All of it."""
        return self.rewards.amount + self.fees.amount + self.tax.amount


class TotalCost(Answer):
    """What a study costs: rewards, and bonuses."""

    rewards: Cost = Cost()
    bonuses: Cost = Cost()

    @property
    def currency(self) -> str | None:
        """The currency of all amounts of the study, as GBP; None: Prolific does not say."""
        return self.rewards.rewards.currency or None


class Transition(StrEnum):
    """What can be done with a study. PAUSE lets nobody new in; STOP ends it for good."""

    PUBLISH = "PUBLISH"
    PAUSE = "PAUSE"
    START = "START"
    STOP = "STOP"


class Studies:
    """The operations on studies. Each raises a ProlificFailure."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def draft(self, draft: Draft) -> Study:
        """Draft a study, which nobody sees and which costs nothing before it is published."""
        body = draft.model_dump(mode="json", by_alias=True, exclude_none=True)
        return await self._connection.change("draft the study", "POST", "/api/v1/studies/", Study, body)

    async def discard(self, study: str) -> None:
        """Delete a study that was never published."""
        await self._connection.tell("delete the draft", "DELETE", f"/api/v1/studies/{study}/")

    async def study(self, study: str) -> Study:
        """Return a study by its id."""
        return await self._connection.get("look at the study", f"/api/v1/studies/{study}/", Study)

    async def drafts(self, internal_name: str) -> AsyncIterator[str]:
        """Yield the ids of the drafts of this name."""
        path, query = "/api/v1/studies/", {"state": "UNPUBLISHED"}
        async for one in self._connection.every("list the drafts", path, _Listed, query):
            if one.internal_name == internal_name:
                yield one.id

    async def move(self, study: str, transition: Transition) -> Study:
        """Publish, pause, start again or stop a study."""
        path = f"/api/v1/studies/{study}/transition/"
        return await self._connection.change(
            f"{transition.value.lower()} the study", "POST", path, Study, {"action": transition.value}
        )

    async def set_places(self, study: str, places: int) -> Study:
        """Set how many can take part; Prolific takes no fewer than there are."""
        operation, path = "add places", f"/api/v1/studies/{study}/"
        have = (await self.study(study)).total_available_places
        if places < have:
            raise InvalidRequest(operation, f"the study has {have} places, and {places} are fewer")
        return await self._connection.change(
            operation, "PATCH", path, Study, {"total_available_places": places}
        )

    async def cost(self, study: str) -> TotalCost:
        """Return what a study has cost."""
        return await self._connection.get("read the cost", f"/api/v1/studies/{study}/cost/", TotalCost)
