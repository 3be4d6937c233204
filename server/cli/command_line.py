"""The command `candor`: a table of its commands, each loaded only when it is called.

To load all of them would take seconds: the server with its database, scipy, the models of a bot host. Modules
of `bots` and `qc` are named as text, because `server` does not import them.
"""

import gc
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command


@dataclass(frozen=True, slots=True)
class Command:
    """A command: the Typer application `app` of `module`, listed in a panel of the help or in a group."""

    panel: str | None
    module: str
    summary: str
    app: str = "cli"


_STUDY, _BOTS, _PEOPLE = "Run a study", "Bots", "People and access"
_ANALYSE = "Plan and analyse"

# In the order in which a researcher needs them.
COMMANDS = {
    "serve": Command(_STUDY, "server.cli.serve", "Serve all open runs. An empty database gets a demo study."),
    "demo": Command(_STUDY, "server.cli.demo", "Try Candor before you have a study of your own."),
    "study": Command(_STUDY, "server.cli.runs.study", "Write and check studies, and open runs of them."),
    "rehearse": Command(_STUDY, "bots.rehearse", "Forecast a study's results with simulated workers."),
    "run": Command(_STUDY, "server.cli.runs.run", "List, open, pause, resume, close or replicate runs."),
    "recruit": Command(
        _STUDY, "server.cli.runs.recruit", "Links for workers, a run on Prolific, submissions, pay."
    ),
    "crowd": Command(_STUDY, "bots.crowd.__main__", "Send simulated workers into a run."),
    "bots": Command(_BOTS, "bots.__main__", "Register, check and change bots."),
    "host": Command(_BOTS, "bots.host.__main__", "Host models that answer as bots."),
    "people": Command(_PEOPLE, "server.cli.people", "Manage who may sign in at the desk."),
    "token": Command(
        _PEOPLE, "server.cli.people", "Create, list and revoke tokens of commands and hosts.", "token_cli"
    ),
    "worker": Command(_PEOPLE, "server.cli.worker", "Show or remove the data of a worker."),
    "report": Command(
        _ANALYSE, "qc.report.__main__", "Report on a run: workers kept, scores, differences.", "app"
    ),
    "watch": Command(_ANALYSE, "qc.precision.watch", "Print the interim results of a run as JSON.", "app"),
    "metrics": Command(_ANALYSE, "qc.metrics.__main__", "Compare metrics with people's ratings.", "app"),
    "estimate": Command(_ANALYSE, "qc.estimate", "Estimate scores, and what a metric saves.", "app"),
    "plan workers": Command(None, "qc.plan", "Forecast results and cost for a number of workers.", "app"),
    "plan power": Command(None, "qc.power", "Compute how many judgments a conclusion takes.", "app"),
    "plan randomisation": Command(
        None, "qc.randomisation", "Test pairs of systems and pools of raters.", "app"
    ),
    "plan sampling": Command(
        None, "qc.planning.rating_choice", "Choose what people rate, by what judges disagree on.", "app"
    ),
    "data export": Command(None, "server.cli.export", "Write a run to a file."),
    "data convert": Command(None, "qc.convert.__main__", "Convert a run to another format.", "app"),
    "data bundle": Command(
        None, "qc.bundle.__main__", "Pack a run, its study and its report for others.", "app"
    ),
    "data verify": Command(None, "qc.bundle.verify", "Analyse a bundle again, and list what differs.", "app"),
    "data audit": Command(
        None, "server.cli.maintenance", "Check the database: its file, and every stored count.", "audit_cli"
    ),
    "data backup": Command(
        None, "server.cli.maintenance", "Write an installation to one file.", "backup_cli"
    ),
    "data restore": Command(
        None, "server.cli.maintenance", "Restore an installation from a backup.", "restore_cli"
    ),
    "data new-secrets": Command(
        None, "server.cli.maintenance", "Replace lost secrets with new ones.", "new_secrets_cli"
    ),
    "data schema": Command(
        None, "server.cli.schema", "Print the schema of study files, of the worker protocol or of the API."
    ),
}

_NEW_NAMES = ("plan workers", "plan sampling")
# Names of commands that stand in a group now.
FORMER_NAMES = {name.split()[1]: name for name in COMMANDS if " " in name and name not in _NEW_NAMES} | {
    "links": "recruit links",
    "credits": "recruit credits",
}

