"""Decide submissions' pay: store each decision first, then carry it out on the platform."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection

from server.clock import utc_now
from server.db.audit import Doer, record
from server.db.recruiting.pay_decisions import (
    DecisionKind,
    PayShare,
    StoredDecision,
    add_decisions,
    decisions_of,
    new_decisions,
    shares_decided,
)
from server.db.recruiting.recruitments import StoredRecruitment, require_recruitment
from server.db.recruiting.submissions import set_status, submissions_of
from server.db.runs.runs import find_run
from server.db.store import Store
from server.errors import PayRefused
from server.recruiters.pay_platform import PayPlatform, PlatformRefused, RejectionCategory, Status
from server.recruiters.recruiter import title_of
from server.recruiting.pay_rules import (
    ALL,
    PayStanding,
    check_decision,
    check_possible,
    in_words,
    is_done,
    is_unknown_part,
    standing_of,
)
from server.recruiting.platform import Platform


class Pay:
    """Decides submissions' pay, and sends messages to participants.

    A decision is checked against what the platform can still do, and stored before the platform is called. If
    the call fails, or this process dies, it shows up as not carried out, and `repeat` calls again. Carrying a
    decision out twice pays once, because a submission has one reward.
    """

    def __init__(self, store: Store, platform: Platform) -> None:
        self._store = store
        self._platform = platform

    async def decide(
        self,
        run: str,
        submissions: Sequence[str],
        decision: DecisionKind,
        actor: Doer,
        *,
        share: int | None = None,
        category: str | None = None,
        reason: str = "",
        instead_of: Collection[int] = (),
    ) -> None:
        """Store a decision about each of `submissions`, and carry it out.

        `instead_of`: the numbers of the decisions that this one replaces.
        The same decision by the same person counts once, so a request with a lost response can be repeated:
        only the missing part is carried out. A participant is asked to return a place only once, because the
        platform does not show that request.

        Raises:
            DecidedAlready: there is another decision that `instead_of` does not name; nothing was stored.
            PayRefused: the decision breaks a rule, a submission is not of this run, or the platform cannot
                carry it out (any more); nothing was stored.
            NotConnected, PlatformFailed, PlatformUnsure: a part was not carried out; if nothing could be
                read, it was not stored either.
        """
        check_decision(decision, share, category, reason)
        made = [
            PayShare(one, decision, share, category, reason, actor.name, utc_now())
            for one in dict.fromkeys(submissions)
        ]

        def begin(connection: Connection) -> tuple[_Known, set[str]]:
            known = _known(connection, run, submissions)
            new = new_decisions(made, decisions_of(connection, known.found.id), instead_of)
            return known, {one.submission for one in new}

        known, new = await self._store.read(begin)
        platform = known.found.platform
        async with self._platform.asked(platform) as client:
            standings = {one.submission: await _standing(client, known, one.submission) for one in made}
        for one in sorted(new):
            check_possible(one, decision, share, standings[one], title_of(platform))

        def keep(connection: Connection) -> list[PayShare]:
            added = add_decisions(connection, known.found.id, made, instead_of)
            if added:
                noun = "submission" if len(added) == 1 else "submissions"
                record(connection, actor, f"pay.{decision}", run, f"{len(added)} {noun}")
            for one in added:
                if is_unknown_part(standings[one.submission]):  # it says what its person saw there
                    status = standings[one.submission].status
                    set_status(connection, one.submission, status, share, utc_now())
            return added

        added = await self._store.submit(keep)
        todo = added if decision == "request_return" else made
        stated = {one.submission for one in added if is_unknown_part(standings[one.submission])}
        await self._carry_out(known, [one for one in todo if one.submission not in stated], standings)

    async def repeat(self, run: str, submission: str, actor: Doer) -> None:
        """Carry out the stored decision about a submission again. Raises like `decide`."""

        def find(connection: Connection) -> tuple[_Known, StoredDecision | None]:
            known = _known(connection, run, [submission])
            record(connection, actor, "pay.repeat", run, submission)
            return known, decisions_of(connection, known.found.id).get(submission)

        known, made = await self._store.submit(find)
        if made is None:
            raise PayRefused(f"There is no decision about {submission}")
        async with self._platform.asked(known.found.platform) as client:
            now = await _standing(client, known, submission)
        await self._carry_out(known, [made], {submission: now})

    async def tell(self, run: str, submissions: Sequence[str], text: str, actor: Doer) -> None:
        """Send a message to the participants of submissions.

        Raises:
            PayRefused: a submission is not of this run; no message was sent.
            NotConnected, PlatformFailed, PlatformUnsure: some messages were not sent.
        """

        def find(connection: Connection) -> StoredRecruitment:
            found = _known(connection, run, submissions).found
            record(connection, actor, "participants.message", run, text)
            return found

        found = await self._store.submit(find)
        async with self._platform.asked(found.platform) as client:
            for submission in submissions:
                whose = (await client.submissions.submission(submission)).participant
                await client.messages.send(whose, found.study, text)

    async def _carry_out(
        self, known: "_Known", decisions: Sequence[PayShare], standings: Mapping[str, PayStanding]
    ) -> None:
        async with self._platform.asked(known.found.platform) as client:
            for one in decisions:
                now = await _carry_out(client, known, one, standings[one.submission])
                said = partial(
                    set_status,
                    submission=one.submission,
                    status=now.status,
                    paid_share=now.paid_share,
                    at=utc_now(),
                )
                await self._store.submit(said)


@dataclass(frozen=True, slots=True)
class _Known:
    """A study, with the known paid and decided shares of its submissions."""

    found: StoredRecruitment
    paid_shares: Mapping[str, int | None]
    decided_shares: Mapping[str, set[int]]


def _known(connection: Connection, run: str, submissions: Sequence[str]) -> _Known:
    """Return the run's study with these submissions. Raises PayRefused, NotRecruiting, RunNotFound."""
    found = require_recruitment(connection, find_run(connection, run).id)
    paid = {one.id: one.paid_share for one in submissions_of(connection, found.id)}
    unknown = [one for one in submissions if one not in paid]
    if unknown:
        raise PayRefused(f"These are not submissions of this run: {', '.join(unknown)}")
    return _Known(found, paid, shares_decided(connection, found.id))


