"""`candor study`: check studies and open runs of them."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from sqlalchemy import Connection

from bots.serving import in_words, verdict_table
from candor.common.terminal import Yes, agree, console, fail, stderr
from server.bots import fitness
from server.bots.fitness import Fitness
from server.bots.lineup import OpenRun, open_lineup, require_known_bots
from server.bots.opened_bots import OpenedBots
from server.bots.planned_calls import of_own_checks, of_run
from server.cli.installation import Data, id_cipher, moderation_from, reading, settings_from, transaction
from server.cli.runs import preregistration, stored_studies
from server.cli.runs.stored_studies import RulesFile, changed_rules, read_rules_file, tell
from server.clock import utc_now
from server.db.audit import CommandLine, record
from server.db.runs.runs import RunEntry, find_opened, open_run, require_slug
from server.db.secrets import require_key
from server.errors import BotsUnfit, CandorError
from server.items import items_of
from server.run_rules import outline
from server.session.plan import QC
from server.study import parse_study, study_notes


def check_fitness(run: OpenRun, registered: Sequence[Fitness], opened_bots: OpenedBots) -> list[Fitness]:
    """Check the bots of a study's own `bots` section, and print the results of all its bots.

    Args:
        run: the study with its bots opened.
        registered: the stored check results of its registered bots.
        opened_bots: the opener of the bots; it is closed after the check.

    Returns:
        The results of the registered bots, the study's own bots, and its QC bot.
    """
    own = asyncio.run(_own_fitness(run, registered, opened_bots))
    found = [*registered, *own]
    if found:
        console.print(verdict_table(((each.bot, each.findings) for each in found), whole={QC}))
    return found


async def _own_fitness(run: OpenRun, registered: Sequence[Fitness], opened_bots: OpenedBots) -> list[Fitness]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    none = not fitness.own_bots(run)
    with Progress(*columns, console=stderr, transient=True, disable=none) as progress:
        tasks: dict[str, TaskID] = {}

        def show(bot: str, done: int, total: int) -> None:
            if bot not in tasks:
                tasks[bot] = progress.add_task(f"checking {escape(bot)}")
            progress.update(tasks[bot], completed=done, total=total)

        try:
            return await fitness.own_fitness(run, registered, show, opened_bots.moderation)
        finally:
            await opened_bots.close()


cli = typer.Typer(
    help="Write studies, check them, and open runs of them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
cli.command("list")(stored_studies.list_)
cli.command()(stored_studies.new)
cli.command()(preregistration.preregister)
cli.command()(stored_studies.edit)
cli.command()(stored_studies.show)
cli.command("copy")(stored_studies.copy_)
cli.command()(stored_studies.archive)
cli.command()(stored_studies.delete)
StudyFile = Annotated[Path, typer.Argument(help="A study file (YAML), or the name of a stored study.")]
RunName = Annotated[
    str, typer.Option("--run", help="A name for the run, which becomes part of workers' links.")
]
CheckBots = Annotated[bool, typer.Option("--bots", help="Check the study's bots, too, as `open` does.")]
Force = Annotated[
    bool, typer.Option("--despite-failing-bots", help="Open the run even if bots failed their check.")
]


@cli.command()
def check(study: StudyFile, bots: CheckBots = False, yes: Yes = False, data: Data = None) -> None:
    """Check a study file and open its bots, without storing anything.

    If --bots may cost money, the command first shows the number and price of calls, and asks you to confirm.
    """
    settings = settings_from(data=data)
    opened_bots = OpenedBots(
        refuse_private=settings.refuse_private_bots, moderation=moderation_from(settings)
    )
    try:
        with reading(settings) as connection:
            content, text = stored_studies.study_of(connection, study)
            items = items_of(content, connection, study.parent)
            opened, registered = _line_up(connection, opened_bots, _unopened(text, "check"), str(study))
        if bots:
            calls = of_own_checks(content, opened_bots.moderation)
            agree(in_words(f"The check of the bots of {study}", calls), yes=yes)
            fitness.require_fit(check_fitness(opened, registered, opened_bots))
    except CandorError as error:
        fail(error.message, error.hint)
    systems = {item.system for item in items} if items else content.systems
    what = (
        f"{content.conversations} of {len(items)} items"
        if items
        else f"{content.conversations} conversations"
    )
    console.print(
        f"[green]{escape(str(study))} is fine:[/] {len(systems)} systems, "
        f"{what} each, {len(content.criteria)} criteria."
    )
    if content.retention is not None:
        console.print(content.retention.in_words(None), soft_wrap=True)
    for note in study_notes(content):
        console.print(f"[yellow]Note:[/] {escape(note)}", soft_wrap=True)


@cli.command("open")
def open_(
    study: StudyFile,
    run: RunName,
    data: Data = None,
    despite_failing_bots: Force = False,
    rules: RulesFile = None,
    yes: Yes = False,
) -> None:
    """Open a run of a study. A running server serves it within a second.

    Bots in the study's own `bots` section are checked first, with a few conversations. Bots registered with
    the server must have passed their check. If a bot fails, the run is not opened. Items that workers rate
    are read now, and later changes to their file have no effect. If the run may cost money, the command first
    shows the number and price of calls, and asks you to confirm.
    """
    settings = settings_from(data=data)
    opened_bots = OpenedBots(
        refuse_private=settings.refuse_private_bots, moderation=moderation_from(settings)
    )
    try:
        with reading(settings) as stored:
            content, text = stored_studies.study_of(stored, study)
        require_slug(run)
        fitness.require_moderation(content, opened_bots.moderation)
        given = read_rules_file(rules)
        with transaction(settings, begins=True) as connection:
            stands = find_opened(connection, text, run)
            items = items_of(content, connection, study.parent) if stands is None else []
            opened, registered = _line_up(connection, opened_bots, stands or _unopened(text, run), str(study))
            calls = of_run(connection, content, given, opened_bots.moderation, checked=True)
        if stands is None:  # the bots of an open run are not checked again
            agree(in_words(f"The run “{run}”", calls), yes=yes)
            _require_fit(opened, registered, opened_bots, despite_failing_bots)
        notes = list(study_notes(content)) if stands is None else []
        with transaction(settings) as connection:
            entry = open_run(connection, text, run, utc_now(), items)
            if stands is None or rules is not None:
                ids = id_cipher(settings, connection)
                require_key(connection, ids)
                notes += changed_rules(connection, run, given, ids)
                action = "run.open" if stands is None else "run.rules"
                record(connection, CommandLine(), action, run, outline(given))
    except CandorError as error:
        fail(error.message, error.hint)
    tell(notes)
    if entry.status != "open":
        fail(
            f"The run “{entry.slug}” exists already and is {entry.status}",
            f"To resume it: `candor run resume {entry.slug}`. To open another run, choose another name.",
        )
    console.print(f"Run [bold]{entry.slug}[/] is open: {settings.resolved_public_url}/w/{entry.slug}")
    console.print("A running server serves it from now on.")


def _unopened(text: str, run: str) -> RunEntry:
    """Return the entry of a run that is not stored yet."""
    return RunEntry(0, run, 0, "open", utc_now(), text)


def _line_up(
    connection: Connection | None, opened_bots: OpenedBots, entry: RunEntry, source: str
) -> tuple[OpenRun, list[fitness.Fitness]]:
    """Return a run with its bots, and the check results of its registered bots.

    Args:
        connection: None if there is no database.
        opened_bots: opens the bots.
        entry: the run.
        source: the name of the study's file, for error messages.

    Raises:
        StudyInvalid: a bot cannot be opened; the message names the line in `source`.
    """
    if connection is not None:
        opened_bots.load(connection)
    require_known_bots(entry.yaml, parse_study(entry.yaml), opened_bots.names(), source)
    opened = open_lineup(entry, opened_bots)  # fails before the run is stored
    if connection is None:
        return opened, []
    return opened, fitness.registered_fitness(connection, opened.study, opened.study.registered_bots)


def _require_fit(
    opened: OpenRun, registered: list[fitness.Fitness], opened_bots: OpenedBots, despite: bool
) -> None:
    try:
        fitness.require_fit(check_fitness(opened, registered, opened_bots))
    except BotsUnfit as error:
        if not despite:
            hint = "Fix the bots and check them again. To open the run anyway, use --despite-failing-bots."
            raise BotsUnfit(error.message, hint) from error
        stderr.print(f"[yellow]Opened anyway:[/] {escape(error.message)}", soft_wrap=True)
