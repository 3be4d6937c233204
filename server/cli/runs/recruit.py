"""`candor recruit`: links for workers, a study on a platform, and pay for its participants."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, TypeVar

import typer
from rich.markup import escape
from rich.table import Table

from candor.common.terminal import agree, console, fail
from server.cli.installation import Data, settings_from, transaction_or_fail
from server.cli.runs.worker_lists import links, student_credits
from server.db.audit import CommandLine
from server.db.recruiting.bonuses import State, StoredBatch
from server.db.recruiting.pay_decisions import DecisionKind
from server.db.recruiting.recruitments import StoredRecruitment, require_recruitment
from server.db.runs.runs import find_run
from server.db.store import Store
from server.errors import CandorError, NeedsConfirmation
from server.recruiters.pay_platform import StudyPlan, Transition, shown_amount
from server.recruiters.recruiter import PAYING, title_of
from server.recruiting.bonuses import Bonuses
from server.recruiting.listening import subscribe
from server.recruiting.pay import Pay
from server.recruiting.platform import Platform, hook_secret_variable, platform_of
from server.recruiting.responses import DifferenceRow, RecruitmentDetail, SubmissionRow, recruitment_view
from server.recruiting.studies import PlatformStudies

cli = typer.Typer(
    help="Bring workers to a run and pay them. Commands for a platform need its token (`CANDOR_…_TOKEN`).",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
cli.command("links")(links)
cli.command("credits")(student_credits)
T = TypeVar("T")
_ME = CommandLine()
Run = Annotated[str, typer.Argument(metavar="RUN", help="The run's name.")]
Submissions = Annotated[list[str], typer.Argument(metavar="SUBMISSION…", help="Ids of submissions.")]
Batch = Annotated[int, typer.Argument(metavar="BATCH", help="The batch number that `bonus` printed.")]
InsteadOf = Annotated[
    list[int] | None, typer.Option(help="The number of a decision that this one replaces; may be repeated.")
]
Reason = Annotated[str, typer.Option(help="The reason, which the participant reads.")]


@dataclass(frozen=True)
class _Rooms:
    """The recruiting services that commands use, over one store."""

    store: Store
    studies: PlatformStudies
    pay: Pay
    bonuses: Bonuses
    platform: Platform

    async def required(self, run: str) -> StoredRecruitment:
        """Return a run's study. Raises NotRecruiting, RunNotFound."""
        return await self.store.read(lambda c: require_recruitment(c, find_run(c, run).id))

    async def detail(self, run: str) -> RecruitmentDetail:
        """Return the state of recruiting. Raises NotRecruiting, RunNotFound."""
        await self.required(run)
        view = await self.store.read(lambda c: recruitment_view(c, find_run(c, run), self.platform))
        if view.recruitment is None:
            fail("the study on the platform was removed meanwhile", "Create it again.")
        return view.recruitment


@cli.command()
def create(
    run: Run,
    places: Annotated[int, typer.Option(help="Number of participants.")],
    reward: Annotated[int, typer.Option(help="Reward per participant, in cents.")],
    screen_out_reward: Annotated[int, typer.Option(help="Pay per screened-out participant, in cents.")] = 0,
    screen_out_places: Annotated[int, typer.Option(help="Highest number of screen-outs.")] = 0,
    minutes: Annotated[
        int | None, typer.Option(help="Estimated duration.", show_default="as in the study")
    ] = None,
    data: Data = None,
) -> None:
    """Create a draft of the study on its platform. Nobody sees it yet, and it costs nothing."""
    plan = StudyPlan(
        places=places,
        reward=reward,
        minutes=minutes,
        screen_out_reward=screen_out_reward,
        screen_out_places=screen_out_places,
    )
    made = _done(data, lambda rooms: rooms.studies.create(run, plan, _ME))
    console.print(
        f"Created a draft, study {made.study}. To admit participants: `candor recruit publish {escape(run)}`."
    )


@cli.command()
def discard(run: Run, data: Data = None) -> None:
    """Delete a draft, so that you can create another."""
    _done(data, lambda rooms: rooms.studies.discard(run, _ME))
    console.print("The draft is deleted.")


@cli.command()
def publish(run: Run, data: Data = None) -> None:
    """Publish the study: participants can take part, and it costs money."""
    _tell_status(_done(data, lambda rooms: rooms.studies.publish(run, _ME)))


@cli.command()
def pause(run: Run, data: Data = None) -> None:
    """Pause the study: no new participants, but active ones can finish."""
    _tell_status(_done(data, lambda rooms: rooms.studies.move(run, Transition.PAUSE, _ME)))


@cli.command()
def resume(run: Run, data: Data = None) -> None:
    """Resume a paused study."""
    _tell_status(_done(data, lambda rooms: rooms.studies.move(run, Transition.START, _ME)))


@cli.command()
def close(run: Run, data: Data = None) -> None:
    """Close the study for good. Active participants can finish, and are paid."""
    _tell_status(_done(data, lambda rooms: rooms.studies.move(run, Transition.STOP, _ME)))


