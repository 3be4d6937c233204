"""Create, publish, pause, enlarge, close and read a run's study on the platform."""

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from urllib.parse import quote

from sqlalchemy import Connection

from server.clock import utc_now
from server.db.audit import Doer, record
from server.db.recruiting.pay_decisions import decisions_of, shares_decided
from server.db.recruiting.recruitments import (
    DRAFTING,
    NewRecruitment,
    StoredRecruitment,
    add_recruitment,
    note_currency,
    note_drafted,
    note_fault,
    note_reading,
    note_study,
    recruitment_of,
    remove_recruitment,
    require_recruitment,
)
from server.db.recruiting.submissions import StoredSubmission, store_submissions, submissions_of
from server.db.runs.run_rules import rules_of
from server.db.runs.runs import RunEntry, find_run
from server.db.store import Store
from server.errors import (
    NotConnected,
    NotRecruiting,
    OtherCurrency,
    PlatformFailed,
    PlatformUnsure,
    RecruitmentExists,
    ScreenOutsUnpaid,
    StudyNotDrafted,
    WrongRunStatus,
)
from server.recruiters.pay_platform import (
    EndingKind,
    PayPlatform,
    PlatformCost,
    PlatformDraft,
    PlatformStudy,
    Status,
    StudyPlan,
    Transition,
)
from server.recruiters.recruiter import PAYING, PayingRecruiter, title_of
from server.recruiting.pay_rules import standing_of
from server.recruiting.platform import Platform, new_code
from server.run_rules import Budget
from server.study import parse_study

_MOST_DETAILS = 100  # submissions read individually in one reading
_OTHER_ENDINGS: tuple[EndingKind, ...] = ("our_failure", "reported", "no_consent", "returned", "partial")
_DRAFTED_WITHIN = timedelta(minutes=10)  # longer than one request to the platform with all its retries


@dataclass(frozen=True, slots=True)
class _ClosedRun:
    """The actor in the audit log when a study is paused because its run is not open."""

    kind: str = "server"
    name: str = "run that takes nobody"


