"""Bonuses in two steps, so that none is ever paid twice: prepared, which pays nothing, then paid."""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import Connection

from server.clock import utc_now
from server.db import bonuses
from server.db.audit import Doer, record
from server.db.bonuses import NewBatch, State, StoredBatch, find_batch
from server.db.recruitments import StoredRecruitment, require_recruitment
from server.db.runs import find_run
from server.db.store import Store
from server.db.submissions import submissions_of
from server.errors import BonusRefused, PlatformFailed, PlatformUnsure
from server.recruiters.prolific.client import ProlificClient
from server.recruiting.bonus_payment import Outcome, outcome
from server.recruiting.platform import Platform


class Bonuses:
    """Has bonuses prepared and paid.

    The platform pays each time that it is called. So a batch is stored as sent before the call, by one
    process alone; if no answer comes, or the process dies, it stays open and blocks all others of its study
    until `look` has found in the submissions what became of it.
    """

    def __init__(self, store: Store, platform: Platform) -> None:
        self._store = store
        self._platform = platform

    async def prepare(self, run: str, purpose: str, cents: Mapping[str, int], actor: Doer) -> StoredBatch:
        """Set bonuses up, which pays nothing, and return them with what they will cost.

        Args:
            run: whose submissions they are of.
            purpose: what for; each submission gets one bonus of a purpose, whoever asks how often.
            cents: how much, by submission.
            actor: who wants it.

        Raises:
            BonusRefused: one of them has one for this purpose, or is no submission of the run.
            NotConnected, PlatformFailed, PlatformUnsure: nothing was prepared.
        """

        def check(connection: Connection) -> StoredRecruitment:
            found = _required(connection, run)
            known = {one.id for one in submissions_of(connection, found.id)}
            unknown = sorted(set(cents) - known)
            if unknown:
                raise BonusRefused(f"no submission of this run: {', '.join(unknown)}")
            had = bonuses.had_before(connection, purpose, list(cents))
            if had:
                raise BonusRefused(
                    f"there is a bonus for `{purpose}` already of {', '.join(had)}",
                    "Another bonus takes another purpose.",
                )
            return found

        found = await self._store.read(check)
        async with self._platform.asked() as client:
            made = await client.bonuses.set_up(found.study, cents)

        def keep(connection: Connection) -> StoredBatch:
            new = NewBatch(made.id, made.total_amount, purpose, cents)
            number = bonuses.add_batch(connection, found.id, new, actor.name, utc_now())
            record(connection, actor, "bonus.prepare", run, f"{len(cents)} of {sum(cents.values())} cents")
            return find_batch(connection, found.id, number)

        return await self._store.submit(keep)

    async def pay(self, run: str, number: int, actor: Doer) -> StoredBatch:
        """Pay bonuses that were prepared, and return them as they are then.

        Raises:
            BonusRefused: they were sent before, or others of the study are under way.
            PlatformFailed: they were not paid, and are prepared as before.
            PlatformUnsure: it is not known whether they were paid: `look`, later.
        """
        found, batch = await self._store.read(lambda c: _batch(c, run, number))
        async with self._platform.asked() as client:
            payments = await _payments(client, batch)
        seen = {one.submission: payments[one.submission].count(one.cents) for one in batch.bonuses}

        sent_at = utc_now()

        def take(connection: Connection) -> None:
            record(connection, actor, "bonus.pay", run, f"batch {batch.platform_batch}")
            bonuses.take(connection, number, seen, sent_at)

        await self._store.submit(take)
        try:
            async with self._platform.asked() as client:
                await client.bonuses.pay(batch.platform_batch)
        except PlatformUnsure:
            await self._settle(number, sent_at, "unknown")
            raise
        except PlatformFailed:
            await self._settle(number, sent_at, "prepared")
            raise
        await self._settle(number, sent_at, "paid")
        return await self._store.read(lambda c: find_batch(c, found.id, number))

    async def look(self, run: str, number: int, actor: Doer) -> tuple[StoredBatch, Outcome]:
        """Look what became of bonuses that were sent; return them as they are then, and what was seen.

        Bonuses of which nothing is seen an hour after they were sent are prepared again.

        Raises:
            BonusRefused: they were never sent, or it is known that they were paid.
            NotConnected, PlatformFailed: the platform could not be asked.
        """
        found, batch = await self._store.read(lambda c: _batch(c, run, number))
        if batch.state not in {"sent", "unknown"}:
            raise BonusRefused(f"these bonuses are {batch.state}: there is nothing to find out")
        async with self._platform.asked() as client:
            payments = await _payments(client, batch)
        became = outcome(batch, payments, utc_now())
        states: dict[Outcome, State] = {"paid": "paid", "not_paid": "prepared"}
        await self._settle(number, batch.sent_at, states.get(became, "unknown"))

        def note(connection: Connection) -> StoredBatch:
            record(connection, actor, "bonus.look", run, f"batch {batch.platform_batch}: {became}")
            return find_batch(connection, found.id, number)

        return await self._store.submit(note), became

    async def discard(self, run: str, number: int, actor: Doer) -> None:
        """Take bonuses back that were prepared. Raises BonusRefused: they were sent."""

        def work(connection: Connection) -> None:
            _batch(connection, run, number)
            record(connection, actor, "bonus.discard", run, f"batch {number}")
            bonuses.discard(connection, number)

        await self._store.submit(work)

    async def _settle(self, number: int, sent_at: datetime | None, state: State) -> None:
        await self._store.submit(lambda c: bonuses.settle(c, number, sent_at, state, utc_now()))


def _required(connection: Connection, run: str) -> StoredRecruitment:
    return require_recruitment(connection, find_run(connection, run).id)


def _batch(connection: Connection, run: str, number: int) -> tuple[StoredRecruitment, StoredBatch]:
    found = _required(connection, run)
    return found, find_batch(connection, found.id, number)


async def _payments(client: ProlificClient, batch: StoredBatch) -> dict[str, tuple[int, ...]]:
    """Return what each submission of a batch was paid in bonuses, in cents."""
    details = [await client.submissions.submission(one.submission) for one in batch.bonuses]
    return {one.id: one.bonus_payments for one in details}
