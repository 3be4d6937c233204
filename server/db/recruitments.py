"""What is stored of a run's study on a platform: its submissions, and what was decided of their pay."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    delete,
    exists,
    func,
    insert,
    not_,
    or_,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from server.db.message_reports import earned_all, left_with_report
from server.db.models import (
    Assignment,
    Conversation,
    Exclusion,
    PaymentDecision,
    Recruitment,
    RecruitmentCode,
    Run,
    Submission,
    Visit,
    Worker,
    columns,
)
from server.db.worker_ids import FORGOTTEN
from server.errors import DecidedAlready, NotRecruiting, RecruitmentExists

ASSIGNMENT = columns(Assignment)
CODE = columns(RecruitmentCode)
CONVERSATION = columns(Conversation)
DECISION = columns(PaymentDecision)
EXCLUSION = columns(Exclusion)
RECRUITMENT = columns(Recruitment)
RUN = columns(Run)
SUBMISSION = columns(Submission)
VISIT = columns(Visit)
WORKER = columns(Worker)
DRAFTING = "DRAFTING"  # the status of a study from before the platform is asked for it until it has answered
_NEVER_READ = (DRAFTING, "UNPUBLISHED", "COMPLETED")  # studies of which nothing comes (any more)
_UNSETTLED = ("RESERVED", "ACTIVE", "AWAITING REVIEW")  # submissions of whose pay nothing is known yet
_GIVEN_UP = ("RETURNED", "TIMED-OUT")
EndingKind = Literal[
    "complete", "screened_out", "our_failure", "reported", "no_consent", "returned", "partial"
]
DecisionKind = Literal["approve", "reject", "partial", "screen_out", "request_return"]


@dataclass(frozen=True, slots=True)
class NewRecruitment:
    """A study that a platform is about to be asked for; `codes`: its completion codes by ending."""

    platform: str
    places: int
    reward: int
    codes: Mapping[EndingKind, str]


@dataclass(frozen=True, slots=True)
class StoredRecruitment:
    """A run's study on a platform, as it was last read; while it is DRAFTING its `study` is empty."""

    id: int
    run_id: int
    run: str
    platform: str
    study: str
    status: str
    places: int
    reward: int
    currency: str | None
    created_at: datetime
    created_by: str
    read_at: datetime | None
    fault: str | None
    codes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class StoredSubmission:
    """A submission as the platform last said it. `code`: what its participant came back with."""

    id: str
    status: str
    started_at: datetime
    completed_at: datetime | None
    code: str | None


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


@dataclass(frozen=True, slots=True)
class Participation:
    """An assignment as pay looks at it: how many conversations it has, and how many rated and failed ones.

    `left_with_report`: they have reported a message and left with it, which is paid in full. `worker`: their
    pseudonym. `visits`: as what its worker has come, in the platform's words.
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
        """Whether all of the pay is due: they have handed in, or left with a report."""
        return self.status == "completed" or self.left_with_report


def add_recruitment(
    connection: Connection, run_id: int, new: NewRecruitment, by: str, at: datetime
) -> StoredRecruitment:
    """Store that a platform is about to be asked for a run's study. Raises RecruitmentExists."""
    values = {
        "run_id": run_id,
        "platform": new.platform,
        "study": "",
        "status": DRAFTING,
        "places": new.places,
        "reward": new.reward,
        "created_at": at,
        "created_by": by,
    }
    try:
        with connection.begin_nested():
            made = connection.execute(insert(Recruitment).values(values).returning(RECRUITMENT.id))
            number = int(made.scalar_one())
    except IntegrityError as error:
        raise RecruitmentExists("this run has a study on a platform already") from error
    codes = [{"recruitment_id": number, "ending": k, "code": code} for k, code in new.codes.items()]
    connection.execute(insert(RecruitmentCode), codes)
    return require_recruitment(connection, run_id)


def recruitment_of(connection: Connection, run_id: int) -> StoredRecruitment | None:
    """Return a run's study on a platform; None: it has none."""
    row = connection.execute(_recruitments().where(RECRUITMENT.run_id == run_id)).one_or_none()
    return None if row is None else _recruitment(connection, row)