class PlatformStudies:
    """Creates and changes studies on the platform, and logs each change in the audit log.

    Every method raises RunNotFound, and NotConnected, PlatformFailed or PlatformUnsure if a request to the
    platform does not succeed.
    """

    def __init__(self, store: Store, platform: Platform, public_url: str) -> None:
        self._store = store
        self._platform = platform
        self._public_url = public_url
        self._reading = asyncio.Lock()

    async def create(self, run: str, plan: StudyPlan, actor: Doer) -> StoredRecruitment:
        """Create a draft of a run's study on the platform. Nobody sees it yet, and it costs nothing.

        The intention is stored first. So of two concurrent calls only one asks the platform, and an
        unanswered request stays visible until somebody discards it, even if the process dies.

        Raises:
            NotRecruiting: the study file does not name a recruiter with pay.
            RecruitmentExists: there is a study already, or its draft is being created.
            OtherCurrency: the run's budget has another currency than the platform; nothing was drafted.
        """
        entry, before = await self._store.read(lambda c: _run(c, run))
        if before is not None:
            raise _exists(before)
        platform, study_to_draft = _new_study(entry, plan, self._public_url)
        new = NewRecruitment(platform, plan.places, plan.reward, study_to_draft.codes)

        def begin(connection: Connection) -> StoredRecruitment:
            record(connection, actor, "recruitment.create", run, f"{plan.places} places")
            return add_recruitment(connection, entry.id, new, actor.name, utc_now())

        begun = await self._store.submit(begin)
        try:
            async with self._platform.asked(platform) as client:
                study = await client.studies.draft_new(study_to_draft)
        except PlatformUnsure as error:
            await self._note_fault(begun, error.message, utc_now())
            raise
        except (NotConnected, PlatformFailed) as error:
            why = error.message

            def undo(connection: Connection) -> None:
                record(connection, actor, "recruitment.refused", run, why)
                remove_recruitment(connection, begun.id)

            await self._store.submit(undo)
            raise

        def keep(connection: Connection) -> StoredRecruitment:
            record(connection, actor, "recruitment.drafted", run, f"study {study.id}")
            note_drafted(connection, begun.id, study.id, study.status)
            return require_recruitment(connection, entry.id)

        drafted = await self._store.submit(keep)
        try:
            return await self._with_currency(drafted)
        except OtherCurrency:
            await self.discard(run, actor)
            raise
        except (PlatformFailed, PlatformUnsure):
            return drafted  # the draft exists; its currency is read again before it is published

    async def _with_currency(self, found: StoredRecruitment) -> StoredRecruitment:
        """Read the currency of a draft, and return the study with it. Raises OtherCurrency."""
        async with self._platform.asked(found.platform) as client:
            theirs = (await client.studies.cost(found.study)).currency

        def keep(connection: Connection) -> tuple[StoredRecruitment, Budget | None]:
            note_currency(connection, found.id, theirs)
            budget = rules_of(connection, found.run_id).budget
            return require_recruitment(connection, found.run_id), budget

        stored, budget = await self._store.submit(keep)
        if budget is not None and budget.is_in_another(theirs):
            raise OtherCurrency(
                f"The budget of “{found.run}” is in {budget.currency}, "
                f"and your workspace at {title_of(found.platform)} pays in {theirs}",
                f"Write the budget in {theirs}, including fees, and try again.",
            )
        return stored

    async def discard(self, run: str, actor: Doer) -> None:
        """Delete a draft, so that another can be created; also a draft whose request was never answered.

        Raises:
            WrongRunStatus: the study was published.
            StudyNotDrafted: the request to the platform is still running.
        """
        found = await self._store.read(lambda c: _required(c, run))
        is_drafting = found.status == DRAFTING
        if is_drafting and found.fault is None and utc_now() - found.created_at < _DRAFTED_WITHIN:
            raise _not_drafted(found)
        async with self._platform.asked(found.platform) as client:
            study = await (_lost_draft(client, found) if is_drafting else client.studies.study(found.study))
            if study is not None:
                if study.status != "UNPUBLISHED":
                    raise WrongRunStatus("A published study cannot be deleted: close it instead")
                await client.studies.discard(study.id)

        def forget(connection: Connection) -> None:
            name = "none" if study is None else study.id
            record(connection, actor, "recruitment.discard", run, f"study {name}")
            remove_recruitment(connection, found.id)

        await self._store.submit(forget)

    async def publish(self, run: str, actor: Doer) -> StoredRecruitment:
        """Publish a study: participants can take part, and it costs money.

        Raises:
            WrongRunStatus: the run is not open.
            ScreenOutsUnpaid: the study has no paid screen-out places.
            OtherCurrency: the run's budget has another currency than the platform.
        """
        entry, found = await self._store.read(lambda c: (find_run(c, run), _drafted(c, run)))
        if entry.status != "open":
            raise WrongRunStatus(f"“{run}” is {entry.status}: participants would be sent away")
        await self._with_currency(found)
        async with self._platform.asked(found.platform) as client:
            study = await client.studies.study(found.study)
            if not study.pays_screen_outs:
                raise ScreenOutsUnpaid("Participants who are screened out of this study would get nothing")
            if study.status == "UNPUBLISHED":
                study = await client.studies.move(found.study, Transition.PUBLISH)
        return await self._keep(found, study, actor, "recruitment.publish")

    async def move(self, run: str, transition: Transition, actor: Doer) -> StoredRecruitment:
        """Pause, resume or close a study. Active participants can finish."""
        found = await self._store.read(lambda c: _drafted(c, run))
        async with self._platform.asked(found.platform) as client:
            study = await client.studies.move(found.study, transition)
        return await self._keep(found, study, actor, f"recruitment.{transition.value.lower()}")

    async def pause_unless_open(self, found: StoredRecruitment) -> None:
        """Pause a study whose run is not open for any reason: participants would be sent away."""
        run, now = await self._store.read(
            lambda c: (find_run(c, found.run), require_recruitment(c, found.run_id))
        )
        if run.status != "open" and now.status == "ACTIVE":
            await self.move(found.run, Transition.PAUSE, _ClosedRun())

    async def set_places(self, run: str, places: int, actor: Doer) -> StoredRecruitment:
        """Set the number of places. It cannot be reduced."""
        found = await self._store.read(lambda c: _drafted(c, run))
        async with self._platform.asked(found.platform) as client:
            study = await client.studies.set_places(found.study, places)
        return await self._keep(found, study, actor, "recruitment.places", f"{places} places")

    async def costs(self, run: str) -> tuple[PlatformCost, PlatformCost]:
        """Return a study's cost so far, and that of all its places, as the platform computes them now."""
        found = await self._store.read(lambda c: _drafted(c, run))
        async with self._platform.asked(found.platform) as client:
            spent = await client.studies.cost(found.study)
            return spent, await client.studies.cost(found.study, projected=True)

    async def refresh(self, found: StoredRecruitment) -> None:
        """Read a study and all its submissions from the platform, and store them.

        If that fails, the reason is stored and raised, and earlier data stay. Readings of one process never
        overlap; among several processes, the reading that began last counts. Raises StudyNotDrafted.
        """
        if found.status == DRAFTING:
            raise _not_drafted(found)
        async with self._reading:
            began = utc_now()
            try:
                async with self._platform.asked(found.platform) as client:
                    await self._read(client, found, began)
            except (PlatformFailed, PlatformUnsure) as error:
                await self._note_fault(found, error.message, began)
                raise
            if found.currency is None:
                await self._read_currency(found)

    async def _read(self, client: PayPlatform, found: StoredRecruitment, began: datetime) -> None:
        study = await client.studies.study(found.study)
        listed = [
            StoredSubmission(one.id, one.status, one.started_at, one.completed_at, one.study_code)
            async for one in client.submissions.of_study(found.study)
        ]
        submissions = await self._with_shares(client, found, listed)

        def keep(connection: Connection) -> None:
            now = utc_now()
            if note_reading(connection, found.id, study.status, study.total_available_places, began, now):
                store_submissions(connection, found.id, submissions, began, now)

        await self._store.submit(keep)

    async def _with_shares(
        self, client: PayPlatform, found: StoredRecruitment, listed: list[StoredSubmission]
    ) -> list[StoredSubmission]:
        """Return submissions with the paid shares, which the platform's list does not contain.

        Decided submissions with an unknown paid share are read individually, a limited number at each
        reading.
        """
        known, decided, shares = await self._store.read(
            lambda c: (
                {one.id: one for one in submissions_of(c, found.id)},
                decisions_of(c, found.id),
                shares_decided(c, found.id),
            )
        )
        read, asked = [], 0
        for one in listed:
            before = known.get(one.id)
            if one.status != Status.APPROVED or before is None:
                read.append(one)
            elif before.status == Status.PARTIALLY_APPROVED:
                read.append(replace(one, status=before.status))
            elif before.paid_share is None and one.id in decided and asked < _MOST_DETAILS:
                asked += 1
                status = (await client.submissions.submission(one.id)).status
                paid = standing_of(status, None, shares.get(one.id, ())).paid_share
                read.append(replace(one, status=status, paid_share=paid))
            else:
                read.append(one)
        return read

    async def _note_fault(self, found: StoredRecruitment, why: str, began: datetime) -> None:
        await self._store.submit(lambda c: note_fault(c, found.id, why, began, utc_now()))

    async def _read_currency(self, found: StoredRecruitment) -> None:
        """Read and store the currency of a study; store the reason with the study if that fails."""
        try:
            async with self._platform.asked(found.platform) as client:
                currency = (await client.studies.cost(found.study)).currency
        except (PlatformFailed, PlatformUnsure) as error:
            await self._note_fault(found, f"the currency was not read: {error.message}", utc_now())
        else:
            await self._store.submit(lambda c: note_currency(c, found.id, currency))

    async def _keep(
        self, found: StoredRecruitment, study: PlatformStudy, actor: Doer, action: str, detail: str = ""
    ) -> StoredRecruitment:
        def keep(connection: Connection) -> StoredRecruitment:
            note_study(connection, found.id, study.status, study.total_available_places)
            record(connection, actor, action, found.run, detail)
            return require_recruitment(connection, found.run_id)

        return await self._store.submit(keep)


