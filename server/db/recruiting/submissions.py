"""Store a study's submissions on a platform, and the visits that lead to them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    delete,
    exists,
    func,
    insert,
    not_,
    or_,
    select,
    update,
)

from server.db.recruiting.recruitments import NEVER_READ
from server.db.review import earned_all, left_with_report
from server.db.secrets import FORGOTTEN
from server.db.tables import (
    AssignmentTable,
    ConversationTable,
    ExclusionTable,
    PaymentDecisionTable,
    RecruitmentTable,
    SubmissionTable,
    VisitTable,
    WorkerTable,
)

_UNSETTLED = ("RESERVED", "ACTIVE", "AWAITING REVIEW")  # submissions whose pay is not settled yet
_GIVEN_UP = ("RETURNED", "TIMED-OUT")


@dataclass(frozen=True, slots=True)
class StoredSubmission:
    """A submission in its last known state. `code`: the code with which its participant returned.

    `paid_share`: the per cent of the reward that is known to be paid.
    """

    id: str
    status: str
    started_at: datetime
    completed_at: datetime | None
    code: str | None
    paid_share: int | None = None


def study_of_submission(connection: Connection, submission: str) -> str | None:
    """Return a submission's study on the platform; None if we have not read the submission yet."""
    query = (
        select(RecruitmentTable.c.study)
        .join(SubmissionTable, SubmissionTable.c.recruitment_id == RecruitmentTable.c.id)
        .where(SubmissionTable.c.id == submission)
    )
    return connection.execute(query).scalar_one_or_none()


def store_submissions(
    connection: Connection, number: int, found: Sequence[StoredSubmission], began: datetime, at: datetime
) -> None:
    """Store all submissions of a reading that began at `began` and ends now.

    Stored states are replaced unless they come from a later reading. Visits of workers who were forgotten are
    deleted once their pay is settled.
    """
    query = select(SubmissionTable.c.id).where(SubmissionTable.c.recruitment_id == number)
    known = set(connection.execute(query).scalars())
    for one in found:
        values = {
            "status": one.status,
            "started_at": one.started_at,
            "completed_at": one.completed_at,
            "code": one.code,
            "read_at": began,
        }
        if one.paid_share is not None:  # the platform's list does not include it
            values["paid_share"] = one.paid_share
        if one.id in known:
            older = or_(
                SubmissionTable.c.read_at <= began, SubmissionTable.c.read_at > at
            )  # or from a clock set back
            connection.execute(
                update(SubmissionTable).where(SubmissionTable.c.id == one.id, older).values(values)
            )
        else:
            new = {"id": one.id, "recruitment_id": number, **values}
            connection.execute(insert(SubmissionTable).values(new))
    forgotten = (
        select(AssignmentTable.c.id)
        .join(RecruitmentTable, RecruitmentTable.c.run_id == AssignmentTable.c.run_id)
        .join(WorkerTable, WorkerTable.c.id == AssignmentTable.c.worker_id)
        .where(RecruitmentTable.c.id == number, WorkerTable.c.external_id.startswith(FORGOTTEN))
    )
    connection.execute(
        delete(VisitTable).where(VisitTable.c.assignment_id.in_(forgotten), not_(_awaits_pay()))
    )


def forget_visits(connection: Connection, worker_id: int) -> None:
    """Delete the platform's ids of a worker's visits, except those needed to pay them.

    These are deleted as soon as the platform says that the submission's pay is settled.
    """
    theirs = select(AssignmentTable.c.id).where(AssignmentTable.c.worker_id == worker_id)
    recruited = theirs.join(RecruitmentTable, RecruitmentTable.c.run_id == AssignmentTable.c.run_id).where(
        RecruitmentTable.c.status.not_in(NEVER_READ)
    )
    settled = and_(VisitTable.c.visit.in_(select(SubmissionTable.c.id)), not_(_awaits_pay()))
    gone = or_(VisitTable.c.assignment_id.not_in(recruited), settled)
    connection.execute(delete(VisitTable).where(VisitTable.c.assignment_id.in_(theirs), gone))


def _awaits_pay() -> ColumnElement[bool]:
    """Return the condition that somebody can still be paid for a visit, by its submission's last reading.

    This includes submissions that were given up, if their workers have earned the full pay here and nobody
    has decided about them; but not once the platform has closed the study.
    """
    going_on = select(SubmissionTable.c.id).join(
        RecruitmentTable, RecruitmentTable.c.id == SubmissionTable.c.recruitment_id
    )
    going_on = going_on.where(RecruitmentTable.c.status.not_in(NEVER_READ))
    decided = select(PaymentDecisionTable.c.submission_id)
    earned = select(AssignmentTable.c.id).where(earned_all())
    later = VisitTable.c.at.table.alias().c
    came_again = exists().where(later.assignment_id == VisitTable.c.assignment_id, later.at > VisitTable.c.at)
    return or_(
        VisitTable.c.visit.in_(going_on.where(SubmissionTable.c.status.in_(_UNSETTLED))),
        and_(
            VisitTable.c.visit.in_(
                going_on.where(SubmissionTable.c.status.in_(_GIVEN_UP), SubmissionTable.c.id.not_in(decided))
            ),
            VisitTable.c.assignment_id.in_(earned),
            not_(came_again),
        ),
    )


