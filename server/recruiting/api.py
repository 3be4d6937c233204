"""Endpoints for recruiting and pay."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response
from pydantic import Field, StringConstraints

from server.access.actor import Actor, Allowed, Caller, RequestBody
from server.access.auth import Auth
from server.access.roles import Permission
from server.db.recruiting.pay_decisions import DecisionKind
from server.db.recruiting.recruitments import require_recruitment
from server.db.runs.runs import find_run
from server.db.store.store import Store
from server.db.tables.table import GivenNumber, RowNumber
from server.recruiters.prolific.studies import Transition
from server.recruiting.bonuses import Bonuses
from server.recruiting.drafts import Plan
from server.recruiting.pay import Pay
from server.recruiting.platform import Platform
from server.recruiting.polling import Polling
from server.recruiting.responses import BatchLook, BatchRow, RecruitmentView, batch_row, recruitment_view
from server.recruiting.studies import PlatformStudies

SubmissionId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
Cents = Annotated[int, Field(ge=1, le=1_000_000, strict=True)]
Some = Annotated[list[SubmissionId], Field(min_length=1, max_length=1_000)]
_Text = StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)


class Places(RequestBody):
    """How many can take part: as many as there are, or more."""

    places: Annotated[int, Field(ge=1, le=100_000, strict=True)]


class PayDecision(RequestBody):
    """What becomes of the pay of submissions.

    `share`: per cent of the reward, of `partial` alone; `category`: of `reject` alone; participants read the
    `reason` of a rejection, a payment in part and a request to return. `instead_of`: the numbers of the
    decisions that this one replaces; where something was decided that is not named, it is refused.
    """

    submissions: Some
    decision: DecisionKind
    share: Annotated[int, Field(ge=0, le=100, strict=True)] | None = None
    category: str | None = None
    reason: Annotated[str, StringConstraints(strip_whitespace=True, max_length=2_000)] = ""
    instead_of: list[GivenNumber] = Field([], max_length=1_000)


class NewBonuses(RequestBody):
    """Bonuses to prepare: cents by submission. Each submission gets one bonus of a purpose, and no second.

    `confirmed`: whether amounts are meant that are out of proportion.
    """

    purpose: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
    cents: Annotated[dict[SubmissionId, Cents], Field(min_length=1, max_length=200)]
    confirmed: Annotated[bool, Field(strict=True)] = False


class ParticipantMessage(RequestBody):
    """Words to the participants of submissions, each for themselves, over the platform."""

    submissions: Some
    text: Annotated[str, _Text]


class RecruitingApi:
    """Serves recruiting: the study on the platform under `change_runs`, pay under `act_on_workers`."""

    def __init__(
        self, *, store: Store, auth: Auth, platform: Platform, studies: PlatformStudies, polling: Polling
    ) -> None:
        self._store = store
        self._auth = auth
        self._platform = platform
        self._studies = studies
        self.polling = polling
        self._pay = Pay(store, platform)
        self._bonuses = Bonuses(store, platform)
        self.router = APIRouter(prefix="/api/desk/runs/{run}/recruitment", tags=["recruiting"])
        self._add("", self.show_recruitment, "act_on_workers", "GET")
        self._add("", self.create_recruitment, "change_runs", status=201)
        self._add("", self.discard_recruitment, "change_runs", "DELETE", 204)
        self._add("/publish", self.publish_recruitment, "change_runs")
        self._add("/pause", self.pause_recruitment, "change_runs")
        self._add("/resume", self.resume_recruitment, "change_runs")
        self._add("/close", self.close_recruitment, "change_runs")
        self._add("/places", self.set_places, "change_runs", "PUT")
        self._add("/refresh", self.refresh_recruitment, "act_on_workers")
        self._add("/decisions", self.decide_pay, "act_on_workers")
        self._add("/decisions/{submission}/repeat", self.repeat_decision, "act_on_workers")
        self._add("/messages", self.tell_participants, "act_on_workers", status=204)
        self._add("/bonuses", self.prepare_bonuses, "act_on_workers", status=201)
        self._add("/bonuses/{batch}", self.discard_bonuses, "act_on_workers", "DELETE", 204)
        self._add("/bonuses/{batch}/pay", self.pay_bonuses, "act_on_workers")
        self._add("/bonuses/{batch}/look", self.look_at_bonuses, "act_on_workers")

    def _add(
        self,
        path: str,
        call: Callable[..., Any],
        permission: Permission,
        method: str = "POST",
        status: int = 200,
    ) -> None:
        allowed = [Depends(Allowed(self._auth, permission))]
        self.router.add_api_route(path, call, methods=[method], status_code=status, dependencies=allowed)

    async def show_recruitment(self, run: str) -> RecruitmentView:
        """Return a run's study on the platform, its submissions as last read, and what does not agree."""
        return await self._view(run)

    async def create_recruitment(self, run: str, body: Plan, actor: Caller) -> RecruitmentView:
        """Draft a study on the platform for a run. Nobody sees it yet, and it costs nothing."""
        await self._studies.create(run, body, actor)
        return await self._view(run)

    async def discard_recruitment(self, run: str, actor: Caller) -> Response:
        """Delete a draft, so that another can be made."""
        await self._studies.discard(run, actor)
        return Response(status_code=204)

    async def publish_recruitment(self, run: str, actor: Caller) -> RecruitmentView:
        """Let participants in, which costs money from now on. Refused while screen-outs are not paid."""
        await self._studies.publish(run, actor)
        return await self._view(run)

    async def pause_recruitment(self, run: str, actor: Caller) -> RecruitmentView:
        """Let nobody new in for a while; those who are under way can finish."""
        return await self._move(run, Transition.PAUSE, actor)

    async def resume_recruitment(self, run: str, actor: Caller) -> RecruitmentView:
        """Let participants in again."""
        return await self._move(run, Transition.START, actor)

    async def close_recruitment(self, run: str, actor: Caller) -> RecruitmentView:
        """End the study on the platform for good; those who are under way can finish, and are paid."""
        return await self._move(run, Transition.STOP, actor)

    async def set_places(self, run: str, body: Places, actor: Caller) -> RecruitmentView:
        """Have more participants come."""
        await self._studies.set_places(run, body.places, actor)
        return await self._view(run)

    async def refresh_recruitment(self, run: str) -> RecruitmentView:
        """Read the study, its submissions and open bonuses now, and store what the platform says."""
        found = await self._store.read(lambda c: require_recruitment(c, find_run(c, run).id))
        await self._studies.refresh(found)
        await self._bonuses.reconcile_run(run)
        return await self._view(run)

    async def decide_pay(self, run: str, body: PayDecision, actor: Caller) -> RecruitmentView:
        """Approve, reject, pay in part, screen out, or ask for a return. The decision is kept for good."""
        await self._pay.decide(
            run,
            body.submissions,
            body.decision,
            actor,
            share=body.share,
            category=body.category,
            reason=body.reason,
            instead_of=body.instead_of,
        )
        return await self._view(run)

    async def repeat_decision(self, run: str, submission: SubmissionId, actor: Caller) -> RecruitmentView:
        """Carry out a decision that did not reach the platform. What was done already is not done twice."""
        await self._pay.repeat(run, submission, actor)
        return await self._view(run)

    async def tell_participants(self, run: str, body: ParticipantMessage, actor: Caller) -> Response:
        """Write to participants over the platform."""
        await self._pay.tell(run, body.submissions, body.text, actor)
        return Response(status_code=204)

    async def prepare_bonuses(self, run: str, body: NewBonuses, actor: Caller) -> BatchRow:
        """Set bonuses up, and say what they will cost. Nothing is paid yet."""
        made = await self._bonuses.prepare(run, body.purpose, body.cents, actor, confirmed=body.confirmed)
        return batch_row(made)

    async def discard_bonuses(self, run: str, batch: RowNumber, actor: Caller) -> Response:
        """Take bonuses back that were prepared and not sent."""
        await self._bonuses.discard(run, batch, actor)
        return Response(status_code=204)

    async def pay_bonuses(self, run: str, batch: RowNumber, actor: Caller) -> BatchRow:
        """Send prepared bonuses to be paid, once. The server then looks by itself until it sees them paid.

        Where no answer comes they stay open, and nothing is sent again.
        """
        return batch_row(await self._bonuses.pay(run, batch, actor))

    async def look_at_bonuses(self, run: str, batch: RowNumber, actor: Caller) -> BatchLook:
        """Find out at the platform what became of bonuses that were sent."""
        found, seen = await self._bonuses.look(run, batch, actor)
        return BatchLook(seen=seen, batch=batch_row(found))

    async def _move(self, run: str, transition: Transition, actor: Actor) -> RecruitmentView:
        await self._studies.move(run, transition, actor)
        return await self._view(run)

    async def _view(self, run: str) -> RecruitmentView:
        connected = self._platform.connected
        return await self._store.read(lambda c: recruitment_view(c, find_run(c, run), connected=connected))
