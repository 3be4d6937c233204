"""`candor worker`: what is stored of a worker, and forgetting them."""

from typing import Annotated

import typer
from rich.markup import escape

from bots import agree, console
from server.cli.database import empty_log_or_warn, id_cipher, transaction_or_fail
from server.cli.settings import Data, settings_from
from server.clock import utc_now
from server.db.audit import CommandLine
from server.db.removal import Extent
from server.db.worker_ids import require_key
from server.desk.assignments.forgetting import WorkerHoldings, forget, holdings_of, look_up

cli = typer.Typer(
    help="Say what is stored of a worker, and forget them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
Who = Annotated[
    str, typer.Argument(metavar="ID", help="The worker's pseudonym, or their id on the platform.")
]
Platform = Annotated[
    str | None, typer.Option(help="Where the id is from, as `prolific`, if several platforms have it.")
]


@cli.command()
def show(worker: Who, platform: Platform = None, data: Data = None) -> None:
    """Say what is stored of a worker."""
    with transaction_or_fail(data) as connection:
        ids = id_cipher(settings_from(data=data), connection)
        require_key(connection, ids)
        found = look_up(connection, ids, CommandLine(), worker, platform)
    console.print(_said(found), soft_wrap=True)


@cli.command("forget")
def forget_worker(
    worker: Who,
    everything: Annotated[
        bool, typer.Option("--all", help="Remove their ratings, answers and choices, too.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Remove it without asking.")] = False,
    platform: Platform = None,
    data: Data = None,
) -> None:
    """Remove a worker's words and id; their ratings stay, under a new pseudonym. This cannot be undone.

    A session that is under way ends. Exports, reports and backups that were made before have all still: they
    are yours to delete.
    """
    extent: Extent = "all" if everything else "words"
    with transaction_or_fail(data) as connection:
        ids = id_cipher(settings_from(data=data), connection)
        require_key(connection, ids)
        found = holdings_of(connection, ids, worker, platform)
    console.print(_said(found), soft_wrap=True)
    removed = (
        "All of it is removed, and no analysis takes these assignments in."
        if everything
        else "What was written and whom the pseudonym stands for is removed; ratings, and answers that were "
        "picked, stay."
    )
    console.print(
        f"{removed} Systems, order and times stay, so that places and costs add up.", soft_wrap=True
    )
    agree("This cannot be undone.", yes=yes)
    with transaction_or_fail(data) as connection:
        done = forget(connection, ids, CommandLine(), (worker, platform), extent, utc_now())
    empty_log_or_warn(settings_from(data=data))
    stays = "" if done.worker is None else f" What stays stands under [bold]{done.worker}[/]."
    console.print(f"Forgotten.{stays}")


def _said(found: WorkerHoldings) -> str:
    lists = f"in the lists of {found.lists} runs to which they may not come."
    if found.worker is None or found.platform is None:
        return f"Nobody of this id has come. It is {lists}"
    return (
        f"[bold]{escape(found.worker)}[/], who came by {escape(found.platform)}: "
        f"{found.assignments} assignments ({found.under_way} under way), "
        f"{found.conversations} conversations, {found.lines} lines that they wrote, "
        f"{found.ratings} ratings, {found.answers} answers"
        f"{f'; {lists}' if found.lists else '.'}"
    )