@cli.command()
def places(
    run: Run,
    number: Annotated[int, typer.Argument(help="The new number, not fewer.")],
    data: Data = None,
) -> None:
    """Increase the number of places."""
    _tell_status(_done(data, lambda rooms: rooms.studies.set_places(run, number, _ME)))


@cli.command()
def show(run: Run, data: Data = None) -> None:
    """Read the study from its platform now, and list submissions, differences from Candor, and bonuses."""

    async def read(rooms: _Rooms) -> RecruitmentDetail:
        await rooms.studies.refresh(await rooms.required(run))
        await rooms.bonuses.reconcile_run(run)
        return await rooms.detail(run)

    found = _done(data, read)
    console.print(
        f"Study {found.study} is {found.status.lower()}, with {found.places} places of "
        f"{shown_amount(found.reward, found.currency)}."
    )
    platform = title_of(found.platform)
    table = Table("submission", platform, "Candor", "rated", "proposed", "decided", "bonus", box=None)
    for one in found.submissions:
        proposed = "" if one.proposal is None else f"pay {one.proposal.pay}: {one.proposal.why}"
        made = one.decision
        share = "" if made is None or made.share is None else f" {made.share} %"
        decided = "" if made is None else f"{made.decision}{share} by {made.decided_by} ({made.number})"
        rated, bonuses = f"{one.rated}/{one.conversations}", _bonuses(one, found.currency)
        there = one.status.lower() + ("" if one.paid_share is None else f", paid {one.paid_share} %")
        table.add_row(one.submission, there, one.here or "–", rated, proposed, escape(decided), bonuses)
    console.print(table if found.submissions else "There are no submissions yet.")
    for difference in found.differences:
        what = difference.kind.replace("_", " ")
        whose = difference.submission or _subject(difference)
        console.print(f"[yellow]{what}[/]: {whose} → {difference.remedy.replace('_', ' ')}")
    for batch in found.batches:
        total, seen = shown_amount(batch.total, found.currency), sum(one.seen_paid for one in batch.bonuses)
        state = f"{_STATES[batch.state]}, {seen} of {len(batch.bonuses)} seen paid"
        console.print(f"Bonuses {batch.batch}, {escape(batch.purpose)}: {state}, {total}")


@cli.command()
def listen(
    workspace: Annotated[str, typer.Argument(help="The id of your workspace at the platform.")],
    platform: Annotated[str, typer.Option(help="The platform.")] = next(iter(PAYING)),
    data: Data = None,
) -> None:
    """Subscribe to a platform's webhooks, so that the server learns of changes at once."""
    if platform not in PAYING:
        fail(f"`{platform}` is not a platform with pay", f"Choose from {', '.join(PAYING)}.")
    settings = settings_from(data=data)
    address, before = settings.resolved_public_url, platform_of(settings).hook_secret(platform)
    secret = _done(
        data, lambda rooms: subscribe(rooms.store, rooms.platform, platform, address, workspace, _ME)
    )
    console.print(f"{title_of(platform)} sends its events to {escape(address)}.")
    if before is None:
        console.print("Start the server with this variable in its environment. It is shown only once:")
        console.print(f"{hook_secret_variable(platform)}={escape(secret)}", soft_wrap=True)


@cli.command()
def pay(run: Run, data: Data = None) -> None:
    """Approve all undecided submissions of participants who finished."""

    async def approve_all(rooms: _Rooms) -> int:
        await rooms.studies.refresh(await rooms.required(run))
        found = await rooms.detail(run)
        whose = [
            one.submission
            for one in found.submissions
            if one.proposal is not None and one.proposal.pay == "all"
        ]
        if whose:
            await rooms.pay.decide(run, whose, "approve", _ME)
        return len(whose)

    console.print(f"Approved: {_done(data, approve_all)}.")


@cli.command()
def approve(run: Run, submissions: Submissions, instead_of: InsteadOf = None, data: Data = None) -> None:
    """Pay submissions in full."""
    _decide(data, run, submissions, "approve", instead_of)


@cli.command()
def reject(
    run: Run,
    submissions: Submissions,
    category: Annotated[str, typer.Option(help="Such as LOW_EFFORT. An unknown one lists all.")],
    reason: Reason,
    instead_of: InsteadOf = None,
    data: Data = None,
) -> None:
    """Reject submissions without pay. The reason needs at least 100 characters."""
    _decide(data, run, submissions, "reject", instead_of, category=category, reason=reason)


@cli.command()
def partial(
    run: Run,
    submissions: Submissions,
    share: Annotated[int, typer.Option(help="Per cent of the reward, 8 to 99.")],
    reason: Reason,
    instead_of: InsteadOf = None,
    data: Data = None,
) -> None:
    """Pay submissions in part."""
    _decide(data, run, submissions, "partial", instead_of, share=share, reason=reason)


