"""Pay bonuses in two steps, prepare and pay, so that no bonus is ever paid twice."""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import Connection

from server.clock import utc_now
from server.db.audit import Doer, record
from server.db.recruiting import bonuses
from server.db.recruiting.bonuses import (
    OPEN,
    NewBatch,
    State,
    StoredBatch,
    batches_of,
    find_batch,
    purpose_key,
)
from server.db.recruiting.recruitments import StoredRecruitment, lock_recruitment, require_recruitment
from server.db.recruiting.submissions import submissions_of
from server.db.runs.run_rules import rules_of
from server.db.runs.runs import RunEntry, find_run
from server.db.runs.standing import standing
from server.db.store.store import Store
from server.errors import BonusRefused, NeedsConfirmation, PlatformFailed
from server.recruiters.pay_platform import PayPlatform
from server.recruiting.bonus_payment import Funds, Outcome, is_sent, outcome, seen_paid, unusual
from server.recruiting.platform import Platform
from server.study import parse_study


class Bonuses:
    """Prepares and pays bonuses.

    The platform pays at every call. So exactly one process stores a batch as `unknown` before the call; if no
    answer comes, or the process dies, the batch stays `unknown` and blocks all others of its study. An answer
    only means that the platform will pay: the batch is then `sent`, and `reconcile` or `look` reads the
    submissions until all its payments are seen.
    """

    def __init__(self, store: Store, platform: Platform) -> None:
        self._store = store
        self._platform = platform

    async def prepare(
        self, run: str, purpose: str, cents: Mapping[str, int], actor: Doer, *, confirmed: bool = False
    ) -> StoredBatch:
        """Prepare bonuses without paying, and return them with their cost.

        Args:
            run: the run of the submissions.
            purpose: what the bonuses are for; each submission gets at most one bonus per purpose.
            cents: the amounts, by submission.
            actor: the caller.
            confirmed: whether the caller has confirmed unusual amounts.

        Raises:
            BonusRefused: a submission has a bonus for this purpose already, or does not belong to the run.
            NeedsConfirmation: the amounts are unusual and not `confirmed`.
            NotConnected, PlatformFailed, PlatformUnsure: nothing was prepared.
        """
        found = await self._store.read(lambda c: _preparable(c, run, purpose, cents, confirmed=confirmed))
        async with self._platform.asked(found.platform) as client:
            made = await client.bonuses.set_up(found.study, cents)

        def keep(connection: Connection) -> StoredBatch:
            lock_recruitment(connection, found.id)  # of two concurrent calls, the second counts the first
            _preparable(connection, run, purpose, cents, confirmed=confirmed)
            new = NewBatch(made.id, made.total_amount, purpose, cents)
            number = bonuses.add_batch(connection, found.id, new, actor.name, utc_now())
            record(connection, actor, "bonus.prepare", run, f"{len(cents)} of {sum(cents.values())} cents")
            return find_batch(connection, found.id, number)

        return await self._store.submit(keep)

    async def pay(self, run: str, number: int, actor: Doer) -> StoredBatch:
        """Pay prepared bonuses, and return the batch, which is then `sent`, but not seen paid yet.

        Raises:
            BonusRefused: they were sent before, or others of the study or of its submissions are open.
            PlatformFailed: they were not paid, and stay prepared.
            PlatformUnsure: it is unknown whether they were paid; call `look` later.
        """
        found, batch = await self._store.read(lambda c: _batch(c, run, number))
        sent_at = utc_now()

        def take(connection: Connection) -> None:
            record(connection, actor, "bonus.pay", run, f"batch {batch.platform_batch}")
            bonuses.take(connection, number, sent_at)

        await self._store.submit(take)
        try:
            async with self._platform.asked(found.platform) as client:
                await self._count_before(client, batch, sent_at)
                await client.bonuses.pay(batch.platform_batch)
        except PlatformFailed:
            await self._settle(number, sent_at, "prepared")
            raise
        await self._settle(number, sent_at, "sent")
        return await self._store.read(lambda c: find_batch(c, found.id, number))

    async def look(self, run: str, number: int, actor: Doer) -> tuple[StoredBatch, Outcome]:
        """Check whether sent bonuses were paid; return the batch and the outcome.

        Bonuses that are not paid an hour after they were sent become prepared again.

        Raises:
            BonusRefused: they were never sent, or are known to be paid.
            NotConnected, PlatformFailed: the platform could not be read.
        """
        found, batch = await self._store.read(lambda c: _batch(c, run, number))
        if batch.state not in OPEN:
            raise BonusRefused(f"These bonuses are {batch.state}: there is nothing to check")
        became = await self._look(batch)
        if became == "not_paid":
            await self._settle(number, batch.sent_at, "prepared")

        def note(connection: Connection) -> StoredBatch:
            record(connection, actor, "bonus.look", run, f"batch {batch.platform_batch}: {became}")
            return find_batch(connection, found.id, number)

        return await self._store.submit(note), became

    async def reconcile(self, batches: list[StoredBatch]) -> None:
        """Read and store which bonuses of open batches are paid by now. A batch without any stays open.

        Raises NotConnected, PlatformFailed if the platform could not be read.
        """
        for batch in batches:
            await self._look(batch)

    async def reconcile_run(self, run: str) -> None:
        """Store which open bonuses of a run are paid by now. Raises like `reconcile`."""
        await self.reconcile(await self._store.read(lambda c: batches_of(c, _required(c, run).id, OPEN)))

    async def discard(self, run: str, number: int, actor: Doer) -> None:
        """Discard prepared bonuses. Raises BonusRefused if they were sent."""

        def work(connection: Connection) -> None:
            _batch(connection, run, number)
            record(connection, actor, "bonus.discard", run, f"batch {number}")
            bonuses.discard(connection, number)

        await self._store.submit(work)

    async def _count_before(self, client: PayPlatform, batch: StoredBatch, sent_at: datetime) -> None:
        """Count the earlier payments of the batch's submissions, while no other bonus of theirs is open."""
        payments = await _payments(client, batch)
        seen = {one.submission: payments[one.submission].count(one.cents) for one in batch.bonuses}
        await self._store.submit(lambda c: bonuses.note_seen_before(c, batch.id, sent_at, seen))

    async def _look(self, batch: StoredBatch) -> Outcome:
        payments: dict[str, tuple[int, ...]] = {}
        if is_sent(batch):
            async with self._platform.asked(batch.platform) as client:
                payments = await _payments(client, batch)
        now, paid = utc_now(), seen_paid(batch, payments)
        became = outcome(batch, paid, now)

        def keep(connection: Connection) -> None:
            bonuses.note_seen(connection, batch.id, batch.sent_at, paid, now)
            if became == "paid":
                bonuses.settle(connection, batch.id, batch.sent_at, "paid", now)

        await self._store.submit(keep)
        return became

    async def _settle(self, number: int, sent_at: datetime | None, state: State) -> None:
        await self._store.submit(lambda c: bonuses.settle(c, number, sent_at, state, utc_now()))