# Contexts of further commands inherit it.
_HELP = {"help_option_names": ["--help", "-h"]}

cli = typer.Typer(
    help="Candor: live human evaluation of dialogue systems. Without a command, it serves.",
    pretty_exceptions_enable=False,
    context_settings=_HELP,
)


class _PassedOn(TyperCommand):
    """A command that passes all its arguments, including `--help`, on to the application that it starts."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        ctx.args = list(args)
        return ctx.args

    def shell_complete(self, ctx: typer.Context, incomplete: str) -> list[Any]:  # type: ignore[override]
        """Return that application's commands or options that begin with `incomplete`."""
        command = COMMANDS.get(ctx.command_path.partition(" ")[2])
        if command is None:  # a former name
            return []
        words, at = list(ctx.args), get_command(_application(command))
        while words and isinstance(at, TyperGroup) and words[0] in at.commands:
            at = at.commands[words.pop(0)]
        return at.shell_complete(at.make_context(None, words, resilient_parsing=True), incomplete)


class _PlanGroup(TyperGroup):
    """Commands of `candor plan`, which was itself the command that is `candor plan workers` now."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        if args and args[0] not in self.commands and args[0] not in _HELP["help_option_names"]:
            _say_new_name("plan", "plan workers")
            args = ["workers", *args]
        return super().parse_args(ctx, args)


_groups = {
    "plan": typer.Typer(
        cls=_PlanGroup, no_args_is_help=True, help="Find how many workers or judgments a study needs."
    ),
    "data": typer.Typer(no_args_is_help=True, help="Export, convert, check and back up data."),
}
cli.add_typer(_groups["plan"], name="plan", rich_help_panel=_ANALYSE)
cli.add_typer(_groups["data"], name="data", rich_help_panel=_ANALYSE)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"candor {version('candor-eval')}")
        raise typer.Exit


@cli.callback(invoke_without_command=True)
def default(
    context: typer.Context,
    wanted: Annotated[
        bool,
        typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Print the version."),
    ] = False,
    host: Annotated[str | None, typer.Option(help="Address to listen on, without a command.")] = None,
    port: Annotated[str | None, typer.Option(help="Port to listen on, without a command.")] = None,
    data: Annotated[str | None, typer.Option(help="Folder of the database, without a command.")] = None,
) -> None:
    """Serve if no command is given."""
    given = {"--host": host, "--port": port, "--data": data}
    options = [f"{name}={value}" for name, value in given.items() if value is not None]
    command = context.invoked_subcommand
    if command is None:
        _start("serve", COMMANDS["serve"], options)
    elif options:
        typer.echo(f"Put options after the command: candor {command} {' '.join(options)}", err=True)
        raise typer.Exit(2)


def _start(name: str, command: Command, arguments: Sequence[str]) -> None:
    app = _application(command)
    if not gc.isenabled():  # `main` disabled it
        gc.freeze()
        gc.enable()
    app(list(arguments), prog_name=f"candor {name}", **_HELP)


def _application(command: Command) -> typer.Typer:
    application: typer.Typer = getattr(import_module(command.module), command.app)
    return application


def _add(name: str, command: Command) -> None:
    group, _, own = name.rpartition(" ")

    @(_groups[group] if group else cli).command(
        own, cls=_PassedOn, help=command.summary, rich_help_panel=command.panel
    )
    def start(context: typer.Context) -> None:
        _start(name, command, context.args)


def _add_former(name: str, new: str) -> None:
    @cli.command(name, cls=_PassedOn, hidden=True)
    def start(context: typer.Context) -> None:
        _say_new_name(name, new)
        cli([*new.split(), *context.args], prog_name="candor")


def _say_new_name(name: str, new: str) -> None:
    typer.echo(f"The command `candor {name}` is called `candor {new}` now.", err=True)


for _name, _command in COMMANDS.items():
    _add(_name, _command)
for _name, _new in FORMER_NAMES.items():
    _add_former(_name, _new)


def main() -> None:
    """Run the command line.

    Files that it writes may contain workers' words, so only its user can read them.
    """
    os.umask(0o077)
    # Until the command's modules are loaded: garbage collection takes a quarter of that time, and what is
    # loaded stays until the end.
    gc.disable()
    cli(prog_name="candor")
