"""Responses of the recruiting API, with the platform's records and ours."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict
from sqlalchemy import Connection

from server.clock import utc_now
from server.db.recruiting.bonuses import OPEN, State, StoredBatch, StoredBonus, batches_of
from server.db.recruiting.pay_decisions import DecisionKind, StoredDecision, decisions_of, shares_decided
from server.db.recruiting.recruitments import StoredRecruitment, lost_events, recruitment_of
from server.db.recruiting.submissions import Participation, StoredSubmission, participations, submissions_of
from server.db.runs.run_rules import rules_of
from server.db.runs.runs import RunEntry
from server.recruiters.pay_platform import PlatformCost
from server.recruiters.recruiter import PAYING, PayingRecruiter, title_of
from server.recruiting.bonuses import Outcome
from server.recruiting.pay_rules import Proposal, proposal
from server.recruiting.platform import Platform, token_variable
from server.recruiting.reconciliation import (
    DifferenceKind,
    Remedy,
    by_submission,
    differences,
    study_differences,
)
from server.study import parse_study


class _Shown(BaseModel):
    model_config = ConfigDict(frozen=True)


class ProposedPay(_Shown):
    """The proposed pay of a submission, with the reason. `nothing`: it could be rejected."""

    pay: Literal["all", "part", "nothing"]
    share: int | None
    why: str


class DecidedPay(_Shown):
    """A decision about a submission's pay. `number`: identifies it in a later decision that replaces it."""

    number: int
    decision: DecisionKind
    share: int | None
    category: str | None
    reason: str
    decided_by: str
    decided_at: datetime


class SubmissionRow(_Shown):
    """A submission, with the platform's record and ours.

    `ending`: the ending of its completion code; None without a code of the study. `here`: the status of the
    assignment; None if the participant never came here. `paid_share`: the known paid share of the reward in
    per cent. `bonus_sent`: cents of bonuses that were sent and not seen paid yet; `bonus_paid`: cents of
    bonuses that were seen paid.
    """

    submission: str
    status: str
    started_at: datetime
    completed_at: datetime | None
    ending: str | None
    assignment: str | None
    worker: str | None
    here: str | None
    rated: int
    conversations: int
    paid_share: int | None
    bonus_sent: int
    bonus_paid: int
    proposal: ProposedPay | None
    decision: DecidedPay | None


class DifferenceRow(_Shown):
    """A difference between the platform's records and ours, with its remedy.

    `decision`: the number of the decision about the submission.
    """

    kind: DifferenceKind
    remedy: Remedy
    submission: str | None
    assignment: str | None
    worker: str | None
    share: int | None
    batch: int | None
    decision: int | None


class BonusRow(_Shown):
    """A bonus, in cents. `seen_paid`: whether its payment was seen at the platform."""

    submission: str
    cents: int
    seen_paid: bool


class BatchRow(_Shown):
    """Bonuses that are paid together. `total` includes the platform's fees and tax.

    `state`: `prepared`: nothing is paid; `unknown`: the paying call has no answer yet; `sent`: the platform
    has accepted it; `paid`: all payments were seen at the platform.
    """

    batch: int
    purpose: str
    state: State
    total: int
    prepared_by: str
    prepared_at: datetime
    sent_at: datetime | None
    bonuses: list[BonusRow]


class BatchLook(_Shown):
    """The outcome of a check of sent bonuses. `too_early` and `mixed` leave them open."""

    seen: Outcome
    batch: BatchRow


class CostRow(_Shown):
    """A cost in cents. `fees`: the platform's fees, with tax."""

    rewards: int
    bonuses: int
    fees: int
    total: int


class RecruitmentCost(_Shown):
    """What a study costs at the platform: so far (`spent`), and for all its places (`projected`)."""

    currency: str | None
    spent: CostRow
    projected: CostRow


class PlatformRow(_Shown):
    """A supported platform. `connected`: the server has access to it, by the setting `token_variable`."""

    kind: str
    title: str
    connected: bool
    token_variable: str


class RecruitmentDetail(_Shown):
    """A run's study on a platform. Amounts are cents of `currency`; None: not known yet.

    `fault`: why the latest reading failed. While `status` is DRAFTING, the platform has not answered the
    request to create it, and `study` is empty. `rejection_categories`: their names, the most usual one first.
    """

    platform: str
    study: str
    status: str
    places: int
    reward: int
    currency: str | None
    pays_screen_outs: bool
    rejection_categories: dict[str, str]
    created_at: datetime
    created_by: str
    read_at: datetime | None
    fault: str | None
    submissions: list[SubmissionRow]
    differences: list[DifferenceRow]
    batches: list[BatchRow]


class RecruitmentView(_Shown):
    """Recruiting for a run.

    `possible`: its study names a supported platform, called `platform`; null if it names none. `connected`:
    the server has access to it, by the setting `token_variable`. `platforms`: all supported ones. `minutes`:
    the duration according to the study file. `lost_events`: the number of the platform's events, for any run,
    that did not reach this server; `lost_at`: when the last of them was found.
    """

    possible: bool
    platform: str | None
    connected: bool
    token_variable: str | None
    platforms: list[PlatformRow]
    minutes: int | None
    lost_events: int
    lost_at: datetime | None
    recruitment: RecruitmentDetail | None