@cli.command()
def repeat(run: Run, submission: Annotated[str, typer.Argument()], data: Data = None) -> None:
    """Send a decision again that did not reach the platform."""
    _done(data, lambda rooms: rooms.pay.repeat(run, submission, _ME))
    console.print("Done.")


@cli.command()
def message(
    run: Run,
    submissions: Submissions,
    text: Annotated[str, typer.Option(help="The text of the message.")],
    data: Data = None,
) -> None:
    """Send a message to the participants of submissions."""
    _done(data, lambda rooms: rooms.pay.tell(run, submissions, text, _ME))
    console.print(f"Sent to {len(submissions)}.")


@cli.command()
def bonus(
    run: Run,
    submissions: Submissions,
    cents: Annotated[int, typer.Option(help="Bonus per submission, in cents.", min=1)],
    purpose: Annotated[
        str, typer.Option(help="What the bonus is for. A submission gets one bonus per purpose.")
    ],
    yes: Annotated[bool, typer.Option("--yes", help="Prepare unusual amounts without asking.")] = False,
    data: Data = None,
) -> None:
    """Prepare bonuses, and print their cost. Nothing is paid yet."""
    given = dict.fromkeys(submissions, cents)

    async def prepare(rooms: _Rooms) -> tuple[StoredBatch, str | None]:
        try:
            made = await rooms.bonuses.prepare(run, purpose, given, _ME, confirmed=yes)
        except NeedsConfirmation as error:
            agree(f"{error.message}.", yes=yes)
            made = await rooms.bonuses.prepare(run, purpose, given, _ME, confirmed=True)
        return made, (await rooms.required(run)).currency

    made, currency = _done(data, prepare)
    console.print(
        f"Prepared as {made.id}: {shown_amount(made.total, currency)} with fees. "
        f"To pay it: `candor recruit pay-bonus {escape(run)} {made.id}`."
    )


@cli.command("pay-bonus")
def pay_bonus(run: Run, batch: Batch, data: Data = None) -> None:
    """Pay a batch of prepared bonuses. It can be sent once only."""
    made = _done(data, lambda rooms: rooms.bonuses.pay(run, batch, _ME))
    console.print(
        f"Bonuses {batch} are {made.state}. To see when they are paid: `candor recruit show {escape(run)}`."
    )


@cli.command("look-at-bonus")
def look_at_bonus(run: Run, batch: Batch, data: Data = None) -> None:
    """Check on the platform whether a batch of bonuses was paid."""
    made, seen = _done(data, lambda rooms: rooms.bonuses.look(run, batch, _ME))
    console.print(f"Bonuses {batch} are {made.state} ({seen.replace('_', ' ')}).")


@cli.command("discard-bonus")
def discard_bonus(run: Run, batch: Batch, data: Data = None) -> None:
    """Discard bonuses that were prepared and not sent."""
    _done(data, lambda rooms: rooms.bonuses.discard(run, batch, _ME))
    console.print("Discarded.")


_STATES: dict[State, str] = {
    "prepared": "prepared",
    "unknown": "no answer yet",
    "sent": "sent",
    "paid": "paid",
}


def _bonuses(one: SubmissionRow, currency: str | None) -> str:
    """Return a submission's bonuses in words."""
    amounts = {"paid": one.bonus_paid, "sent": one.bonus_sent}
    return ", ".join(f"{shown_amount(cents, currency)} {what}" for what, cents in amounts.items() if cents)


def _subject(difference: DifferenceRow) -> str:
    """Return the subject of a difference that does not belong to a submission."""
    if difference.batch is not None:
        return f"bonuses {difference.batch}"
    return "the study" if difference.assignment is None else f"assignment {difference.assignment}"


def _decide(
    data: Data,
    run: str,
    submissions: list[str],
    decision: DecisionKind,
    instead_of: list[int] | None,
    *,
    share: int | None = None,
    category: str | None = None,
    reason: str = "",
) -> None:
    _done(
        data,
        lambda rooms: rooms.pay.decide(
            run,
            submissions,
            decision,
            _ME,
            share=share,
            category=category,
            reason=reason,
            instead_of=instead_of or (),
        ),
    )
    console.print(f"Done for {len(submissions)}.")


def _done(data: Data, work: Callable[[_Rooms], Awaitable[T]]) -> T:
    """Run `work` with the recruiting services and return its result. A CandorError ends the command."""
    with transaction_or_fail(data):
        pass  # the database is up to date from here on
    settings = settings_from(data=data)
    platform = platform_of(settings)

    async def ask() -> T:
        store = Store(settings.resolved_database_url)
        store.start()
        try:
            studies = PlatformStudies(store, platform, settings.resolved_public_url)
            return await work(
                _Rooms(store, studies, Pay(store, platform), Bonuses(store, platform), platform)
            )
        finally:
            store.stop()

    try:
        return asyncio.run(ask())
    except CandorError as error:
        fail(error.message, error.hint)


def _tell_status(found: StoredRecruitment) -> None:
    console.print(f"Study {found.study} is {found.status.lower()}, with {found.places} places.")
