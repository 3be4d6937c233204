"""Studies at Prolific: drafts, publishing, pausing and closing, and costs."""

from collections.abc import AsyncIterator

from server.recruiters.failures import InvalidRequest
from server.recruiters.pay_platform import Cents, PlatformAnswer, PlatformDraft, Transition
from server.recruiters.prolific.connection import PlatformConnection
from server.recruiters.prolific.drafts import CompletionCode, ScreenOut, StudyDraft, draft_of


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

    async def cost(self, study: str) -> TotalCost:
        """Return the cost of a study so far."""
        return await self._connection.get("read the cost", f"/api/v1/studies/{study}/cost/", TotalCost)

    async def currency(self, study: str) -> str | None:
        """Return the currency of a study's amounts, such as GBP; None if Prolific does not tell."""
        return (await self.cost(study)).currency
