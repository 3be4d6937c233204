"""Store decisions about pay. All are kept; the latest counts."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import Connection, and_, func, insert, or_, select

from server.db.recruiting.recruitments import lock_recruitment
from server.db.review import earned_all
from server.db.tables import (
    AssignmentTable,
    PaymentDecisionTable,
    RecruitmentTable,
    SubmissionTable,
    VisitTable,
)
from server.errors import DecidedAlready

DecisionKind = Literal["approve", "reject", "partial", "screen_out", "request_return"]


@dataclass(frozen=True, slots=True)
class PayShare:
    """A decision about a submission's pay; `share` is in per cent."""

    submission: str
    decision: DecisionKind
    share: int | None
    category: str | None
    reason: str
    decided_by: str
    decided_at: datetime


@dataclass(frozen=True, slots=True)
class StoredDecision(PayShare):
    """A decision with its number, by which a later decision refers to it."""

    id: int


def add_decisions(
    connection: Connection, number: int, decisions: Sequence[PayShare], instead_of: Collection[int]
) -> list[PayShare]:
    """Store decisions about the pay of a study's submissions; return those that are new.

    If two people decide at the same moment, in any process, the second waits here, and finds the first
    decision.

    Raises:
        DecidedAlready: As in `new_decisions`; nothing was stored.
    """
    lock_recruitment(connection, number)
    new = new_decisions(decisions, decisions_of(connection, number), instead_of)
    rows = [
        {
            "submission_id": one.submission,
            "decision": one.decision,
            "share": one.share,
            "category": one.category,
            "reason": one.reason,
            "decided_by": one.decided_by,
            "decided_at": one.decided_at,
        }
        for one in new
    ]
    if rows:
        connection.execute(insert(PaymentDecisionTable), rows)
    return new


def new_decisions(
    decisions: Sequence[PayShare], before: Mapping[str, StoredDecision], instead_of: Collection[int]
) -> list[PayShare]:
    """Return the decisions that are new, if `before` has those that count until now, by submission.

    The same decision by the same person as the one that counts was only sent again, and is not new.

    Raises:
        DecidedAlready: A submission has a decision that is not in `instead_of`, the numbers of the decisions
            to be replaced.
    """
    new = [one for one in decisions if not _is_again(one, before.get(one.submission))]
    found = (before[one.submission] for one in new if one.submission in before)
    unknown = [one for one in found if one.id not in instead_of]
    if unknown:
        raise DecidedAlready("; ".join(_told(one) for one in unknown))
    return new


def _is_again(one: PayShare, before: StoredDecision | None) -> bool:
    return before is not None and (one.decision, one.share, one.category, one.reason, one.decided_by) == (
        before.decision,
        before.share,
        before.category,
        before.reason,
        before.decided_by,
    )


def shares_decided(connection: Connection, number: int) -> dict[str, set[int]]:
    """Return every share that was ever decided for a study's submissions, also those replaced since."""
    query = (
        select(PaymentDecisionTable.c.submission_id, PaymentDecisionTable.c.share)
        .join(SubmissionTable, SubmissionTable.c.id == PaymentDecisionTable.c.submission_id)
        .where(SubmissionTable.c.recruitment_id == number, PaymentDecisionTable.c.share.is_not(None))
    )
    found = defaultdict[str, set[int]](set)
    for submission, share in connection.execute(query):
        found[submission].add(share)
    return found


def shares_besides(connection: Connection, run_id: int) -> int:
    """Return the sum of decided shares of a reward, in per cent, for people whose pay is not due in full.

    Workers who have earned all in a run are counted there, whatever was decided about the submission.
    """
    came = select(VisitTable.c.visit).join(
        AssignmentTable, AssignmentTable.c.id == VisitTable.c.assignment_id
    )
    latest = select(func.max(PaymentDecisionTable.c.id)).group_by(PaymentDecisionTable.c.submission_id)
    query = (
        select(func.coalesce(func.sum(func.coalesce(PaymentDecisionTable.c.share, 100)), 0))
        .join(SubmissionTable, SubmissionTable.c.id == PaymentDecisionTable.c.submission_id)
        .join(RecruitmentTable, RecruitmentTable.c.id == SubmissionTable.c.recruitment_id)
        .where(
            RecruitmentTable.c.run_id == run_id,
            PaymentDecisionTable.c.id.in_(latest),
            PaymentDecisionTable.c.submission_id.not_in(came.where(earned_all())),
            # An approval without a known visit belongs to somebody who has finished.
            or_(
                PaymentDecisionTable.c.decision == "partial",
                and_(
                    PaymentDecisionTable.c.decision == "approve",
                    PaymentDecisionTable.c.submission_id.in_(came),
                ),
            ),
        )
    )
    return int(connection.execute(query).scalar_one())


def decisions_of(connection: Connection, number: int) -> dict[str, StoredDecision]:
    """Return the decisions that count in a study, by submission: the latest of each."""
    query = (
        select(
            PaymentDecisionTable.c.submission_id,
            PaymentDecisionTable.c.decision,
            PaymentDecisionTable.c.share,
            PaymentDecisionTable.c.category,
            PaymentDecisionTable.c.reason,
            PaymentDecisionTable.c.decided_by,
            PaymentDecisionTable.c.decided_at,
            PaymentDecisionTable.c.id,
        )
        .join(SubmissionTable, SubmissionTable.c.id == PaymentDecisionTable.c.submission_id)
        .where(SubmissionTable.c.recruitment_id == number)
        .order_by(PaymentDecisionTable.c.id)
    )
    return {row.submission_id: StoredDecision(*row) for row in connection.execute(query)}


def _told(one: StoredDecision) -> str:
    when = f"{one.decided_at:%Y-%m-%d %H:%M} UTC"
    return f"{one.submission}: {one.decided_by} decided “{one.decision}” at {when} (decision {one.id})"