def require_recruitment(connection: Connection, run_id: int) -> StoredRecruitment:
    """Return a run's study on a platform. Raises NotRecruiting: it has none."""
    found = recruitment_of(connection, run_id)
    if found is None:
        raise NotRecruiting("this run has no study on a platform yet")
    return found


def codes_of(connection: Connection, run_id: int) -> dict[str, str]:
    """Return the completion codes of a run's study on a platform, by ending; none where it has no study."""
    return {row.ending: row.code for row in connection.execute(_CODES, {"run": run_id})}


_CODES = (
    select(CODE.ending, CODE.code)
    .join(Recruitment, RECRUITMENT.id == CODE.recruitment_id)
    .where(RECRUITMENT.run_id == bindparam("run"))
)


def leads_to_run(connection: Connection, study: str | None, run: str) -> bool:
    """Return whether participants of a study on the platform belong to a run, as far as is known here.

    A study that was made there by hand is known of no run, and a run without one drafted here has none known.
    """
    query = select(RUN.slug, RECRUITMENT.study).join(Run, RUN.id == RECRUITMENT.run_id)
    known = connection.execute(query.where(or_(RUN.slug == run, RECRUITMENT.study == study)))
    return all((row.slug, row.study) == (run, study) for row in known)


def study_of_submission(connection: Connection, submission: str) -> str | None:
    """Return the study on the platform that a submission is of; None: we have not read it yet."""
    query = (
        select(RECRUITMENT.study)
        .join(Submission, SUBMISSION.recruitment_id == RECRUITMENT.id)
        .where(SUBMISSION.id == submission)
    )
    return connection.execute(query).scalar_one_or_none()


def open_recruitments(connection: Connection) -> list[StoredRecruitment]:
    """Return the studies of which something may still come: all that were ever published."""
    query = _recruitments().where(RECRUITMENT.status.not_in(_NEVER_READ))
    return [_recruitment(connection, row) for row in connection.execute(query.order_by(RECRUITMENT.id))]


def note_drafted(connection: Connection, number: int, study: str, status: str) -> None:
    """Store what the platform calls the study that it was asked for."""
    changed = update(Recruitment).where(RECRUITMENT.id == number, RECRUITMENT.status == DRAFTING)
    connection.execute(changed.values(study=study, status=status, fault=None))


def remove_recruitment(connection: Connection, number: int) -> None:
    """Forget a study that was drafted, and never published: nothing hangs on it."""
    connection.execute(delete(RecruitmentCode).where(CODE.recruitment_id == number))
    connection.execute(delete(Recruitment).where(RECRUITMENT.id == number))


def note_study(connection: Connection, number: int, status: str, places: int) -> None:
    """Store a study as the platform says that it is now."""
    changed = update(Recruitment).where(RECRUITMENT.id == number)
    connection.execute(changed.values(status=status, places=places))


def note_currency(connection: Connection, number: int, currency: str | None) -> None:
    """Store the currency that a study is paid in."""
    connection.execute(update(Recruitment).where(RECRUITMENT.id == number).values(currency=currency))


def note_read(connection: Connection, number: int, at: datetime, fault: str | None = None) -> None:
    """Store that a study was read, or why it could not be."""
    values: dict[str, object] = {"fault": fault} if fault is not None else {"fault": None, "read_at": at}
    connection.execute(update(Recruitment).where(RECRUITMENT.id == number).values(values))


