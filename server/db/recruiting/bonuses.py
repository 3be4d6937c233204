"""Store bonuses and their states.

    prepared ──take──▶ unknown ──accepted──▶ sent ──seen──▶ paid
        ▲                 │  └────────seen──────────────────▲
        └── not paid ─────┴──────────────────┘

`unknown`: the call that pays is in progress, or no answer tells whether it paid. This is stored before the
call, so that it is the batch's state if the process dies. `sent`: the platform has accepted it, and pays
later. `paid`: all payments were seen there. While a bonus of a submission is open (`unknown` or `sent`), no
other bonus of that submission is sent, because the platform does not say which bonus a payment is for.
"""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from server.db.tables import BonusBatchTable, BonusTable, RecruitmentTable
from server.errors import BonusRefused
from server.recruiters.recruiter import title_of

State = Literal["prepared", "unknown", "sent", "paid"]
OPEN: tuple[State, ...] = ("unknown", "sent")
# Characters that are not visible, besides those of the categories Cc and Cf.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


@dataclass(frozen=True, slots=True)
class StoredBonus:
    """A bonus of one submission. `seen_at`: when its payment was first seen at the platform.

    `seen_before`: how many payments of this amount the submission had before ours was sent; None if not sent.
    """

    submission: str
    purpose: str
    cents: int
    seen_before: int | None
    seen_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class StoredBatch:
    """Bonuses that are paid in one call; `total` includes the fees and tax of `platform`."""

    id: int
    platform_batch: str
    total: int
    state: State
    prepared_by: str
    prepared_at: datetime
    sent_at: datetime | None
    platform: str
    bonuses: tuple[StoredBonus, ...]


@dataclass(frozen=True, slots=True)
class NewBatch:
    """Bonuses that the platform has set up: cents by submission, all for one purpose."""

    platform_batch: str
    total: int
    purpose: str
    cents: Mapping[str, int]


def purpose_key(purpose: str) -> str:
    """Return a purpose in a form for comparison: purposes that look the same have the same key."""
    spaced = " ".join(unicodedata.normalize("NFKC", purpose).casefold().split())
    seen = "".join(mark for mark in spaced if unicodedata.category(mark) not in {"Cc", "Cf"})
    return _INVISIBLE.sub("", seen).strip()


def had_before(connection: Connection, purpose: str, submissions: Sequence[str]) -> list[str]:
    """Return those of the submissions that have a bonus for this purpose already, in any state."""
    same = BonusTable.c.purpose_key == purpose_key(purpose)
    query = select(BonusTable.c.submission_id).where(same, BonusTable.c.submission_id.in_(submissions))
    return sorted(connection.execute(query).scalars())


def bonus_cents(connection: Connection, run_id: int) -> int:
    """Return the cents of all bonuses of a run that were sent."""
    query = (
        select(func.coalesce(func.sum(BonusTable.c.cents), 0))
        .join(BonusBatchTable, BonusBatchTable.c.id == BonusTable.c.batch_id)
        .join(RecruitmentTable, RecruitmentTable.c.id == BonusBatchTable.c.recruitment_id)
        .where(RecruitmentTable.c.run_id == run_id, BonusBatchTable.c.state != "prepared")
    )
    return int(connection.execute(query).scalar_one())


def add_batch(connection: Connection, recruitment: int, new: NewBatch, by: str, at: datetime) -> int:
    """Store bonuses that were set up, and return the batch's number.

    Raises BonusRefused if one of the submissions has a bonus for this purpose already.
    """
    values = {
        "recruitment_id": recruitment,
        "platform_batch": new.platform_batch,
        "total": new.total,
        "state": "prepared",
        "prepared_by": by,
        "prepared_at": at,
    }
    made = connection.execute(insert(BonusBatchTable).values(values).returning(BonusBatchTable.c.id))
    number = int(made.scalar_one())
    purpose = {"batch_id": number, "purpose": new.purpose, "purpose_key": purpose_key(new.purpose)}
    rows = [{**purpose, "submission_id": one, "cents": cents} for one, cents in new.cents.items()]
    try:
        connection.execute(insert(BonusTable), rows)
    except IntegrityError as error:
        raise BonusRefused(f"One of the submissions has a bonus for “{new.purpose}” already") from error
    return number


def batches_of(
    connection: Connection, recruitment: int, states: Collection[State] | None = None
) -> list[StoredBatch]:
    """Return the batches of a study, newest first; only those in `states`, if given."""
    query = _BATCHES.where(BonusBatchTable.c.recruitment_id == recruitment).order_by(
        BonusBatchTable.c.id.desc()
    )
    if states is not None:
        query = query.where(BonusBatchTable.c.state.in_(states))
    return [_batch(connection, row) for row in connection.execute(query).all()]


def find_batch(connection: Connection, recruitment: int, number: int) -> StoredBatch:
    """Return a batch of a study. Raises BonusRefused if there is none of this number."""
    query = _BATCHES.where(BonusBatchTable.c.id == number, BonusBatchTable.c.recruitment_id == recruitment)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise BonusRefused(f"This run has no bonuses with the number {number}")
    return _batch(connection, row)


def open_batches(connection: Connection) -> list[StoredBatch]:
    """Return the open batches of all studies, also of studies that are over."""
    query = _BATCHES.where(BonusBatchTable.c.state.in_(OPEN)).order_by(BonusBatchTable.c.id)
    return [_batch(connection, row) for row in connection.execute(query).all()]


