"""Pay as people decide it: written down first, then carried out on the platform."""

from collections.abc import Collection, Sequence
from functools import partial

from sqlalchemy import Connection

from server.clock import utc_now
from server.db.audit import Doer, record
from server.db.pay_decisions import Decision, DecisionKind, StoredDecision, add_decisions, decisions_of
from server.db.recruitments import StoredRecruitment, require_recruitment
from server.db.runs import find_run
from server.db.store import Store
from server.db.submissions import set_status, submissions_of
from server.errors import PayRefused
from server.recruiters.prolific.client import ProlificClient
from server.recruiters.prolific.submissions import RejectionCategory, Status
from server.recruiting.pay_rules import AFTERWARDS, check_decision
from server.recruiting.platform import Platform


class Pay:
    """Decides of submissions' pay, and writes to participants.

    A decision is stored before the platform is asked: where the call fails, or this process dies, it is
    found as not carried out, and `repeat` asks again. Doing one twice pays once: a submission has one reward.
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
        """Store a decision of each of `submissions`, and carry it out.

        `instead_of`: the numbers of the decisions that this one replaces, of those of them that have one.
        The same decision of the same person once more, whose answer was lost, is no other one: what of it
        was not carried out is. A participant is asked only once to return a place, as that cannot be seen.

        Raises:
            DecidedAlready: somebody has decided of one of them, and that is not named; nothing was stored.
            PayRefused: it is against the rules, or one of them is not of this run; nothing was stored.
            NotConnected, PlatformFailed, PlatformUnsure: some of it was not carried out.
        """
        check_decision(decision, share, category, reason)
        made = [
            Decision(one, decision, share, category, reason, actor.name, utc_now())
            for one in dict.fromkeys(submissions)
        ]

        def keep(connection: Connection) -> tuple[StoredRecruitment, list[Decision]]:
            found = _required(connection, run, submissions)
            new = add_decisions(connection, found.id, made, instead_of)
            if new:
                record(connection, actor, f"pay.{decision}", run, f"{len(new)} submissions")
            return found, new

        found, new = await self._store.submit(keep)
        await self._carry_out(found, made if AFTERWARDS[decision] else new)

    async def repeat(self, run: str, submission: str, actor: Doer) -> None:
        """Carry out what was decided of a submission before. Raises like `decide`."""

        def find(connection: Connection) -> tuple[StoredRecruitment, StoredDecision | None]:
            found = require_recruitment(connection, find_run(connection, run).id)
            record(connection, actor, "pay.repeat", run, submission)
            return found, decisions_of(connection, found.id).get(submission)

        found, made = await self._store.submit(find)
        if made is None:
            raise PayRefused(f"nothing was decided of {submission}")
        await self._carry_out(found, [made])

    async def tell(self, run: str, submissions: Sequence[str], text: str, actor: Doer) -> None:
        """Write to the participants of submissions.

        Raises:
            PayRefused: one of them is not of this run; nobody was written to.
            NotConnected, PlatformFailed, PlatformUnsure: some were not written to.
        """

        def find(connection: Connection) -> StoredRecruitment:
            found = _required(connection, run, submissions)
            record(connection, actor, "participants.message", run, text)
            return found

        found = await self._store.submit(find)
        async with self._platform.asked() as client:
            for submission in submissions:
                whose = (await client.submissions.submission(submission)).participant
                await client.messages.send(whose, found.study, text)

    async def _carry_out(self, found: StoredRecruitment, decisions: Sequence[Decision]) -> None:
        async with self._platform.asked() as client:
            for one in decisions:
                status = await _carry_out(client, found, one)
                if status is not None:
                    said = partial(set_status, submission=one.submission, status=status, at=utc_now())
                    await self._store.submit(said)


def _required(connection: Connection, run: str, submissions: Sequence[str]) -> StoredRecruitment:
    """Return a run's study, of which these submissions are. Raises PayRefused, NotRecruiting, RunNotFound."""
    found = require_recruitment(connection, find_run(connection, run).id)
    known = {one.id for one in submissions_of(connection, found.id)}
    unknown = [one for one in submissions if one not in known]
    if unknown:
        raise PayRefused(f"no submission of this run: {', '.join(unknown)}")
    return found


async def _carry_out(client: ProlificClient, found: StoredRecruitment, one: Decision) -> Status | None:
    """Do what was decided, unless it was done; return the submission's status then."""
    now = (await client.submissions.submission(one.submission)).status
    if now in AFTERWARDS[one.decision]:
        return now
    match one.decision:
        case "approve":
            return await client.submissions.approve(one.submission)
        case "reject":
            category = RejectionCategory(one.category or "")
            return await client.submissions.reject(one.submission, category, one.reason)
        case "partial":
            code, share = found.codes["partial"], one.share or 0
            return await client.submissions.pay_in_part(one.submission, code, share, one.reason)
        case "screen_out":
            return await client.submissions.screen_out(one.submission)
        case "request_return":
            await client.submissions.request_return(one.submission, one.reason)
            return None
