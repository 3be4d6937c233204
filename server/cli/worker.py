"""`candor worker`: show or remove the data of a worker."""

from typing import Annotated

import typer
from rich.markup import escape

from candor.common.terminal import agree, console
from server.cli.installation import Data, empty_log_or_warn, id_cipher, settings_from, transaction_or_fail
from server.clock import utc_now
from server.db.audit import CommandLine
from server.db.removal import Extent
from server.db.secrets import require_key
from server.desk.assignments.forgetting import WorkerHoldings, forget, holdings_of, look_up

cli = typer.Typer(
    help="Show or remove the data of a worker.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
Who = Annotated[
    str, typer.Argument(metavar="ID", help="The worker's pseudonym, or their id on the platform.")
]
Platform = Annotated[
    str | None, typer.Option(help="The platform of the id, such as `prolific`, if several have it.")
]


@cli.command()
def show(worker: Who, platform: Platform = None, data: Data = None) -> None:
    """Show how much data is stored about a worker."""
    with transaction_or_fail(data) as connection:
        ids = id_cipher(settings_from(data=data), connection)
        require_key(connection, ids)
        found = look_up(connection, ids, CommandLine(), worker, platform)
    console.print(_said(found), soft_wrap=True)


@cli.command("forget")
def forget_worker(
    worker: Who,
    everything: Annotated[
        bool, typer.Option("--all", help="Remove ratings, answers and choices, too.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Remove it without asking.")] = False,
    platform: Platform = None,
    data: Data = None,
) -> None:
    """Remove a worker's words and id. Ratings stay, under a new pseudonym. This cannot be undone.

    The worker's open session ends. Earlier exports, reports and backups still contain the data: delete them
    yourself.
    """
    extent: Extent = "all" if everything else "words"
    with transaction_or_fail(data) as connection:
        ids = id_cipher(settings_from(data=data), connection)
        require_key(connection, ids)
        found = holdings_of(connection, ids, worker, platform)
    console.print(_said(found), soft_wrap=True)
    removed = (
        "This removes all of it, and excludes these assignments from every analysis."
        if everything
        else "This removes the worker's words and id. Ratings and multiple-choice answers stay."
    )
    console.print(
        f"{removed} Systems, order and times stay, because slots and costs depend on them.", soft_wrap=True
    )
    agree("This cannot be undone.", yes=yes)
    with transaction_or_fail(data) as connection:
        done = forget(connection, ids, CommandLine(), (worker, platform), extent, utc_now())
    empty_log_or_warn(settings_from(data=data))
    stays = "" if done.worker is None else f" The new pseudonym is [bold]{done.worker}[/]."
    console.print(f"Removed.{stays}")


def _said(found: WorkerHoldings) -> str:
    lists = f"excluded by the rules of {found.lists} runs."
    if found.worker is None or found.platform is None:
        return f"No worker with this id has come. The id is {lists}"
    return (
        f"[bold]{escape(found.worker)}[/], from {escape(found.platform)}: "
        f"{found.assignments} assignments ({found.under_way} under way), "
        f"{found.conversations} conversations, {found.lines} messages, "
        f"{found.ratings} ratings, {found.answers} answers"
        f"{f'; {lists}' if found.lists else '.'}"
    )