def store_submissions(
    connection: Connection, number: int, found: Sequence[StoredSubmission], at: datetime
) -> None:
    """Store all submissions as the platform says them now; what was stored of them before is replaced.

    Of workers who were forgotten, whose pay is settled by now, the visits are forgotten, too.
    """
    query = select(SUBMISSION.id).where(SUBMISSION.recruitment_id == number)
    known = set(connection.execute(query).scalars())
    for one in found:
        values = {
            "status": one.status,
            "started_at": one.started_at,
            "completed_at": one.completed_at,
            "code": one.code,
            "read_at": at,
        }
        if one.id in known:
            connection.execute(update(Submission).where(SUBMISSION.id == one.id).values(values))
        else:
            new = {"id": one.id, "recruitment_id": number, **values}
            connection.execute(insert(Submission).values(new))
    forgotten = (
        select(ASSIGNMENT.id)
        .join(Recruitment, RECRUITMENT.run_id == ASSIGNMENT.run_id)
        .join(Worker, WORKER.id == ASSIGNMENT.worker_id)
        .where(RECRUITMENT.id == number, WORKER.external_id.startswith(FORGOTTEN))
    )
    connection.execute(delete(Visit).where(VISIT.assignment_id.in_(forgotten), not_(_awaits_pay())))


def forget_visits(connection: Connection, worker_id: int) -> None:
    """Forget what the platform called a worker's visits, but for those by which they are still to be paid.

    These go as soon as the platform says that the pay of the submission is settled.
    """
    theirs = select(ASSIGNMENT.id).where(ASSIGNMENT.worker_id == worker_id)
    recruited = theirs.join(Recruitment, RECRUITMENT.run_id == ASSIGNMENT.run_id).where(
        RECRUITMENT.status.not_in(_NEVER_READ)
    )
    settled = and_(VISIT.visit.in_(select(SUBMISSION.id)), not_(_awaits_pay()))
    gone = or_(VISIT.assignment_id.not_in(recruited), settled)
    connection.execute(delete(Visit).where(VISIT.assignment_id.in_(theirs), gone))


def _awaits_pay() -> ColumnElement[bool]:
    """Return whether somebody can still be paid by a visit, as its submission was last read.

    By one that was given up too, if its worker has earned all of it here all the same and nobody has decided
    of it; not once the platform has closed the study.
    """
    going_on = select(SUBMISSION.id).join(Recruitment, RECRUITMENT.id == SUBMISSION.recruitment_id)
    going_on = going_on.where(RECRUITMENT.status.not_in(_NEVER_READ))
    decided = select(DECISION.submission_id)
    earned = select(ASSIGNMENT.id).where(earned_all())
    later = VISIT.at.table.alias().c
    came_again = exists().where(later.assignment_id == VISIT.assignment_id, later.at > VISIT.at)
    return or_(
        VISIT.visit.in_(going_on.where(SUBMISSION.status.in_(_UNSETTLED))),
        and_(
            VISIT.visit.in_(going_on.where(SUBMISSION.status.in_(_GIVEN_UP), SUBMISSION.id.not_in(decided))),
            VISIT.assignment_id.in_(earned),
            not_(came_again),
        ),
    )


def set_status(connection: Connection, submission: str, status: str) -> None:
    """Store the status that a submission has after something was done with it."""
    connection.execute(update(Submission).where(SUBMISSION.id == submission).values(status=status))


def submissions_of(connection: Connection, number: int) -> list[StoredSubmission]:
    """Return the submissions of a study, as they began."""
    query = (
        select(
            SUBMISSION.id, SUBMISSION.status, SUBMISSION.started_at, SUBMISSION.completed_at, SUBMISSION.code
        )
        .where(SUBMISSION.recruitment_id == number)
        .order_by(SUBMISSION.started_at, SUBMISSION.id)
    )
    return [StoredSubmission(*row) for row in connection.execute(query)]


def add_decisions(
    connection: Connection, number: int, decisions: Sequence[Decision], instead_of: Collection[int]
) -> list[Decision]:
    """Store what was decided of the pay of submissions of a study; return those that are new.

    The very decision that counts already, of the same person, is one that was sent again: it is not stored.
    Of two who decide at the same moment, in whatever process, the second waits here, and finds the first.

    Raises:
        DecidedAlready: something was decided of one of them that is not named in `instead_of`, the numbers
            of the decisions that these replace; nothing was stored.
    """
    connection.execute(select(RECRUITMENT.id).where(RECRUITMENT.id == number).with_for_update())
    before = decisions_of(connection, number)
    new = [one for one in decisions if not _is_again(one, before.get(one.submission))]
    found = (before[one.submission] for one in new if one.submission in before)
    unknown = [one for one in found if one.id not in instead_of]
    if unknown:
        raise DecidedAlready("; ".join(_told(one) for one in unknown))
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


