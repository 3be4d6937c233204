"""`candor demo`: try Candor without a study of your own, also on a simulated Prolific."""

import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from candor.common.api_models import CriterionSigns, SimulatedBeliefs, SystemQuality
from candor.common.terminal import console, fail
from server.cli.installation import Data, settings_from, transaction
from server.cli.server_child import DeskClient, own_settings, server_child
from server.clock import utc_now
from server.config import Settings
from server.db.audit import CommandLine, record
from server.db.runs.runs import find_opened, open_run
from server.errors import CandorError, RunNotFound
from server.items import items_of
from server.recruiters.pay_platform import decimal_amount, shown_amount
from server.recruiters.stand_in.platform import StandInPlatform
from server.recruiters.stand_in.serving import Fault, Faults, Signer, serving, stand_in
from server.study import DEMO, EditedSetting, edited, load_study, parse_study

RUN = "demo-prolific"
_STUDY = DEMO.with_name("demo_prolific.yaml")
_PLAN = {"places": 8, "reward": 450, "screen_out_reward": 50, "screen_out_places": 2}
_BONUS = 150
# Participants and their behaviour; the server does not know it.
_WHO = {
    "PID-ann": "finish",
    "PID-bob": "finish",
    "PID-cay": "finish",
    "PID-dee": "finish",
    "PID-eve": "return",
    "PID-fay": "vanish",
    "PID-gus": "decline",
    "PID-hal": "leave",
}
# Quality of the three conversations; the QC bot is the second. Participants do not know the systems.
_QUALITY = (0.7, 0.0, 0.6)


@dataclass
class _Clock:
    """The simulated platform's clock: the current time plus a time that was skipped."""

    ahead: timedelta = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead


@dataclass(frozen=True)
class _Demo:
    """The parts of the demonstration: the simulated platform, its faults and its clock, and the server."""

    platform: StandInPlatform
    faults: Faults
    clock: _Clock
    prolific: str
    desk: DeskClient

    @property
    def study(self) -> str:
        """The id of the only study on the simulated platform."""
        (study,) = self.platform.studies
        return study


def prolific(
    once: Annotated[bool, typer.Option("--once", help="Exit when the study is over.")] = False,
    leave_to_me: Annotated[
        bool,
        typer.Option("--leave-to-me", help="Stop when participants have submitted, and let you decide."),
    ] = False,
    signed: Annotated[
        bool,
        typer.Option("--signed", help="Admit only participants whose id the simulated Prolific has signed."),
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option(
            help="A new folder to keep the data in.", show_default="a temporary folder, removed at the end"
        ),
    ] = None,
) -> None:
    """Play a whole study on a simulated Prolific: publish it, admit participants, pay them, close it.

    With --leave-to-me, you decide on the desk who is paid, and close the study yourself.

    Nothing is paid: the simulated Prolific runs on this machine, and the participants are simulated. The
    command starts its own server, whose desk shows everything until you press Ctrl+C. It needs no token and
    ignores your CANDOR_… settings.
    """
    # Ending the command also ends the server.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with _folder(data) as folder, _played(folder, signed=signed) as (demo, settings):
            if not leave_to_me:
                console.print("To decide about the submissions yourself, add --leave-to-me.")
            _play_until_submitted(demo)
            if leave_to_me:
                _step("Approve, pay in part, reject or give a bonus: the page below lists the submissions.")
            else:
                _decide(demo)
            _say_where(settings, demo, data, once=once)
            if not once:
                _wait()
    except CandorError as error:
        fail(error.message, error.hint)


@contextmanager
def _folder(chosen: Path | None) -> Iterator[Path]:
    if chosen is None:
        with tempfile.TemporaryDirectory(prefix="candor-demo-") as made:
            yield Path(made)
        return
    if chosen.exists() and any(chosen.iterdir()):
        raise CandorError(f"{chosen} is not empty", "Name a folder that does not exist yet: --data NEW.")
    chosen.mkdir(parents=True, exist_ok=True)
    yield chosen


@contextmanager
def _played(folder: Path, *, signed: bool) -> Iterator[tuple[_Demo, Settings]]:
    """Serve the simulated platform, and a Candor server with one run that recruits there."""
    clock, faults, token = _Clock(), Faults(), secrets.token_urlsafe(18)
    platform = StandInPlatform(clock.now)
    settings = own_settings(folder)
    _open(settings, signed=signed)
    with serving(stand_in(platform, token, faults, Signer("demo"))) as address:
        variables = {
            "CANDOR_PROLIFIC_TOKEN": token,
            "CANDOR_PROLIFIC_API": address,
            "CANDOR_PROLIFIC_SITE": address,
            "CANDOR_EXEMPT_ADDRESSES": '["127.0.0.1"]',
        }
        with console.status("Starting a server …"), server_child(settings, variables):
            console.print(f"The simulated Prolific is at {address}, Candor at {settings.own_url}.")
            yield (
                _Demo(platform, faults, clock, address, DeskClient(settings, f"/runs/{RUN}/recruitment")),
                settings,
            )


