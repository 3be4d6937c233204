"""`candor credits`: which students of a run have their credit from SONA, and who has not."""

from collections import Counter
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from bots import console, fail
from server.cli.database import transaction_or_fail
from server.cli.settings import Data
from server.db.audit import CommandLine
from server.db.runs.runs import find_run
from server.desk.runs.credits import ask_for_refused, credit_view

cli = typer.Typer(pretty_exceptions_enable=False, add_completion=False)


@cli.command()
def student_credits(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run's name.")],
    again: Annotated[
        bool, typer.Option("--again", help="Have the server ask again for those that SONA refused.")
    ] = False,
    data: Data = None,
) -> None:
    """Say whose credit SONA has granted, and why not.

    For studies with `recruiter: {kind: sona, credit: server, …}`: the server asks for the credit of whoever
    has handed in, and again while SONA cannot be reached. What SONA refuses waits for you.
    """
    with transaction_or_fail(data) as connection:
        entry = find_run(connection, run)
        if not credit_view(connection, entry).asked_by_server:
            fail(
                f"the server asks for no credits of the run `{run}`",
                "That is set in its study: `recruiter: {kind: sona, credit: server, …}`.",
            )
        asked = ask_for_refused(connection, entry, CommandLine()) if again else 0
        found = credit_view(connection, entry).credits
    table = Table("worker", "credit", "why not", "asked")
    for credit in found:
        at = f"{credit.tried_at:%Y-%m-%d %H:%M}" if credit.tried_at else ""
        table.add_row(credit.worker, credit.status, escape(credit.reason), at)
    console.print(table)
    counts = Counter(credit.status for credit in found)
    console.print(", ".join(f"{n} {what}" for what, n in sorted(counts.items())) or "Nobody has handed in.")
    if again:
        console.print(f"{asked} are asked for again, within half a minute, by the server while it runs.")
