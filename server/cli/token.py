"""`candor token`: tokens of researchers and of bot hosts."""

import sys
from datetime import datetime
from typing import Annotated

import typer
from rich.table import Table

from bots import console, stderr
from server.access import tokens
from server.cli.database import transaction_or_fail
from server.cli.settings import Data
from server.clock import utc_now

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
        typer.Option("--for", help="researcher: everything a researcher may do; host: dial in, no more."),
    ] = "researcher",
    data: Data = None,
) -> None:
    """Make a token and print it, this once. A server that is running takes it at once."""
    with transaction_or_fail(data) as connection:
        made = tokens.new(connection, name, scope, utc_now())
    sys.stdout.write(made + "\n")
    stderr.print(f"The token of [bold]{name}[/] ({scope}). Keep it: it cannot be shown again.")


@cli.command("list")
def list_tokens(data: Data = None) -> None:
    """List every token by its name; the tokens themselves are stored nowhere."""
    with transaction_or_fail(data) as connection:
        found = tokens.every(connection)
    table = Table("name", "for", "created", "revoked", box=None)
    for grant in found:
        table.add_row(grant.name, grant.scope, _minute(grant.created_at), _minute(grant.revoked_at))
    console.print(table if found else "There are no tokens yet: `candor token new` makes one.")


@cli.command("revoke")
def revoke_token(name: Annotated[str, typer.Argument(help="As in the list.")], data: Data = None) -> None:
    """Revoke a token. A server that is running refuses it at once."""
    with transaction_or_fail(data) as connection:
        tokens.revoke(connection, name, utc_now())
    console.print(f"The token of [bold]{name}[/] is revoked.")


def _minute(at: datetime | None) -> str:
    return "" if at is None else f"{at:%Y-%m-%d %H:%M} UTC"