def _preparable(
    connection: Connection, run: str, purpose: str, cents: Mapping[str, int], *, confirmed: bool
) -> StoredRecruitment:
    """Return a run's study. Raises BonusRefused or NeedsConfirmation if these bonuses cannot be prepared."""
    entry = find_run(connection, run)
    found = require_recruitment(connection, entry.id)
    known = {one.id for one in submissions_of(connection, found.id)}
    unknown = sorted(set(cents) - known)
    if unknown:
        raise BonusRefused(f"These are not submissions of this run: {', '.join(unknown)}")
    if not purpose_key(purpose):
        raise BonusRefused("The purpose has no visible characters", "Write what the bonus is for.")
    had = bonuses.had_before(connection, purpose, list(cents))
    if had:
        raise BonusRefused(
            f"There is already a bonus for `{purpose}` of {', '.join(had)}",
            "For another bonus, choose another purpose.",
        )
    why = unusual(cents, _funds(connection, entry, found))
    if why and not confirmed:
        raise NeedsConfirmation(". ".join(why))
    return found


def _funds(connection: Connection, entry: RunEntry, found: StoredRecruitment) -> Funds:
    """Return the amounts with which bonuses of a run are compared."""
    rules = rules_of(connection, entry.id)
    counts = standing(connection, entry.id, parse_study(entry.yaml), rules).counts
    before = sum(one.cents for batch in batches_of(connection, found.id) for one in batch.bonuses)
    rewards = counts.paid + counts.part_paid
    return Funds(found.reward, found.places, found.currency, before, rules.budget, rewards)


def _required(connection: Connection, run: str) -> StoredRecruitment:
    return require_recruitment(connection, find_run(connection, run).id)


def _batch(connection: Connection, run: str, number: int) -> tuple[StoredRecruitment, StoredBatch]:
    found = _required(connection, run)
    return found, find_batch(connection, found.id, number)


async def _payments(client: PayPlatform, batch: StoredBatch) -> dict[str, tuple[int, ...]]:
    """Return the bonus payments in cents of each submission of a batch whose bonus was not seen yet."""
    unseen = [one.submission for one in batch.bonuses if one.seen_at is None]
    details = [await client.submissions.submission(one) for one in unseen]
    return {one.id: one.bonus_payments for one in details}
