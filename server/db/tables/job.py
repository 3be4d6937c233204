"""The tables by which processes know of each other's work: jobs, leases, and what has changed."""

from datetime import datetime

from sqlmodel import Field

from server.db.tables.table import Table


class Job(Table, table=True):
    """Something that the server does in the background for a run: a report, a rehearsal.

    `options` and `result` are JSON. `step`, `done`, `total`: how far it is. `error`: why it failed.
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
    """Which process does what may be done by one at a time. Once `until` has passed, another may."""

    __tablename__ = "job_lease"
    name: str = Field(primary_key=True)
    holder: str
    until: datetime


class Revision(Table, table=True):
    """How often a subject, bots or runs, has changed: `revisions`."""

    subject: str = Field(primary_key=True)
    number: int