def set_status(
    connection: Connection, submission: str, status: str, paid_share: int | None, at: datetime
) -> None:
    """Store a submission's state at the platform after an action on it.

    `paid_share`: the per cent of the reward that was paid; None keeps the stored value.
    """
    said: dict[str, object] = {"status": status, "read_at": at}
    if paid_share is not None:
        said["paid_share"] = paid_share
    connection.execute(update(SubmissionTable).where(SubmissionTable.c.id == submission).values(said))


def submissions_of(connection: Connection, number: int) -> list[StoredSubmission]:
    """Return the submissions of a study, in the order in which they began."""
    query = (
        select(
            SubmissionTable.c.id,
            SubmissionTable.c.status,
            SubmissionTable.c.started_at,
            SubmissionTable.c.completed_at,
            SubmissionTable.c.code,
            SubmissionTable.c.paid_share,
        )
        .where(SubmissionTable.c.recruitment_id == number)
        .order_by(SubmissionTable.c.started_at, SubmissionTable.c.id)
    )
    return [StoredSubmission(*row) for row in connection.execute(query)]


@dataclass(frozen=True, slots=True)
class Participation:
    """The facts of an assignment that decide pay: its number of conversations, and of rated and failed ones.

    `left_with_report`: the worker has left with a report of a message, which is paid in full. `worker`: their
    pseudonym. `visits`: the platform's ids of the worker's visits.
    """

    assignment: str
    worker: str
    status: str
    conversations: int
    rated: int
    failed: int
    excluded: bool
    left_with_report: bool
    visits: tuple[str, ...]

    @property
    def earned_all(self) -> bool:
        """Whether the full pay is due: they have submitted, or left with a report."""
        return self.status == "completed" or self.left_with_report


def participations(connection: Connection, run_id: int) -> list[Participation]:
    """Return the assignments of a run whose workers a platform has sent."""
    visits: dict[str, list[str]] = {}
    came = (
        select(VisitTable.c.assignment_id, VisitTable.c.visit)
        .join(AssignmentTable, AssignmentTable.c.id == VisitTable.c.assignment_id)
        .where(AssignmentTable.c.run_id == run_id, AssignmentTable.c.simulated.is_(False))
        .order_by(VisitTable.c.at, VisitTable.c.visit)
    )
    for row in connection.execute(came):
        visits.setdefault(row.assignment_id, []).append(row.visit)
    counted = (
        select(
            ConversationTable.c.assignment_id,
            func.max(ConversationTable.c.position).label("conversations"),
            func.count(ConversationTable.c.rated_at).label("rated"),
            func.count(ConversationTable.c.id).filter(ConversationTable.c.status == "failed").label("failed"),
        )
        .join(AssignmentTable, AssignmentTable.c.id == ConversationTable.c.assignment_id)
        .where(AssignmentTable.c.run_id == run_id)
        .group_by(ConversationTable.c.assignment_id)
    )
    counts = {row.assignment_id: row for row in connection.execute(counted)}
    query = (
        select(
            AssignmentTable.c.id,
            WorkerTable.c.pseudonym,
            AssignmentTable.c.status,
            ExclusionTable.c.assignment_id.label("excluded"),
            AssignmentTable.c.id.in_(left_with_report()).label("left_with_report"),
        )
        .join(WorkerTable, WorkerTable.c.id == AssignmentTable.c.worker_id)
        .outerjoin(ExclusionTable, ExclusionTable.c.assignment_id == AssignmentTable.c.id)
        .where(AssignmentTable.c.run_id == run_id, AssignmentTable.c.id.in_(visits))
        .order_by(AssignmentTable.c.created_at, AssignmentTable.c.id)
    )
    rows: list[Any] = list(connection.execute(query))
    return [_participation(row, counts.get(row.id), visits[row.id]) for row in rows]


def _participation(row: Any, counted: Any, visits: Sequence[str]) -> Participation:
    return Participation(
        assignment=row.id,
        worker=row.pseudonym,
        status=row.status,
        conversations=0 if counted is None else counted.conversations,
        rated=0 if counted is None else counted.rated,
        failed=0 if counted is None else counted.failed,
        excluded=row.excluded is not None,
        left_with_report=row.left_with_report,
        visits=tuple(visits),
    )
