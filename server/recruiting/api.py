"""Endpoints for recruiting and pay."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel, Field, StrictBool, StringConstraints

from server.access.actor import Allowed, Caller, RequestBody
from server.access.parts import Database, Secrets, part
from server.bots.opening import NewRun, RunChanges
from server.bots.planned_calls import Confirmation
from server.db.recruiting.pay_decisions import DecisionKind
from server.db.recruiting.recruitments import require_recruitment
from server.db.runs.run_rules import all_rules_of
from server.db.runs.runs import find_run
from server.db.tables.table import GivenNumber, RowNumber
from server.recruiters.pay_platform import StudyPlan, Transition
from server.recruiting.bonuses import Bonuses
from server.recruiting.pay import Pay
from server.recruiting.platform import Platform, recruiting_at
from server.recruiting.responses import (
    BatchLook,
    BatchRow,
    RecruitmentCost,
    RecruitmentView,
    batch_row,
    cost_row,
    recruitment_view,
)
from server.recruiting.studies import PlatformStudies
from server.study import in_thread

SubmissionId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
Cents = Annotated[int, Field(ge=1, le=1_000_000, strict=True)]
Some = Annotated[list[SubmissionId], Field(min_length=1, max_length=1_000)]
_Text = StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)


class RunOnPlatform(RequestBody):
    """A run to open, like the present one, that recruits on a platform, named by its kind.

    `confirmed`: the caller accepts that it may cost money.
    """

    platform: Annotated[str, StringConstraints(max_length=100)]
    run: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    confirmed: StrictBool = False


class RunOpened(BaseModel):
    """The name of a run that was opened."""

    run: str


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


Site = Annotated[Platform, part(Platform)]


async def _pay(store: Database, platform: Site) -> Pay:
    return Pay(store, platform)


async def _bonuses(store: Database, platform: Site) -> Bonuses:
    return Bonuses(store, platform)


async def _views(store: Database, platform: Site) -> Callable[[str], Awaitable[RecruitmentView]]:
    async def view(run: str) -> RecruitmentView:
        return await store.read(lambda c: recruitment_view(c, find_run(c, run), platform))

    return view


Changes = Annotated[RunChanges, part(RunChanges)]
Studies = Annotated[PlatformStudies, part(PlatformStudies)]
RunPay = Annotated[Pay, Depends(_pay)]
RunBonuses = Annotated[Bonuses, Depends(_bonuses)]
View = Annotated[Callable[[str], Awaitable[RecruitmentView]], Depends(_views)]
router = APIRouter(prefix="/api/desk/runs/{run}/recruitment", tags=["recruiting"])
_STUDY = [Depends(Allowed("change_runs"))]
_PAY = [Depends(Allowed("act_on_workers"))]


@router.get("", dependencies=_PAY)
async def show_recruitment(run: str, view: View) -> RecruitmentView:
    """Return the study on the platform, its submissions as last read, and differences from ours."""
    return await view(run)


@router.post("", status_code=201, dependencies=_STUDY)
async def create_recruitment(
    run: str, body: StudyPlan, actor: Caller, studies: Studies, view: View
) -> RecruitmentView:
    """Create a draft of a run's study on the platform. Nobody sees it yet, and it costs nothing."""
    await studies.create(run, body, actor)
    return await view(run)


@router.delete("", status_code=204, dependencies=_STUDY)
async def discard_recruitment(run: str, actor: Caller, studies: Studies) -> Response:
    """Delete a draft, so that another can be created."""
    await studies.discard(run, actor)
    return Response(status_code=204)


@router.post("/run", status_code=201, dependencies=_STUDY)
async def open_run_on_platform(
    run: str, body: RunOnPlatform, actor: Caller, store: Database, auth: Secrets, changes: Changes
) -> RunOpened:
    """Open a run of the same study and rules that recruits on a platform, with a new completion code.

    Runs do not change once opened, so the present one stays as it is. Its bots are not checked again.
    """
    entry = await store.read(lambda c: find_run(c, run))
    rules = await store.read(lambda c: all_rules_of(c, entry.id, auth.ids))
    text = await in_thread(lambda: recruiting_at(entry.yaml, body.platform))
    confirmation = Confirmation(body.confirmed, actor.may("change_bots"))
    new = NewRun(body.run, text, rules, confirmation, despite_failing_bots=True)
    return RunOpened(run=(await changes.open(new, actor)).slug)


@router.get("/cost", dependencies=_PAY)
async def show_cost(run: str, studies: Studies) -> RecruitmentCost:
    """Return the cost of the study so far, and of all its places, as the platform computes them now."""
    spent, projected = await studies.costs(run)
    return RecruitmentCost(currency=projected.currency, spent=cost_row(spent), projected=cost_row(projected))