def _run(connection: Connection, run: str) -> tuple[RunEntry, StoredRecruitment | None]:
    entry = find_run(connection, run)
    return entry, recruitment_of(connection, entry.id)


def _required(connection: Connection, run: str) -> StoredRecruitment:
    return require_recruitment(connection, find_run(connection, run).id)


def _drafted(connection: Connection, run: str) -> StoredRecruitment:
    found = _required(connection, run)
    if found.status == DRAFTING:
        raise _not_drafted(found)
    return found


def _new_study(entry: RunEntry, plan: StudyPlan, public_url: str) -> tuple[str, PlatformDraft]:
    """Return the recruiter of a run, and the study to draft there, with a new code for each ending.

    Raises NotRecruiting if the study file does not name a recruiter with pay.
    """
    study = parse_study(entry.yaml)
    recruiter = study.recruiter
    if not isinstance(recruiter, PayingRecruiter):
        titles = " or ".join(one.title for one in PAYING.values())
        raise NotRecruiting(
            f"The study of “{entry.slug}” does not recruit at {titles}",
            f"Choose {titles} on the run's page, under Recruiting. Or set in the study that workers come "
            "from there, and open a run of it.",
        )
    codes: dict[EndingKind, str] = {"complete": recruiter.completion_code}
    codes |= {ending: new_code() for ending in _OTHER_ENDINGS}
    if plan.screen_out_places and plan.screen_out_reward:
        codes["screened_out"] = new_code()
    return recruiter.kind, PlatformDraft(
        run=entry.slug,
        title=study.title,
        description=plan.description or f"{study.title}. {study.payment}",
        address=f"{public_url}/w/{quote(entry.slug)}",
        minutes=plan.minutes or study.minutes or 30,
        plan=plan,
        codes=codes,
        signed=recruiter.signs_arrivals,
    )


def _not_drafted(found: StoredRecruitment) -> StudyNotDrafted:
    return StudyNotDrafted(f"{_begun(found)}, and has not answered")


def _exists(found: StoredRecruitment) -> RecruitmentExists:
    if found.status == DRAFTING:
        return RecruitmentExists(f"{_begun(found)} already", StudyNotDrafted.hint)
    return RecruitmentExists(f"“{found.run}” has the study {found.study} there already")


def _begun(found: StoredRecruitment) -> str:
    when = f"{found.created_at:%Y-%m-%d %H:%M:%S} UTC"
    title = title_of(found.platform)
    return f"{found.created_by} has asked {title} at {when} to draft the study of “{found.run}”"


async def _lost_draft(client: PayPlatform, found: StoredRecruitment) -> PlatformStudy | None:
    """Return the draft that the platform created without answering; None if it created none."""
    ours = set(found.codes.values())
    async for name in client.studies.drafts(found.run):
        study = await client.studies.study(name)
        if ours <= study.codes:
            return study
    return None