def recruitment_view(connection: Connection, run: RunEntry, platform: Platform) -> RecruitmentView:
    """Return the state of recruiting for a run."""
    study = parse_study(run.yaml)
    found, lost = recruitment_of(connection, run.id), lost_events(connection)
    kind = study.recruiter.kind if isinstance(study.recruiter, PayingRecruiter) else None
    return RecruitmentView(
        possible=kind is not None,
        platform=None if kind is None else title_of(kind),
        connected=kind is not None and platform.has(kind),
        token_variable=None if kind is None else token_variable(kind),
        platforms=[
            PlatformRow(
                kind=one,
                title=recruiter.title,
                connected=platform.has(one),
                token_variable=token_variable(one),
            )
            for one, recruiter in PAYING.items()
        ],
        minutes=study.minutes,
        lost_events=lost.number,
        lost_at=lost.last,
        recruitment=None if found is None else _detail(connection, run, found),
    )


def cost_row(cost: PlatformCost) -> CostRow:
    """Return a cost as a response."""
    return CostRow(
        rewards=cost.reward_cents,
        bonuses=cost.bonus_cents,
        fees=cost.fee_cents,
        total=cost.reward_cents + cost.bonus_cents + cost.fee_cents,
    )


def batch_row(batch: StoredBatch) -> BatchRow:
    """Return a batch of bonuses as a response."""
    return BatchRow(
        batch=batch.id,
        purpose=batch.bonuses[0].purpose,
        state=batch.state,
        total=batch.total,
        prepared_by=batch.prepared_by,
        prepared_at=batch.prepared_at,
        sent_at=batch.sent_at,
        bonuses=[
            BonusRow(submission=one.submission, cents=one.cents, seen_paid=_is_seen(batch, one))
            for one in batch.bonuses
        ],
    )


def _is_seen(batch: StoredBatch, bonus: StoredBonus) -> bool:
    return batch.state == "paid" or bonus.seen_at is not None


def _detail(connection: Connection, run: RunEntry, found: StoredRecruitment) -> RecruitmentDetail:
    theirs, ours = submissions_of(connection, found.id), participations(connection, run.id)
    decisions, owners = decisions_of(connection, found.id), by_submission(ours)
    endings = {code: ending for ending, code in found.codes.items()}
    workers = {one.assignment: one.worker for one in ours}
    batches = batches_of(connection, found.id)
    budget = rules_of(connection, run.id).budget
    sent, paid = _bonuses_by_submission(batches)
    shares = shares_decided(connection, found.id)
    all_differences = [
        *differences(theirs, ours, decisions, endings, shares),
        *study_differences(batches, found.currency, budget, utc_now()),
    ]
    return RecruitmentDetail(
        platform=found.platform,
        study=found.study,
        status=found.status,
        places=found.places,
        reward=found.reward,
        currency=found.currency,
        pays_screen_outs="screened_out" in found.codes,
        rejection_categories=dict(PAYING[found.platform].rejection_categories),
        created_at=found.created_at,
        created_by=found.created_by,
        read_at=found.read_at,
        fault=found.fault,
        submissions=[
            _row(
                one,
                owners.get(one.id),
                decisions.get(one.id),
                endings.get(one.code or ""),
                bonus_sent=sent[one.id],
                bonus_paid=paid[one.id],
            )
            for one in theirs
        ],
        differences=[
            DifferenceRow(
                kind=one.kind,
                remedy=one.remedy,
                submission=one.submission,
                assignment=one.assignment,
                worker=workers.get(one.assignment or ""),
                share=one.share,
                batch=one.batch,
                decision=None if (made := decisions.get(one.submission or "")) is None else made.id,
            )
            for one in all_differences
        ],
        batches=[batch_row(one) for one in batches],
    )


def _bonuses_by_submission(batches: Iterable[StoredBatch]) -> tuple[dict[str, int], dict[str, int]]:
    """Return the cents of sent bonuses not seen paid yet, and of those seen paid, by submission."""
    sent, paid = defaultdict[str, int](int), defaultdict[str, int](int)
    for batch in batches:
        for one in batch.bonuses:
            if _is_seen(batch, one):
                paid[one.submission] += one.cents
            elif batch.state in OPEN:
                sent[one.submission] += one.cents
    return sent, paid


def _row(
    theirs: StoredSubmission,
    ours: Participation | None,
    decision: StoredDecision | None,
    ending: str | None,
    *,
    bonus_sent: int,
    bonus_paid: int,
) -> SubmissionRow:
    proposed = proposal(theirs, ours, ending) if decision is None else None
    return SubmissionRow(
        submission=theirs.id,
        status=theirs.status,
        started_at=theirs.started_at,
        completed_at=theirs.completed_at,
        ending=ending,
        assignment=None if ours is None else ours.assignment,
        worker=None if ours is None else ours.worker,
        here=None if ours is None else ours.status,
        rated=0 if ours is None else ours.rated,
        conversations=0 if ours is None else ours.conversations,
        paid_share=theirs.paid_share,
        bonus_sent=bonus_sent,
        bonus_paid=bonus_paid,
        proposal=None if proposed is None else _proposed(proposed),
        decision=None if decision is None else _decided(decision),
    )


def _proposed(one: Proposal) -> ProposedPay:
    return ProposedPay(pay=one.pay, share=one.share, why=one.why)


def _decided(one: StoredDecision) -> DecidedPay:
    return DecidedPay(
        number=one.id,
        decision=one.decision,
        share=one.share,
        category=one.category,
        reason=one.reason,
        decided_by=one.decided_by,
        decided_at=one.decided_at,
    )
