"""`candor token`: create, list and revoke tokens of researchers and bot hosts."""

import sys
from datetime import datetime
from typing import Annotated

import typer
from rich.table import Table

from candor.common.terminal import console, stderr
from server.access import tokens
from server.access.roles import ALL_STUDIES
from server.cli.database import transaction_or_fail
from server.cli.settings import Data
from server.db.audit import CommandLine
from server.desk.people.people import made, revoke, said

token_cli = typer.Typer(
    help="Create, list and revoke tokens of researchers, and of bot hosts that connect to the server.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


@token_cli.command("new")
def new_token(
    name: Annotated[str, typer.Option(help="A name for the token, such as its owner's.")],
    scope: Annotated[
        tokens.Scope,
        typer.Option("--for", help="The role of the token, or host for a bot host that connects."),
    ] = "researcher",
    study: Annotated[
        str | None, typer.Option(help="Limit the token to this study.", show_default="all")
    ] = None,
    data: Data = None,
) -> None:
    """Create a token and print it. It cannot be shown again. A running server accepts it at once."""
    with transaction_or_fail(data) as connection:
        granted = made(connection, CommandLine(), name, scope, study or ALL_STUDIES)
    sys.stdout.write(granted.token + "\n")
    what = said(scope, study or ALL_STUDIES)
    stderr.print(f"The token of [bold]{name}[/] ({what}). Keep it: it cannot be shown again.")


@token_cli.command("list")
def list_tokens(data: Data = None) -> None:
    """List tokens by name. The tokens themselves are not stored."""
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
    console.print(table if found else "There are no tokens yet. Create one with `candor token new`.")


@token_cli.command("revoke")
def revoke_token(
    name: Annotated[str, typer.Argument(help="The token's name, as listed.")], data: Data = None
) -> None:
    """Revoke a token. A running server refuses it at once."""
    with transaction_or_fail(data) as connection:
        revoke(connection, CommandLine(), name)
    console.print(f"The token of [bold]{name}[/] is revoked.")


def _minute(at: datetime | None) -> str:
    return "" if at is None else f"{at:%Y-%m-%d %H:%M} UTC"
