"""`candor token`: tokens of researchers and of bot hosts."""

import sys
from datetime import datetime
from typing import Annotated

import typer
from rich.table import Table

from bots import console, stderr
from server.access import tokens
from server.access.roles import ALL_STUDIES
from server.cli.database import transaction_or_fail
from server.cli.settings import Data
from server.db.audit import CommandLine
from server.desk.people.people import made, revoke, said

cli = typer.Typer(
    help="Tokens of researchers and of bot hosts that dial in.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


@cli.command("new")
def new_token(
    name: Annotated[str, typer.Option(help="Whose it is; names it in the list.")],
    scope: Annotated[
        tokens.Scope,
        typer.Option("--for", help="The role that it stands for, or host: dial in, no more."),
    ] = "researcher",
    study: Annotated[str | None, typer.Option(help="The study that it is for.", show_default="all")] = None,
    data: Data = None,
) -> None:
    """Make a token and print it, this once. A server that is running takes it at once."""
    with transaction_or_fail(data) as connection:
        granted = made(connection, CommandLine(), name, scope, study or ALL_STUDIES)
    sys.stdout.write(granted.token + "\n")
    what = said(scope, study or ALL_STUDIES)
    stderr.print(f"The token of [bold]{name}[/] ({what}). Keep it: it cannot be shown again.")


@cli.command("list")
def list_tokens(data: Data = None) -> None:
    """List every token by its name; the tokens themselves are stored nowhere."""
    with transaction_or_fail(data) as connection:
        found = tokens.every(connection)
    table = Table("name", "for", "study", "created", "revoked", box=None)
    for grant in found:
        table.add_row(
            grant.name,
            grant.scope,
            grant.study or "all",
            _minute(grant.created_at),
            _minute(grant.revoked_at),
        )
    console.print(table if found else "There are no tokens yet: `candor token new` makes one.")


@cli.command("revoke")
def revoke_token(name: Annotated[str, typer.Argument(help="As in the list.")], data: Data = None) -> None:
    """Revoke a token. A server that is running refuses it at once."""
    with transaction_or_fail(data) as connection:
        revoke(connection, CommandLine(), name)
    console.print(f"The token of [bold]{name}[/] is revoked.")


def _minute(at: datetime | None) -> str:
    return "" if at is None else f"{at:%Y-%m-%d %H:%M} UTC"