def take(connection: Connection, number: int, at: datetime) -> None:
    """Store that the caller is about to make the call that pays a batch.

    Raises:
        BonusRefused: The batch is not prepared (any more), another batch of the study has no answer yet, or
            another bonus of one of its submissions is open.
    """
    taken = update(BonusBatchTable).where(
        BonusBatchTable.c.id == number, BonusBatchTable.c.state == "prepared"
    )
    try:
        changed = connection.execute(taken.values(state="unknown", sent_at=at)).rowcount
    except IntegrityError as error:
        raise BonusRefused(
            "Other bonuses of this study are being paid, or it is not known whether they were",
            "Check those first, so that nobody is paid twice.",
        ) from error
    if changed == 0:
        raise BonusRefused("These bonuses were sent before", "Check whether they were paid.")
    # After the update: if two take batches at once, the second waits above, and finds the first one here.
    ours = select(BonusTable.c.submission_id).where(BonusTable.c.batch_id == number)
    held = (
        select(BonusTable.c.submission_id, BonusBatchTable.c.id)
        .join(BonusBatchTable, BonusBatchTable.c.id == BonusTable.c.batch_id)
        .where(
            BonusBatchTable.c.id != number, BonusBatchTable.c.state.in_(OPEN), BonusTable.c.seen_at.is_(None)
        )
        .where(BonusTable.c.submission_id.in_(ours))
        .order_by(BonusTable.c.submission_id)
    )
    if waiting := connection.execute(held).all():
        title = _title(connection, number)
        raise BonusRefused(
            "; ".join(f"{whose}: bonus {other} was sent and is not paid yet" for whose, other in waiting),
            f"Wait until it is seen paid: {title} does not say which bonus a payment is for.",
        )


def _title(connection: Connection, number: int) -> str:
    """Return the name of the platform that pays a batch."""
    query = select(RecruitmentTable.c.platform).join(
        BonusBatchTable, BonusBatchTable.c.recruitment_id == RecruitmentTable.c.id
    )
    return title_of(connection.execute(query.where(BonusBatchTable.c.id == number)).scalar_one())


def note_seen_before(connection: Connection, number: int, sent_at: datetime, seen: Mapping[str, int]) -> None:
    """Store how many payments of the bonus's amount each submission has, just before the call that pays.

    Raises BonusRefused if the batch is no longer the sender's.
    """
    query = select(BonusBatchTable.c.id).where(
        BonusBatchTable.c.id == number,
        BonusBatchTable.c.state == "unknown",
        BonusBatchTable.c.sent_at == sent_at,
    )
    if connection.execute(query.with_for_update()).one_or_none() is None:
        raise BonusRefused("These bonuses were prepared again meanwhile", "Nothing was sent: pay them again.")
    connection.execute(update(BonusTable).where(BonusTable.c.batch_id == number).values(seen_at=None))
    for submission, count in seen.items():
        one = update(BonusTable).where(
            BonusTable.c.batch_id == number, BonusTable.c.submission_id == submission
        )
        connection.execute(one.values(seen_before=count))


def note_seen(
    connection: Connection, number: int, sent_at: datetime | None, submissions: Collection[str], at: datetime
) -> None:
    """Store that these submissions' bonuses, of a batch sent at `sent_at`, were seen paid."""
    same = select(BonusBatchTable.c.id).where(
        BonusBatchTable.c.id == number,
        BonusBatchTable.c.state.in_(OPEN),
        BonusBatchTable.c.sent_at == sent_at,
    )
    seen = update(BonusTable).where(
        BonusTable.c.batch_id.in_(same), BonusTable.c.submission_id.in_(submissions)
    )
    connection.execute(seen.where(BonusTable.c.seen_at.is_(None)).values(seen_at=at))


def settle(connection: Connection, number: int, sent_at: datetime | None, state: State, at: datetime) -> bool:
    """Store the new state of a batch that was sent at `sent_at`; return whether it was still open.

    Facts about an earlier sending do not apply to a later one, which may be in progress.
    """
    open_ = update(BonusBatchTable).where(
        BonusBatchTable.c.id == number,
        BonusBatchTable.c.state.in_(OPEN),
        BonusBatchTable.c.sent_at == sent_at,
        BonusBatchTable.c.state != state,
    )
    changed = connection.execute(open_.values(state=state, settled_at=at)).rowcount == 1
    if changed and state == "prepared":
        connection.execute(update(BonusTable).where(BonusTable.c.batch_id == number).values(seen_before=None))
    return changed


def discard(connection: Connection, number: int) -> None:
    """Delete prepared bonuses. Raises BonusRefused if they were sent."""
    wanted = (
        select(BonusBatchTable.c.id)
        .where(BonusBatchTable.c.id == number, BonusBatchTable.c.state == "prepared")
        .with_for_update()
    )
    if connection.execute(wanted).one_or_none() is None:
        raise BonusRefused("These bonuses were sent, and cannot be taken back")
    connection.execute(delete(BonusTable).where(BonusTable.c.batch_id == number))
    connection.execute(delete(BonusBatchTable).where(BonusBatchTable.c.id == number))


_BATCHES = select(
    BonusBatchTable.c.id,
    BonusBatchTable.c.platform_batch,
    BonusBatchTable.c.total,
    BonusBatchTable.c.state,
    BonusBatchTable.c.prepared_by,
    BonusBatchTable.c.prepared_at,
    BonusBatchTable.c.sent_at,
    RecruitmentTable.c.platform,
).join(RecruitmentTable, RecruitmentTable.c.id == BonusBatchTable.c.recruitment_id)


def _batch(connection: Connection, row: Any) -> StoredBatch:
    query = select(
        BonusTable.c.submission_id,
        BonusTable.c.purpose,
        BonusTable.c.cents,
        BonusTable.c.seen_before,
        BonusTable.c.seen_at,
    )
    of_it = query.where(BonusTable.c.batch_id == row.id).order_by(BonusTable.c.submission_id)
    return StoredBatch(*(*row, tuple(StoredBonus(*one) for one in connection.execute(of_it))))