def _is_again(one: Decision, before: StoredDecision | None) -> bool:
    return before is not None and (one.decision, one.share, one.category, one.reason, one.decided_by) == (
        before.decision,
        before.share,
        before.category,
        before.reason,
        before.decided_by,
    )


def decisions_of(connection: Connection, number: int) -> dict[str, StoredDecision]:
    """Return what counts now of what was decided in a study, by submission: the latest."""
    query = (
        select(
            DECISION.submission_id,
            DECISION.decision,
            DECISION.share,
            DECISION.category,
            DECISION.reason,
            DECISION.decided_by,
            DECISION.decided_at,
            DECISION.id,
        )
        .join(Submission, SUBMISSION.id == DECISION.submission_id)
        .where(SUBMISSION.recruitment_id == number)
        .order_by(DECISION.id)
    )
    return {row.submission_id: StoredDecision(*row) for row in connection.execute(query)}


def _told(one: StoredDecision) -> str:
    when = f"{one.decided_at:%Y-%m-%d %H:%M} UTC"
    return f"{one.submission}: {one.decided_by} decided `{one.decision}` at {when} (decision {one.id})"


def participations(connection: Connection, run_id: int) -> list[Participation]:
    """Return the assignments of a run whose workers have come from a platform, as pay looks at them."""
    visits: dict[str, list[str]] = {}
    came = (
        select(VISIT.assignment_id, VISIT.visit)
        .join(Assignment, ASSIGNMENT.id == VISIT.assignment_id)
        .where(ASSIGNMENT.run_id == run_id, ASSIGNMENT.simulated.is_(False))
        .order_by(VISIT.at, VISIT.visit)
    )
    for row in connection.execute(came):
        visits.setdefault(row.assignment_id, []).append(row.visit)
    counted = (
        select(
            CONVERSATION.assignment_id,
            func.max(CONVERSATION.position).label("conversations"),
            func.count(CONVERSATION.rated_at).label("rated"),
            func.count(CONVERSATION.id).filter(CONVERSATION.status == "failed").label("failed"),
        )
        .join(Assignment, ASSIGNMENT.id == CONVERSATION.assignment_id)
        .where(ASSIGNMENT.run_id == run_id)
        .group_by(CONVERSATION.assignment_id)
    )
    counts = {row.assignment_id: row for row in connection.execute(counted)}
    query = (
        select(
            ASSIGNMENT.id,
            WORKER.pseudonym,
            ASSIGNMENT.status,
            EXCLUSION.assignment_id.label("excluded"),
            ASSIGNMENT.id.in_(left_with_report()).label("left_with_report"),
        )
        .join(Worker, WORKER.id == ASSIGNMENT.worker_id)
        .outerjoin(Exclusion, EXCLUSION.assignment_id == ASSIGNMENT.id)
        .where(ASSIGNMENT.run_id == run_id, ASSIGNMENT.id.in_(visits))
        .order_by(ASSIGNMENT.created_at, ASSIGNMENT.id)
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


def _recruitments() -> Select[Any]:
    return select(
        RECRUITMENT.id,
        RECRUITMENT.run_id,
        RUN.slug,
        RECRUITMENT.platform,
        RECRUITMENT.study,
        RECRUITMENT.status,
        RECRUITMENT.places,
        RECRUITMENT.reward,
        RECRUITMENT.currency,
        RECRUITMENT.created_at,
        RECRUITMENT.created_by,
        RECRUITMENT.read_at,
        RECRUITMENT.fault,
    ).join(Run, RUN.id == RECRUITMENT.run_id)


def _recruitment(connection: Connection, row: Any) -> StoredRecruitment:
    return StoredRecruitment(*(*row, codes_of(connection, row.run_id)))
