"""Bonuses as rows: prepared, sent, then paid, or unknown until somebody has looked at the platform.

    prepared ──take──▶ sent ──▶ paid
        ▲               │└────▶ unknown ──▶ paid
        └── known to be undone ─────┘

A batch is `sent` before the call that pays is made, so that a process that dies in between leaves it so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from server.db.models import Bonus, BonusBatch, columns
from server.errors import BonusRefused

BATCH = columns(BonusBatch)
BONUS = columns(Bonus)
State = Literal["prepared", "sent", "unknown", "paid"]


@dataclass(frozen=True, slots=True)
class StoredBonus:
    """A bonus of one submission. `seen_before`: payments of the amount that it had before ours was sent."""

    submission: str
    purpose: str
    cents: int
    seen_before: int | None


@dataclass(frozen=True, slots=True)
class StoredBatch:
    """Bonuses that are paid in one call; `total` has the platform's fees and tax in it."""

    id: int
    platform_batch: str
    total: int
    state: State
    prepared_by: str
    prepared_at: datetime
    sent_at: datetime | None
    bonuses: tuple[StoredBonus, ...]


@dataclass(frozen=True, slots=True)
class NewBatch:
    """Bonuses that the platform has set up: cents by submission, all for one purpose."""

    platform_batch: str
    total: int
    purpose: str
    cents: Mapping[str, int]


def had_before(connection: Connection, purpose: str, submissions: Sequence[str]) -> list[str]:
    """Return those of the submissions that have a bonus for this purpose already, in whatever state."""
    query = select(BONUS.submission_id).where(BONUS.purpose == purpose, BONUS.submission_id.in_(submissions))
    return sorted(connection.execute(query).scalars())


def add_batch(connection: Connection, recruitment: int, new: NewBatch, by: str, at: datetime) -> int:
    """Store bonuses that were set up, and return the batch's number.

    Raises BonusRefused: one of the submissions has a bonus for this purpose already.
    """
    values = {
        "recruitment_id": recruitment,
        "platform_batch": new.platform_batch,
        "total": new.total,
        "state": "prepared",
        "prepared_by": by,
        "prepared_at": at,
    }
    made = connection.execute(insert(BonusBatch).values(values).returning(BATCH.id))
    number = int(made.scalar_one())
    rows = [
        {"batch_id": number, "submission_id": submission, "purpose": new.purpose, "cents": cents}
        for submission, cents in new.cents.items()
    ]
    try:
        connection.execute(insert(Bonus), rows)
    except IntegrityError as error:
        raise BonusRefused(f"somebody of them has a bonus for `{new.purpose}` already") from error
    return number


def batches_of(connection: Connection, recruitment: int) -> list[StoredBatch]:
    """Return the batches of a study, newest first."""
    numbers = select(BATCH.id).where(BATCH.recruitment_id == recruitment).order_by(BATCH.id.desc())
    return [find_batch(connection, recruitment, n) for n in connection.execute(numbers).scalars().all()]


def find_batch(connection: Connection, recruitment: int, number: int) -> StoredBatch:
    """Return a batch of a study. Raises BonusRefused: there is none of this number."""
    query = select(
        BATCH.id,
        BATCH.platform_batch,
        BATCH.total,
        BATCH.state,
        BATCH.prepared_by,
        BATCH.prepared_at,
        BATCH.sent_at,
    ).where(BATCH.id == number, BATCH.recruitment_id == recruitment)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise BonusRefused(f"this run has no bonuses of the number {number}")
    of_it = select(BONUS.submission_id, BONUS.purpose, BONUS.cents, BONUS.seen_before).where(
        BONUS.batch_id == number
    )
    bonuses = tuple(StoredBonus(*one) for one in connection.execute(of_it.order_by(BONUS.submission_id)))
    return StoredBatch(*row, bonuses=bonuses)


def take(connection: Connection, number: int, seen_before: Mapping[str, int], at: datetime) -> None:
    """Say that the call that pays a batch is made now: after the commit, by whoever has called this.

    Args:
        connection: a transaction.
        number: the batch's.
        seen_before: payments of the bonus' amount that each submission has so far.
        at: now.

    Raises:
        BonusRefused: it is not prepared (any more), or another one of the study is under way.
    """
    taken = update(BonusBatch).where(BATCH.id == number, BATCH.state == "prepared")
    try:
        changed = connection.execute(taken.values(state="sent", sent_at=at)).rowcount
    except IntegrityError as error:
        raise BonusRefused(
            "other bonuses of this study are being paid, or it is not known whether they were",
            "Look at those first, so that nobody is paid twice.",
        ) from error
    if changed == 0:
        raise BonusRefused("these bonuses were sent before", "Look at what became of them.")
    for submission, seen in seen_before.items():
        one = update(Bonus).where(BONUS.batch_id == number, BONUS.submission_id == submission)
        connection.execute(one.values(seen_before=seen))


def settle(connection: Connection, number: int, sent_at: datetime | None, state: State, at: datetime) -> bool:
    """Say what became of a batch that was sent at `sent_at`; return whether that was still open.

    Whoever has looked at an earlier sending says nothing of a later one, which may be under way.
    """
    open_ = update(BonusBatch).where(
        BATCH.id == number, BATCH.state.in_(["sent", "unknown"]), BATCH.sent_at == sent_at
    )
    return connection.execute(open_.values(state=state, settled_at=at)).rowcount == 1


def discard(connection: Connection, number: int) -> None:
    """Take bonuses back that were prepared. Raises BonusRefused: they were sent."""
    wanted = select(BATCH.id).where(BATCH.id == number, BATCH.state == "prepared").with_for_update()
    if connection.execute(wanted).one_or_none() is None:
        raise BonusRefused("these bonuses were sent, and cannot be taken back")
    connection.execute(delete(Bonus).where(BONUS.batch_id == number))
    connection.execute(delete(BonusBatch).where(BATCH.id == number))
