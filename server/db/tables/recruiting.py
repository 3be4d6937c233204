"""The tables of recruiting and pay: a platform's data, people's decisions, and bonuses.

They contain no participant's name: a submission leads to a worker through the table `visit`.
"""

from datetime import datetime
from typing import ClassVar

from sqlalchemy import Index, UniqueConstraint
from sqlmodel import Field

from server.db.tables.table import TableBase, index_where


class RecruitmentTable(TableBase, table=True):
    """A run's study on a platform. `status` and `places` are as last read from the platform.

    `reward` is in cents of the `currency` in which the platform pays the study; null if the platform has not
    told it. `fault`: why the last reading failed.
    """

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id", unique=True)
    platform: str
    study: str
    status: str
    places: int
    reward: int
    currency: str | None = None
    created_at: datetime
    created_by: str
    read_at: datetime | None = None
    fault: str | None = None


class RecruitmentCodeTable(TableBase, table=True):
    """The completion code with which workers return to the platform after an ending of this kind."""

    recruitment_id: int = Field(foreign_key="recruitment.id", primary_key=True)
    ending: str = Field(primary_key=True)
    code: str


class SubmissionTable(TableBase, table=True):
    """A submission in its last known state; `id` is the platform's.

    `paid_share`: the per cent of the reward that is known to be paid; null: nothing, or unknown.
    """

    id: str = Field(primary_key=True)
    recruitment_id: int = Field(foreign_key="recruitment.id", index=True)
    status: str
    started_at: datetime
    completed_at: datetime | None = None
    code: str | None = None
    read_at: datetime
    paid_share: int | None = None


class PaymentDecisionTable(TableBase, table=True):
    """A person's decision about a submission's pay. Rows are never changed; the latest counts.

    `share`: the per cent of the reward, if it is paid in part.
    """

    id: int | None = Field(default=None, primary_key=True)
    submission_id: str = Field(foreign_key="submission.id", index=True)
    decision: str
    share: int | None = None
    category: str | None = None
    reason: str
    decided_by: str
    decided_at: datetime


class BonusBatchTable(TableBase, table=True):
    """Bonuses that are paid in one call, with their state; see `server.db.recruiting.bonuses`.

    `platform_batch`: the platform's id. `total`: the cost in cents, with fees and tax. `sent_at`: when paying
    began. `settled_at`: when the state last changed after that.
    """

    __table_args__ = (
        # So that a platform that pays at each call is never called twice at once.
        index_where("state = 'unknown'", "one_bonus_batch_under_way", "recruitment_id", unique=True),
    )
    id: int | None = Field(default=None, primary_key=True)
    recruitment_id: int = Field(foreign_key="recruitment.id")
    platform_batch: str
    total: int
    state: str
    prepared_by: str
    prepared_at: datetime
    sent_at: datetime | None = None
    settled_at: datetime | None = None


class BonusTable(TableBase, table=True):
    """A bonus of one submission. There is one for each `purpose`, so that nobody gets the same one twice.

    `purpose_key`: the purpose in a form for comparison. `seen_before`: how many payments of this amount the
    platform showed for the submission before ours was sent; null if it was not sent. `seen_at`: when the
    payment was first seen there.
    """

    __table_args__ = (
        UniqueConstraint("submission_id", "purpose"),
        Index("one_bonus_of_a_purpose", "submission_id", "purpose_key", unique=True),
    )
    batch_id: int = Field(foreign_key="bonus_batch.id", primary_key=True)
    submission_id: str = Field(foreign_key="submission.id", primary_key=True)
    purpose: str
    purpose_key: str | None = None
    cents: int
    seen_before: int | None = None
    seen_at: datetime | None = None


class CreditTable(TableBase, table=True):
    """The result of asking SONA for a worker's credit: granted, refused with a reason, or unreachable."""

    run_id: int = Field(foreign_key="run.id", primary_key=True)
    worker_id: int = Field(foreign_key="worker.id", primary_key=True)
    status: str
    reason: str
    tried_at: datetime


class PlatformEventTable(TableBase, table=True):
    """A platform's event that was handled. Ids are not signed there, but a copy has the same signature."""

    removed_with: ClassVar = "a day later, as others come"

    id: str = Field(primary_key=True)
    signature: str = Field(unique=True)
    received_at: datetime = Field(index=True)
