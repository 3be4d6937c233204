"""Pay bonuses in two steps, prepare and pay, so that no bonus is ever paid twice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal

from sqlalchemy import Connection

from server.clock import utc_now
from server.db.audit import Doer, record
from server.db.recruiting import bonuses
from server.db.recruiting.bonuses import (
    OPEN,
    NewBatch,
    State,
    StoredBatch,
    StoredBonus,
    batches_of,
    find_batch,
    purpose_key,
)
from server.db.recruiting.recruitments import StoredRecruitment, lock_recruitment, require_recruitment
from server.db.recruiting.submissions import submissions_of
from server.db.runs.run_rules import rules_of, standing
from server.db.runs.runs import RunEntry, find_run
from server.db.store import Store
from server.errors import BonusRefused, NeedsConfirmation, PlatformFailed
from server.recruiters.pay_platform import PayPlatform, shown_amount
from server.recruiting.platform import Platform
from server.run_rules import Budget
from server.study import parse_study

# The platform pays in the background, "in the following minutes". Later than this, a payment counts as
# missing.
SETTLES_WITHIN = timedelta(hours=1)
Outcome = Literal["paid", "not_paid", "too_early", "mixed"]


@dataclass(frozen=True, slots=True)
class Funds:
    """Amounts with which bonuses are compared, in cents of `currency` without fees.

    `bonuses`: the sum of all bonuses prepared before. `paid`: the number of rewards due by now, including
    shares.
    """

    reward: int
    places: int
    currency: str | None
    bonuses: int
    budget: Budget | None
    paid: Decimal | int


def unusual(cents: Mapping[str, int], funds: Funds) -> list[str]:
    """Return sentences that say why bonuses are unusual; none if they are not.

    A bonus is unusual if it exceeds the study's reward. All bonuses together are unusual if they exceed what
    is left of the run's budget, including fees, or without a budget, the sum of all rewards of the study.
    """
    found = []
    most = max(cents.values())
    if most > funds.reward:
        one, reward = (shown_amount(amount, funds.currency) for amount in (most, funds.reward))
        found.append(f"A bonus of {one} is more than the study's reward of {reward}")
    total = funds.bonuses + sum(cents.values())
    left, of = _left_for_bonuses(funds)
    if total > left:
        all_, most_ = (shown_amount(max(amount, 0), funds.currency) for amount in (total, left))
        found.append(f"All bonuses of the run together are {all_}, which is more than {of}: {most_}")
    return found


def _left_for_bonuses(funds: Funds) -> tuple[int, str]:
    if funds.budget is None:
        return funds.places * funds.reward, "all rewards of the study"
    budget = funds.budget
    left = (budget.total - funds.paid * budget.per_assignment) / (1 + budget.fee_share)
    return int(left * Decimal(100)), "what the run's budget has left"


def seen_paid(batch: StoredBatch, payments: Mapping[str, Sequence[int]]) -> set[str]:
    """Return the submissions of a batch whose bonus is paid.

    Args:
        batch: the sent batch.
        payments: the platform's bonus payments so far, in cents by submission. A payment that was not there
            before the batch was sent belongs to the batch, because no other bonus of the submission is open.
    """
    return {one.submission for one in batch.bonuses if _is_paid(one, payments.get(one.submission, ()))}


def outcome(batch: StoredBatch, paid: set[str], now: datetime) -> Outcome:
    """Return the outcome of a sent batch.

    `mixed`: only some of its bonuses are paid although all should be. A person must check it, because another
    call would pay the first ones twice.

    Args:
        batch: the sent batch.
        paid: the submissions whose bonus was seen paid.
        now: the time of the reading.
    """
    if len(paid) == len(batch.bonuses):
        return "paid"
    if is_sent(batch) and not is_overdue(batch, now):
        return "too_early"
    return "mixed" if paid else "not_paid"


def is_sent(batch: StoredBatch) -> bool:
    """Return whether the paying call may have been made: earlier payments are counted just before it."""
    return all(one.seen_before is not None for one in batch.bonuses)


def is_overdue(batch: StoredBatch, now: datetime) -> bool:
    """Return whether a batch should be paid by now, but was not seen paid."""
    return batch.state in OPEN and batch.sent_at is not None and now - batch.sent_at >= SETTLES_WITHIN


def is_due(batch: StoredBatch, looked: datetime | None, now: datetime) -> bool:
    """Return whether to check an open batch again, which is due after another quarter of its age.

    `looked`: the time of the latest check; None: never.
    """
    if looked is None or batch.sent_at is None:
        return True
    return (now - looked) * 4 >= looked - batch.sent_at


def _is_paid(bonus: StoredBonus, payments: Sequence[int]) -> bool:
    if bonus.seen_at is not None:
        return True
    return bonus.seen_before is not None and payments.count(bonus.cents) > bonus.seen_before


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
            f"There is already a bonus for “{purpose}” of {', '.join(had)}",
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