@router.post("/publish", dependencies=_STUDY)
async def publish_recruitment(run: str, actor: Caller, studies: Studies, view: View) -> RecruitmentView:
    """Publish the study: it admits participants and costs money.

    Refused while screen-outs are not paid.
    """
    await studies.publish(run, actor)
    return await view(run)


@router.post("/pause", dependencies=_STUDY)
async def pause_recruitment(run: str, actor: Caller, studies: Studies, view: View) -> RecruitmentView:
    """Pause the study: no new participants, but active ones can finish."""
    await studies.move(run, Transition.PAUSE, actor)
    return await view(run)


@router.post("/resume", dependencies=_STUDY)
async def resume_recruitment(run: str, actor: Caller, studies: Studies, view: View) -> RecruitmentView:
    """Resume a paused study."""
    await studies.move(run, Transition.START, actor)
    return await view(run)


@router.post("/close", dependencies=_STUDY)
async def close_recruitment(run: str, actor: Caller, studies: Studies, view: View) -> RecruitmentView:
    """Close the study on the platform for good. Active participants can finish, and are paid."""
    await studies.move(run, Transition.STOP, actor)
    return await view(run)


@router.put("/places", dependencies=_STUDY)
async def set_places(run: str, body: Places, actor: Caller, studies: Studies, view: View) -> RecruitmentView:
    """Increase the number of places."""
    await studies.set_places(run, body.places, actor)
    return await view(run)


@router.post("/refresh", dependencies=_PAY)
async def refresh_recruitment(
    run: str, store: Database, studies: Studies, bonuses: RunBonuses, view: View
) -> RecruitmentView:
    """Read the study, its submissions and open bonuses from the platform now, and store them."""
    found = await store.read(lambda c: require_recruitment(c, find_run(c, run).id))
    await studies.refresh(found)
    await bonuses.reconcile_run(run)
    return await view(run)


@router.post("/decisions", dependencies=_PAY)
async def decide_pay(run: str, body: PayDecision, actor: Caller, pay: RunPay, view: View) -> RecruitmentView:
    """Approve, reject, pay in part, screen out, or ask for a return. Decisions are stored permanently."""
    await pay.decide(
        run,
        body.submissions,
        body.decision,
        actor,
        share=body.share,
        category=body.category,
        reason=body.reason,
        instead_of=body.instead_of,
    )
    return await view(run)


@router.post("/decisions/{submission}/repeat", dependencies=_PAY)
async def repeat_decision(
    run: str, submission: SubmissionId, actor: Caller, pay: RunPay, view: View
) -> RecruitmentView:
    """Send a decision again that did not reach the platform. Nothing is done twice."""
    await pay.repeat(run, submission, actor)
    return await view(run)


@router.post("/messages", status_code=204, dependencies=_PAY)
async def tell_participants(run: str, body: ParticipantMessage, actor: Caller, pay: RunPay) -> Response:
    """Send a message to participants over the platform."""
    await pay.tell(run, body.submissions, body.text, actor)
    return Response(status_code=204)


@router.post("/bonuses", status_code=201, dependencies=_PAY)
async def prepare_bonuses(run: str, body: NewBonuses, actor: Caller, bonuses: RunBonuses) -> BatchRow:
    """Prepare bonuses, and return their cost. Nothing is paid yet."""
    made = await bonuses.prepare(run, body.purpose, body.cents, actor, confirmed=body.confirmed)
    return batch_row(made)


@router.delete("/bonuses/{batch}", status_code=204, dependencies=_PAY)
async def discard_bonuses(run: str, batch: RowNumber, actor: Caller, bonuses: RunBonuses) -> Response:
    """Discard bonuses that were prepared and not sent."""
    await bonuses.discard(run, batch, actor)
    return Response(status_code=204)


@router.post("/bonuses/{batch}/pay", dependencies=_PAY)
async def pay_bonuses(run: str, batch: RowNumber, actor: Caller, bonuses: RunBonuses) -> BatchRow:
    """Pay prepared bonuses, once. The server then checks by itself until it sees the payments.

    If the platform does not answer, the bonuses stay open, and nothing is sent again.
    """
    return batch_row(await bonuses.pay(run, batch, actor))


@router.post("/bonuses/{batch}/look", dependencies=_PAY)
async def look_at_bonuses(run: str, batch: RowNumber, actor: Caller, bonuses: RunBonuses) -> BatchLook:
    """Check at the platform whether sent bonuses were paid."""
    found, seen = await bonuses.look(run, batch, actor)
    return BatchLook(seen=seen, batch=batch_row(found))
