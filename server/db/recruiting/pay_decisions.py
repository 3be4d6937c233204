"""Store decisions about pay. All are kept; the latest counts."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import Connection, and_, func, insert, or_, select

from server.db.recruiting.recruitments import lock_recruitment
from server.db.review.message_reports import earned_all
from server.db.tables import Assignment, PaymentDecision, Recruitment, Submission, Visit
from server.errors import DecidedAlready

DecisionKind = Literal["approve", "reject", "partial", "screen_out", "request_return"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided of a submission's pay; `share` is per cent."""

    submission: str
    decision: DecisionKind
    share: int | None
    category: str | None
    reason: str
    decided_by: str
    decided_at: datetime


@dataclass(frozen=True, slots=True)
class StoredDecision(Decision):
    """A decision with its number, by which a later one names it."""

    id: int


def add_decisions(
    connection: Connection, number: int, decisions: Sequence[Decision], instead_of: Collection[int]
) -> list[Decision]:
    """Store what was decided of the pay of submissions of a study; return those that are new.

    Of two who decide at the same moment, in whatever process, the second waits here, and finds the first.

    Raises:
        DecidedAlready: as of `new_decisions`; nothing was stored.
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
        connection.execute(insert(PaymentDecision), rows)
    return new


def new_decisions(
    decisions: Sequence[Decision], before: Mapping[str, StoredDecision], instead_of: Collection[int]
) -> list[Decision]:
    """Return those of some decisions that are new, where `before` counts until now, by submission.

    The very decision that counts already, of the same person, is one that was sent again.

    Raises:
        DecidedAlready: something was decided of one of them that is not named in `instead_of`, the numbers
            of the decisions that these replace.
    """
    new = [one for one in decisions if not _is_again(one, before.get(one.submission))]
    found = (before[one.submission] for one in new if one.submission in before)
    unknown = [one for one in found if one.id not in instead_of]
    if unknown:
        raise DecidedAlready("; ".join(_told(one) for one in unknown))
    return new


def _is_again(one: Decision, before: StoredDecision | None) -> bool:
    return before is not None and (one.decision, one.share, one.category, one.reason, one.decided_by) == (
        before.decision,
        before.share,
        before.category,
        before.reason,
        before.decided_by,
    )


def shares_decided(connection: Connection, number: int) -> dict[str, set[int]]:
    """Return every share that was ever decided of a study's submissions, also where another counts now."""
    query = (
        select(PaymentDecision.c.submission_id, PaymentDecision.c.share)
        .join(Submission, Submission.c.id == PaymentDecision.c.submission_id)
        .where(Submission.c.recruitment_id == number, PaymentDecision.c.share.is_not(None))
    )
    found = defaultdict[str, set[int]](set)
    for submission, share in connection.execute(query):
        found[submission].add(share)
    return found


def shares_besides(connection: Connection, run_id: int) -> int:
    """Return the per cent of a reward that was decided for people whose pay is not due in full, added up.

    Who has earned all, in a run, is counted as such, whatever was decided of the submission.
    """
    came = select(Visit.c.visit).join(Assignment, Assignment.c.id == Visit.c.assignment_id)
    latest = select(func.max(PaymentDecision.c.id)).group_by(PaymentDecision.c.submission_id)
    query = (
        select(func.coalesce(func.sum(func.coalesce(PaymentDecision.c.share, 100)), 0))
        .join(Submission, Submission.c.id == PaymentDecision.c.submission_id)
        .join(Recruitment, Recruitment.c.id == Submission.c.recruitment_id)
        .where(
            Recruitment.c.run_id == run_id,
            PaymentDecision.c.id.in_(latest),
            PaymentDecision.c.submission_id.not_in(came.where(earned_all())),
            # An approval of whose visit nothing is known any more is of somebody who has finished.
            or_(
                PaymentDecision.c.decision == "partial",
                and_(PaymentDecision.c.decision == "approve", PaymentDecision.c.submission_id.in_(came)),
            ),
        )
    )
    return int(connection.execute(query).scalar_one())


def decisions_of(connection: Connection, number: int) -> dict[str, StoredDecision]:
    """Return what counts now of what was decided in a study, by submission: the latest."""
    query = (
        select(
            PaymentDecision.c.submission_id,
            PaymentDecision.c.decision,
            PaymentDecision.c.share,
            PaymentDecision.c.category,
            PaymentDecision.c.reason,
            PaymentDecision.c.decided_by,
            PaymentDecision.c.decided_at,
            PaymentDecision.c.id,
        )
        .join(Submission, Submission.c.id == PaymentDecision.c.submission_id)
        .where(Submission.c.recruitment_id == number)
        .order_by(PaymentDecision.c.id)
    )
    return {row.submission_id: StoredDecision(*row) for row in connection.execute(query)}


def _told(one: StoredDecision) -> str:
    when = f"{one.decided_at:%Y-%m-%d %H:%M} UTC"
    return f"{one.submission}: {one.decided_by} decided `{one.decision}` at {when} (decision {one.id})"