def _open(settings: Settings, *, signed: bool) -> None:
    _, text = load_study(_STUDY)
    if signed:
        text = edited(text, EditedSetting(("recruiter", "signed"), value=True)).text
    with transaction(settings, begins=True) as connection:
        entry = open_run(connection, text, RUN, utc_now(), [])
        record(connection, CommandLine(), "run.open", entry.slug)


def _play_until_submitted(demo: _Demo) -> None:
    _publish(demo)
    _let_participants_come(demo)
    _let_time_run_out(demo)


def _decide(demo: _Demo) -> None:
    _reconcile(demo)
    _pay(demo)
    _pay_a_bonus(demo)
    closed = demo.desk.ask("/close")["recruitment"]
    _step(f"The study is closed: {closed['status'].lower()}.")
    _print_accounts(demo)


def _publish(demo: _Demo) -> None:
    currency = demo.desk.ask("", body=_PLAN)["recruitment"]["currency"]
    reward = shown_amount(_PLAN["reward"], currency)
    screen_out = shown_amount(_PLAN["screen_out_reward"], currency)
    _step(f"A study is drafted: {_PLAN['places']} places of {reward}, {screen_out} per screen-out.")
    status = demo.desk.ask("/publish")["recruitment"]["status"]
    _step(f"The study is published: {status.lower()}.")


