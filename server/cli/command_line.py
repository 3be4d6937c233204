"""The command `candor`: its commands by name. The one that is called is loaded, the others are not.

All of them together take seconds to load: the server with its database, scipy, the models of a bot host.
Those of `bots` and `qc` are named here as text: `server` imports neither, and this table is the one place
where the commands of the three packages meet.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated

import typer
from typer.core import TyperCommand


@dataclass(frozen=True, slots=True)
class Command:
    """A command: the Typer application `app` of `module`."""

    module: str
    summary: str
    app: str = "cli"


COMMANDS = {
    "serve": Command(
        "server.cli.serve", "Serve every open run; an empty database gets the demo study first."
    ),
    "study": Command("server.cli.study", "Write studies, check them, open runs of them."),
    "run": Command("server.cli.run", "Open, pause, resume, close or replicate a run, and list the runs."),
    "demo": Command(
        "server.cli.demo",
        "Try out rating the demo's own conversations, or recruiting on a stand-in of Prolific.",
    ),
    "recruit": Command("server.cli.recruit", "Publish a run's study on Prolific, read its submissions, pay."),
    "credits": Command("server.cli.credits", "Say which students of a run have their credit from SONA."),
    "links": Command("server.cli.links", "Print a personal, signed link for each worker of a list."),
    "bots": Command("bots.__main__", "Register bots with a server, check them, change them."),
    "worker": Command("server.cli.worker", "Say what is stored of a worker, and forget them."),
    "people": Command("server.cli.people", "Say who may sign in at the desk, and what they may do there."),
    "token": Command("server.cli.token", "Make, list and revoke tokens of researchers and bot hosts."),
    "new-secrets": Command(
        "server.cli.new_secrets", "Make new secrets for an installation whose secrets are lost."
    ),
    "crowd": Command("bots.crowd.__main__", "Let simulated workers take part in a run."),
    "rehearse": Command(
        "bots.rehearse", "Try a study out with simulated workers, and hear what it will show."
    ),
    "host": Command("bots.host.__main__", "Host models, so that they can answer as bots."),
    "report": Command("qc.report", "Report on a run: who is kept, how its systems score.", app="app"),
    "watch": Command("qc.watch", "Say how a run stands while ratings come in, as JSON.", app="app"),
    "metrics": Command("qc.metrics.__main__", "Hold automatic metrics of a run against people.", app="app"),
    "estimate": Command(
        "qc.estimate", "Say how precise means are, and what a metric saves in judgments.", app="app"
    ),
    "plan": Command("qc.plan", "Say what a run with so many workers would show, and cost.", app="app"),
    "power": Command("qc.power", "Plan how many judgments a conclusion takes.", app="app"),
    "randomisation": Command("qc.randomisation", "Test pairs of systems, and raters.", app="app"),
    "bundle": Command("qc.bundle", "Pack a run, its study and its report for others.", app="app"),
    "verify": Command("qc.verify", "Analyse such a bundle again, and say what differs.", app="app"),
    "convert": Command("qc.convert", "Write a run in another format.", app="app"),
    "export": Command("server.cli.export", "Write a run as a file: what was said and rated in it."),
    "audit": Command("server.cli.audit", "Count anew what arrivals go by, and compare."),
    "backup": Command("server.cli.backup", "Write an installation to one file.", app="backup_cli"),
    "restore": Command("server.cli.backup", "Make an installation out of such a file.", app="restore_cli"),
    "schema": Command("server.cli.schema", "Print the schema of the workers' wire, or of the API."),
}

cli = typer.Typer(
    help="Candor: live human evaluation of dialogue systems. Without a command: serve.",
    pretty_exceptions_enable=False,
    add_completion=False,
)


class _PassedOn(TyperCommand):
    """A command whose arguments, `--help` among them, are for the application that it starts."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        ctx.args = list(args)
        return ctx.args


@cli.callback(invoke_without_command=True)
def default(
    context: typer.Context,
    host: Annotated[str | None, typer.Option(help="For serve: address to listen on.")] = None,
    port: Annotated[str | None, typer.Option(help="For serve: port to listen on.")] = None,
    data: Annotated[str | None, typer.Option(help="For serve: folder of the database.")] = None,
) -> None:
    """Serve where no command was given."""
    if context.invoked_subcommand is None:
        given = {"--host": host, "--port": port, "--data": data}
        _start("serve", COMMANDS["serve"], [f"{name}={value}" for name, value in given.items() if value])


def _start(name: str, command: Command, arguments: Sequence[str]) -> None:
    app = getattr(import_module(command.module), command.app)
    app(list(arguments), prog_name=f"candor {name}")


def _add(name: str, command: Command) -> None:
    @cli.command(name, cls=_PassedOn, help=command.summary)
    def start(context: typer.Context) -> None:
        _start(name, command, context.args)


for _name, _command in COMMANDS.items():
    _add(_name, _command)


def main() -> None:
    """Run the command line. Only its user can read what it writes, which may hold words of workers."""
    os.umask(0o077)
    cli(prog_name="candor")
