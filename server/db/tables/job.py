"""The tables that coordinate processes: jobs, leases, and revisions."""

from datetime import datetime

from sqlmodel import Field

from server.db.tables.table import Table


class Job(Table, table=True):
    """A background job for a run, such as a report or a rehearsal.

    `options` and `result` are JSON. `step`, `done`, `total`: its progress. `error`: why it failed.
    """

    id: str = Field(primary_key=True)
    kind: str
    run_id: int = Field(foreign_key="run.id", index=True)
    status: str
    options: str
    created_at: datetime
    ended_at: datetime | None = None
    step: str = ""
    done: int = 0
    total: int = 0
    error: str | None = None
    result: str | None = None


class JobLease(Table, table=True):
    """The process that does a task that only one may do at a time. After `until`, another may take it."""

    __tablename__ = "job_lease"
    name: str = Field(primary_key=True)
    holder: str
    until: datetime


class Revision(Table, table=True):
    """The number of changes of a subject (bots or runs): `revisions`."""

    subject: str = Field(primary_key=True)
    number: int