def _let_participants_come(demo: _Demo) -> None:
    page = f"{demo.prolific}/studies/{demo.study}/take-part"
    who = [f"{name}={conduct}" for name, conduct in _WHO.items()]
    _step(f"{len(who)} participants reserve a place at Prolific, and open Candor.")
    command = [sys.executable, "-m", "bots.crowd.participants", page, *who, "--beliefs", _beliefs()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as crowd:  # noqa: S603 - our own program
        for line in crowd.stdout or ():
            name, _, came_of_it = line.rstrip().partition("\t")
            console.print(f"   {escape(name)} {escape(came_of_it)}")
    if crowd.returncode != 0:
        raise CandorError("The simulated participants failed", "See their messages above.")


def _beliefs() -> str:
    """Return the participants' beliefs about the quality of the study's conversations, as JSON."""
    criteria = parse_study(_STUDY.read_text(encoding="utf-8")).criteria
    return SimulatedBeliefs(
        conversations=[
            SystemQuality(conversation=number, attempt=1, quality=quality, item=None, system=None)
            for number, quality in enumerate(_QUALITY, start=1)
        ],
        criteria=[CriterionSigns(label=c.label, negative=c.negative, qc=c.qc) for c in criteria],
        answers=[],
    ).model_dump_json()


def _let_time_run_out(demo: _Demo) -> None:
    minutes = demo.platform.study(demo.study).given["maximum_allowed_time"]
    demo.clock.ahead = timedelta(minutes=minutes + 1)
    statuses = Counter(row["status"].lower() for row in _read(demo)["submissions"])
    counted = ", ".join(f"{number} {status}" for status, number in sorted(statuses.items()))
    _step(f"Their {minutes} minutes are over. At Prolific: {counted}.")


def _reconcile(demo: _Demo) -> None:
    found = _read(demo)["differences"]
    _step(f"Prolific and Candor differ in {len(found)} submissions.")
    for row in found:
        if row["remedy"] != "release":
            raise CandorError(f"Unexpected difference: {row['kind']}", "See the page Recruiting of the desk.")
        demo.desk.ask_at(f"/assignments/{row['assignment']}/release")
        console.print("   Ended at Prolific, but still holding a slot here: the slot is released.")
    left = _read(demo)["differences"]
    console.print("   Now they agree." if not left else f"   {len(left)} differences are left.")


def _pay(demo: _Demo) -> None:
    rows = _read(demo)["submissions"]
    full = [row["submission"] for row in rows if row["proposal"] and row["proposal"]["pay"] == "all"]
    demo.desk.ask("/decisions", body={"submissions": full, "decision": "approve"})
    _step(f"Participants who finished, paid in full: {len(full)}.")
    left = [row["submission"] for row in rows if row["ending"] == "returned"]
    demo.desk.ask("/decisions", body={"submissions": left, "decision": "screen_out"})
    _step(f"Participants who left with the button after one message, paid as screened out: {len(left)}.")
    _step("Prolific asked the participant who declined to return the place.")


def _pay_a_bonus(demo: _Demo) -> None:
    first = next(row["submission"] for row in _read(demo)["submissions"] if row["status"] == "APPROVED")
    made = demo.desk.ask("/bonuses", body={"purpose": "thanks", "cents": {first: _BONUS}})
    costs = decimal_amount(made["total"])
    _step(f"A bonus of {decimal_amount(_BONUS)} is prepared; it costs {costs} with fees.")
    demo.faults.due.append(Fault("broken after", "/pay/"))
    try:
        demo.desk.ask(f"/bonuses/{made['batch']}/pay")
    except CandorError as error:
        console.print(
            f"   The server asks Prolific to pay it, and the answer is lost: {escape(error.message)}",
            soft_wrap=True,
        )
    seen = demo.desk.ask(f"/bonuses/{made['batch']}/look")["seen"]
    times = len(demo.platform.submission(first).bonuses)
    console.print(f"   Status at Prolific: {seen}. Number of payments: {times}.")


def _print_accounts(demo: _Demo) -> None:
    table = Table("participant", "there", "paid", "bonus", box=None, padding=(0, 2, 0, 1))
    for one in demo.platform.of_study(demo.study):
        bonus = decimal_amount(sum(one.bonuses)) if one.bonuses else ""
        table.add_row(one.participant, one.status.lower(), decimal_amount(one.paid), bonus)
    console.print(table)


def _read(demo: _Demo) -> Any:
    """Have the server refresh the study from Prolific, and return the state of recruiting."""
    return demo.desk.ask("/refresh")["recruitment"]


def _step(text: str) -> None:
    console.print(f"[green]·[/] {escape(text)}", soft_wrap=True)


def _say_where(settings: Settings, demo: _Demo, data: Path | None, *, once: bool) -> None:
    if data is not None:
        report = f"candor report --run {RUN} {data / 'candor.db'}"
        console.print(f"The data are in {escape(str(data))}: {escape(report)}", soft_wrap=True)
    if not once:
        page = f"{settings.own_url}/desk/runs/{RUN}/recruiting#token={demo.desk.token}"
        console.print(f"See it on the desk: {page}", soft_wrap=True)
        console.print(f"Be a participant: {demo.prolific}/studies?as=PID-me", soft_wrap=True)
        console.print("Press Ctrl+C to stop the server and the simulated Prolific.")


def _wait() -> None:
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        console.print("Ended.")


# As many simulated workers as each demo has work for.
_CROWD = {"demo_transcripts": 60, "demo_questions": 60, "demo_answers": 40, "demo_correctness": 30}

cli = typer.Typer(
    help="Try Candor before you have a study of your own.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


@cli.callback()
def demo() -> None:
    """Group the commands that try Candor before you have a study."""


@cli.command()
def transcripts(data: Data = None) -> None:
    """Open a run in which workers rate conversations of the demo study.

    Conversations of simulated workers are enough. A running server serves the run within a second.
    """
    _open_shipped("demo_transcripts", data)


@cli.command()
def questions(data: Data = None) -> None:
    """Open a run in which workers rate questions that systems wrote about a passage."""
    _open_shipped("demo_questions", data)


@cli.command()
def answers(data: Data = None) -> None:
    """Open a run in which workers rate answers to questions about passages."""
    _open_shipped("demo_answers", data)


@cli.command()
def correctness(data: Data = None) -> None:
    """Open a run in which workers judge by paragraphs whether answers are correct."""
    _open_shipped("demo_correctness", data)


def _open_shipped(name: str, data: Path | None) -> None:
    """Open a run of the shipped study `name` and say how to try it, unless it is open already."""
    settings = settings_from(data=data)
    file, run = DEMO.with_name(f"{name}.yaml"), name.replace("_", "-")
    try:
        study, text = load_study(file)
        of_file = study.items is not None and study.items.file is not None
        with transaction(settings, begins=of_file) as connection:
            stands = find_opened(connection, text, run)
            items = items_of(study, connection, file.parent) if stands is None else []
            entry = open_run(connection, text, run, utc_now(), items)
            if stands is None:
                record(connection, CommandLine(), "run.open", run)
    except RunNotFound as error:
        fail(error.message, "Start the server once (`candor serve`): it opens the run `demo`.")
    except CandorError as error:
        fail(error.message, error.hint)
    what = (
        f"with {len(items)} {'texts' if of_file else 'conversations'}"
        if stands is None
        else "and was opened before"
    )
    url = settings.resolved_public_url
    console.print(f"Run [bold]{entry.slug}[/] is open {what}: {url}/w/{entry.slug}", soft_wrap=True)
    console.print("Let simulated workers rate them:", soft_wrap=True)
    console.print(f"  candor crowd --url {url}/w/{entry.slug} --workers {_CROWD[name]}", soft_wrap=True)


cli.command()(prolific)
