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
from server.recruiting.drafts import StudyPlan
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
    """The new number of places. It cannot be lower than the current one."""

    places: Annotated[int, Field(ge=1, le=100_000, strict=True)]


class PayDecision(RequestBody):
    """A decision about the pay of submissions.

    `share`: per cent of the reward, for `partial` only; `category`: for `reject` only. Participants read the
    `reason` of a rejection, a partial payment and a request to return. `instead_of`: the numbers of the
    decisions that this one replaces; the request is refused if there are other decisions.
    """

    submissions: Some
    decision: DecisionKind
    share: Annotated[int, Field(ge=0, le=100, strict=True)] | None = None
    category: str | None = None
    reason: Annotated[str, StringConstraints(strip_whitespace=True, max_length=2_000)] = ""
    instead_of: list[GivenNumber] = Field([], max_length=1_000)


class NewBonuses(RequestBody):
    """Bonuses to prepare, in cents by submission. Each submission gets at most one bonus per purpose.

    `confirmed`: the caller confirms unusual amounts.
    """

    purpose: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
    cents: Annotated[dict[SubmissionId, Cents], Field(min_length=1, max_length=200)]
    confirmed: Annotated[bool, Field(strict=True)] = False


class ParticipantMessage(RequestBody):
    """A message to the participants of submissions, sent to each of them by the platform."""

    submissions: Some
    text: Annotated[str, _Text]


class RecruitingApi:
    """Endpoints for recruiting. The study needs the permission `change_runs`, pay needs `act_on_workers`."""

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
        allowed = [Depends(Allowed(permission))]
        self.router.add_api_route(path, call, methods=[method], status_code=status, dependencies=allowed)

    async def show_recruitment(self, run: str) -> RecruitmentView:
        """Return the study on the platform, its submissions as last read, and differences from ours."""
        return await self._view(run)

    async def create_recruitment(self, run: str, body: StudyPlan, actor: Caller) -> RecruitmentView:
        """Create a draft of a run's study on the platform. Nobody sees it yet, and it costs nothing."""
        await self._studies.create(run, body, actor)
        return await self._view(run)

    async def discard_recruitment(self, run: str, actor: Caller) -> Response:
        """Delete a draft, so that another can be created."""
        await self._studies.discard(run, actor)
        return Response(status_code=204)

    async def publish_recruitment(self, run: str, actor: Caller) -> RecruitmentView:
        """Publish the study: it admits participants and costs money.

        Refused while screen-outs are not paid.
        """
        await self._studies.publish(run, actor)
        return await self._view(run)

    async def pause_recruitment(self, run: str, actor: Caller) -> RecruitmentView:
        """Pause the study: no new participants, but active ones can finish."""
        return await self._move(run, Transition.PAUSE, actor)

    async def resume_recruitment(self, run: str, actor: Caller) -> RecruitmentView:
        """Resume a paused study."""
        return await self._move(run, Transition.START, actor)

    async def close_recruitment(self, run: str, actor: Caller) -> RecruitmentView:
        """Close the study on the platform for good. Active participants can finish, and are paid."""
        return await self._move(run, Transition.STOP, actor)

    async def set_places(self, run: str, body: Places, actor: Caller) -> RecruitmentView:
        """Increase the number of places."""
        await self._studies.set_places(run, body.places, actor)
        return await self._view(run)

    async def refresh_recruitment(self, run: str) -> RecruitmentView:
        """Read the study, its submissions and open bonuses from the platform now, and store them."""
        found = await self._store.read(lambda c: require_recruitment(c, find_run(c, run).id))
        await self._studies.refresh(found)
        await self._bonuses.reconcile_run(run)
        return await self._view(run)

    async def decide_pay(self, run: str, body: PayDecision, actor: Caller) -> RecruitmentView:
        """Approve, reject, pay in part, screen out, or ask for a return. Decisions are stored permanently."""
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
        """Send a decision again that did not reach the platform. Nothing is done twice."""
        await self._pay.repeat(run, submission, actor)
        return await self._view(run)

    async def tell_participants(self, run: str, body: ParticipantMessage, actor: Caller) -> Response:
        """Send a message to participants over the platform."""
        await self._pay.tell(run, body.submissions, body.text, actor)
        return Response(status_code=204)

    async def prepare_bonuses(self, run: str, body: NewBonuses, actor: Caller) -> BatchRow:
        """Prepare bonuses, and return their cost. Nothing is paid yet."""
        made = await self._bonuses.prepare(run, body.purpose, body.cents, actor, confirmed=body.confirmed)
        return batch_row(made)

    async def discard_bonuses(self, run: str, batch: RowNumber, actor: Caller) -> Response:
        """Discard bonuses that were prepared and not sent."""
        await self._bonuses.discard(run, batch, actor)
        return Response(status_code=204)

    async def pay_bonuses(self, run: str, batch: RowNumber, actor: Caller) -> BatchRow:
        """Pay prepared bonuses, once. The server then checks by itself until it sees the payments.

        If the platform does not answer, the bonuses stay open, and nothing is sent again.
        """
        return batch_row(await self._bonuses.pay(run, batch, actor))

    async def look_at_bonuses(self, run: str, batch: RowNumber, actor: Caller) -> BatchLook:
        """Check at the platform whether sent bonuses were paid."""
        found, seen = await self._bonuses.look(run, batch, actor)
        return BatchLook(seen=seen, batch=batch_row(found))

    async def _move(self, run: str, transition: Transition, actor: Actor) -> RecruitmentView:
        await self._studies.move(run, transition, actor)
        return await self._view(run)

    async def _view(self, run: str) -> RecruitmentView:
        connected = self._platform.connected
        return await self._store.read(lambda c: recruitment_view(c, find_run(c, run), connected=connected))