async def _standing(client: PayPlatform, known: _Known, submission: str) -> PayStanding:
    """Read the current state of a submission at the platform."""
    status = (await client.submissions.submission(submission)).status
    return standing_of(status, known.paid_shares[submission], known.decided_shares.get(submission, ()))


async def _carry_out(client: PayPlatform, known: _Known, one: PayShare, now: PayStanding) -> PayStanding:
    """Carry out a decision unless that was done already; return the submission's new state.

    `now`: its state when it was last read.
    """
    if is_done(one.decision, one.share, now):
        return now
    title = title_of(known.found.platform)
    if is_unknown_part(now):
        raise PayRefused(
            f"{one.submission} {in_words(now, title)}", "Look the share up there, and decide that share."
        )
    check_possible(one.submission, one.decision, one.share, now, title)
    try:
        return await _done(client, known.found, one, now)
    except PlatformRefused:  # somebody else may have done the same a moment ago
        then = await _standing(client, known, one.submission)
        if is_done(one.decision, one.share, then):
            return then
        raise


async def _done(
    client: PayPlatform, found: StoredRecruitment, one: PayShare, now: PayStanding
) -> PayStanding:
    """Carry out a decision at the platform; return the submission's new state."""
    match one.decision:
        case "approve":
            return PayStanding(await client.submissions.approve(one.submission), ALL)
        case "reject":
            category = RejectionCategory(one.category or "")
            return PayStanding(await client.submissions.reject(one.submission, category, one.reason), None)
        case "partial":
            code, share = found.codes["partial"], one.share or 0
            await client.submissions.pay_in_part(one.submission, code, share, one.reason)
            return PayStanding(Status.PARTIALLY_APPROVED, share)  # the answer calls it approved
        case "screen_out":
            return PayStanding(await client.submissions.screen_out(one.submission), None)
        case "request_return":
            await client.submissions.request_return(one.submission, one.reason)
            return now
