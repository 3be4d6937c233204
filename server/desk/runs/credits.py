"""List the students of a run with their SONA credit, for studies in which the server requests it."""

from datetime import datetime
from typing import Literal

from fastapi import APIRouter, Depends
from pydantic import BaseModel
from sqlalchemy import Connection

from server.access.actor import Allowed, Caller
from server.access.parts import Database
from server.db.audit import Doer, record
from server.db.recruiting.credits import ask_again, credits_of
from server.db.runs.runs import RunEntry, find_run
from server.recruiters.recruiter import SONA, Sona
from server.study import parse_study


class CreditRow(BaseModel):
    """The state of the credit of a worker who has submitted. `due`: not requested yet.

    `granted`: SONA has granted it. `refused`: SONA gave any other answer, and a researcher must decide.
    `unreachable`: SONA did not answer, and the request will be repeated.
    """

    worker: str
    status: Literal["due", "granted", "refused", "unreachable"]
    reason: str
    tried_at: datetime | None


class CreditView(BaseModel):
    """The credits of a run. `asked_by_server`: the server requests them, as set in the study."""

    asked_by_server: bool
    credits: list[CreditRow]


router = APIRouter(
    prefix="/api/desk/runs/{run}/credits",
    tags=["recruiting"],
    dependencies=[Depends(Allowed("act_on_workers"))],
)


@router.get("")
async def show_credits(run: str, store: Database) -> CreditView:
    """List the SONA credits of all students who have submitted, by pseudonym, with reasons of refusal."""
    return await store.read(lambda connection: credit_view(connection, find_run(connection, run)))


@router.post("/again")
async def ask_for_credits_again(run: str, actor: Caller, store: Database) -> CreditView:
    """Request the credits that SONA refused again, within half a minute."""

    def again(connection: Connection) -> CreditView:
        entry = find_run(connection, run)
        ask_for_refused(connection, entry, actor)
        return credit_view(connection, entry)

    return await store.submit(again)


def credit_view(connection: Connection, run: RunEntry) -> CreditView:
    """Return the credits of a run; none if the server does not request them."""
    recruiter = parse_study(run.yaml).recruiter
    if not isinstance(recruiter, Sona) or recruiter.credit != "server":
        return CreditView(asked_by_server=False, credits=[])
    found = credits_of(connection, SONA, run.id)
    rows = [
        CreditRow(worker=one.worker, status=one.status or "due", reason=one.reason, tried_at=one.tried_at)
        for one in found
    ]
    return CreditView(asked_by_server=True, credits=rows)


def ask_for_refused(connection: Connection, run: RunEntry, actor: Doer) -> int:
    """Mark the refused credits of a run to be requested again, log it, and return their number."""
    number = ask_again(connection, run.id)
    record(connection, actor, "run.credits_again", run.slug, f"{number} refused credits")
    return number
