"""List the students of a run who have their credit from SONA, if the server asks for it."""

from datetime import datetime
from typing import Literal

from fastapi import APIRouter, Depends
from pydantic import BaseModel
from sqlalchemy import Connection

from server.access.actor import Allowed, Caller
from server.access.auth import Auth
from server.db.audit import Doer, record
from server.db.recruiting.credits import ask_again, credits_of
from server.db.runs.runs import RunEntry, find_run
from server.db.store.store import Store
from server.recruiters.recruiter import SONA, Sona
from server.study import parse_study


class CreditRow(BaseModel):
    """What came of asking for the credit of a worker who has handed in; `due`: nothing yet.

    `granted`: SONA says that they have it. `refused`: it said anything else, and waits for a person.
    `unreachable`: it said nothing, and is asked again.
    """

    worker: str
    status: Literal["due", "granted", "refused", "unreachable"]
    reason: str
    tried_at: datetime | None


class CreditView(BaseModel):
    """The credits of a run. `asked_by_server`: its study has the server ask for them."""

    asked_by_server: bool
    credits: list[CreditRow]


class CreditsApi:
    """Shows credits, and has those asked for again that SONA has refused."""

    def __init__(self, *, store: Store, auth: Auth) -> None:
        self._store = store
        allowed = [Depends(Allowed(auth, "act_on_workers"))]
        self.router = APIRouter(
            prefix="/api/desk/runs/{run}/credits", tags=["recruiting"], dependencies=allowed
        )
        self.router.add_api_route("", self.show_credits, methods=["GET"])
        self.router.add_api_route("/again", self.ask_for_credits_again, methods=["POST"])

    async def show_credits(self, run: str) -> CreditView:
        """List the credit of everybody from SONA who has submitted, by pseudonym, or why there is none."""
        return await self._store.read(lambda connection: credit_view(connection, find_run(connection, run)))

    async def ask_for_credits_again(self, run: str, actor: Caller) -> CreditView:
        """Have SONA asked again, within half a minute, for the credits that it refused."""

        def again(connection: Connection) -> CreditView:
            entry = find_run(connection, run)
            ask_for_refused(connection, entry, actor)
            return credit_view(connection, entry)

        return await self._store.submit(again)


def credit_view(connection: Connection, run: RunEntry) -> CreditView:
    """Return the credits of a run; none where the server does not ask for them."""
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
    """Have the refused credits of a run asked for again, and log it; return how many these are."""
    number = ask_again(connection, run.id)
    record(connection, actor, "run.credits_again", run.slug, f"{number} refused credits")
    return number
