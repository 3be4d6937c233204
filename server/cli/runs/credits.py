"""`candor recruit credits`: list the students of a run, with the state of their SONA credit."""

from collections import Counter
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from candor.common.terminal import console, fail
from server.cli.database import transaction_or_fail
from server.cli.settings import Data
from server.db.audit import CommandLine
from server.db.runs.runs import find_run
from server.desk.runs.credits import ask_for_refused, credit_view


def student_credits(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run's name.")],
    again: Annotated[
        bool, typer.Option("--again", help="Request the credits that SONA refused once more.")
    ] = False,
    data: Data = None,
) -> None:
    """List students with the state of their SONA credit, and the reason if SONA refused it.

    For studies with `recruiter: {kind: sona, credit: server, …}`. The server requests the credit when a
    student submits, and repeats the request while SONA cannot be reached. It does not repeat a refused
    request: use --again.
    """
    with transaction_or_fail(data) as connection:
        entry = find_run(connection, run)
        if not credit_view(connection, entry).asked_by_server:
            fail(
                f"the server does not request credits for the run `{run}`",
                "To change that, set `recruiter: {kind: sona, credit: server, …}` in the study.",
            )
        asked = ask_for_refused(connection, entry, CommandLine()) if again else 0
        found = credit_view(connection, entry).credits
    table = Table("worker", "credit", "why not", "asked")
    for credit in found:
        at = f"{credit.tried_at:%Y-%m-%d %H:%M}" if credit.tried_at else ""
        table.add_row(credit.worker, credit.status, escape(credit.reason), at)
    console.print(table)
    counts = Counter(credit.status for credit in found)
    console.print(", ".join(f"{n} {what}" for what, n in sorted(counts.items())) or "Nobody has submitted.")
    if again:
        console.print(f"A running server requests {asked} credits again within half a minute.")
