"""`candor run`: open, pause, resume, close, replicate and list runs, and set their rules."""

from pathlib import Path
from typing import Annotated

import typer
import yaml
from rich.markup import escape
from rich.table import Table

from bots.serving import in_words
from candor.common.terminal import Yes, agree, console
from server.bots.fitness import require_moderation
from server.bots.planned_calls import of_run
from server.cli.installation import Data, id_cipher, moderation_from, settings_from, transaction_or_fail
from server.cli.runs import study
from server.cli.runs.stored_studies import changed_rules, read_rules_file, tell
from server.clock import utc_now
from server.db.audit import CommandLine, record
from server.db.runs.run_rules import all_rules_of
from server.db.runs.run_states import RunChange, change_run, replicate_run
from server.db.runs.runs import all_runs, find_run
from server.db.secrets import require_key
from server.run_rules import RunRules, outline
from server.study import parse_study

cli = typer.Typer(
    help="Open, pause, resume, close, replicate or list runs, and set their rules.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
Name = Annotated[str, typer.Argument(metavar="RUN", help="The run's name.")]
Why = Annotated[str, typer.Option("--why", help="The reason. The desk shows it; workers do not see it.")]
NewName = Annotated[
    str | None,
    typer.Option("--as", help="The new run's name.", show_default="the first run's name with a number"),
]
SameWorkers = Annotated[bool, typer.Option("--same-workers", help="Admit workers of the first run, too.")]

NewRules = Annotated[Path | None, typer.Argument(metavar="[FILE]", help="Rules of a run (YAML).")]

cli.command("open")(study.open_)


@cli.command()
def pause(run: Name, why: Why = "", data: Data = None) -> None:
    """Pause a run: new workers are asked to come back later, and active ones can finish."""
    _change(run, "pause", why, data)
    console.print(f"Run [bold]{escape(run)}[/] is paused. To resume it: `candor run resume {escape(run)}`.")


@cli.command()
def resume(run: Name, why: Why = "", data: Data = None) -> None:
    """Resume a run that was paused or closed."""
    _change(run, "resume", why, data)
    url = settings_from(data=data).resolved_public_url
    console.print(f"Run [bold]{escape(run)}[/] is open: {url}/w/{escape(run)}")


@cli.command()
def close(run: Name, why: Why = "", data: Data = None) -> None:
    """Close a run: no new workers, but active ones can finish."""
    _change(run, "close", why, data)
    console.print(f"Run [bold]{escape(run)}[/] is closed; its data stays.")


@cli.command()
def rules(run: Name, file: NewRules = None, data: Data = None) -> None:
    """Show the rules of a run. With a file, replace them first."""
    notes: list[str] = []
    with transaction_or_fail(data) as connection:
        ids = id_cipher(settings_from(data=data), connection)
        require_key(connection, ids)
        if file is not None:
            given_rules = read_rules_file(file)
            notes = changed_rules(connection, run, given_rules, ids)
            record(connection, CommandLine(), "run.rules", run, outline(given_rules))
        found = all_rules_of(connection, find_run(connection, run).id, ids)
    shown = found.model_dump(mode="json", exclude_defaults=True)
    console.print(
        yaml.safe_dump(shown, sort_keys=False) if shown else "Nothing limits this run.", markup=False
    )
    tell(notes)


@cli.command()
def replicate(
    run: Name,
    name: NewName = None,
    same_workers: SameWorkers = False,
    yes: Yes = False,
    data: Data = None,
) -> None:
    """Open another run of the same study, with its own seed. It excludes workers of the first run.

    If the run may cost money, the command first shows the number and price of calls, and asks you to confirm.
    """
    moderation = moderation_from(settings_from(data=data))
    with transaction_or_fail(data) as connection:
        study = parse_study(find_run(connection, run).yaml)
        require_moderation(study, moderation)
        calls = of_run(connection, study, RunRules(), moderation, checked=False)
    agree(in_words(f"A replication of the run “{run}”", calls), yes=yes)
    with transaction_or_fail(data) as connection:
        entry = replicate_run(connection, run, utc_now(), name, same_workers=same_workers)
        record(connection, CommandLine(), "run.open", entry.slug, f"a replication of {run}")
    url = settings_from(data=data).resolved_public_url
    console.print(f"Run [bold]{entry.slug}[/] replicates {escape(run)}: {url}/w/{entry.slug}")


@cli.command("list")
def list_(data: Data = None) -> None:
    """List runs with their study, status, date and reason. Rehearsals are not listed."""
    with transaction_or_fail(data) as connection:
        found = [run for run in all_runs(connection) if run.kind == "study"]
    table = Table("run", "study", "status", "opened", "why", box=None)
    for run in found:
        opened = f"{run.created_at:%Y-%m-%d %H:%M} UTC"
        table.add_row(run.slug, parse_study(run.yaml).name, run.status, opened, escape(run.reason))
    console.print(table if found else "There is no run yet. Open one with `candor run open`.")


def _change(run: str, change: RunChange, why: str, data: Data) -> None:
    with transaction_or_fail(data) as connection:
        change_run(connection, run, change, why)
        record(connection, CommandLine(), f"run.{change}", run, why)
