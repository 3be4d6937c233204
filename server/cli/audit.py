"""`candor audit`: what is counted as it changes, counted anew."""

import typer

from bots import console, fail
from server.cli.database import transaction_or_fail
from server.cli.settings import Data
from server.db.plan_counts import differences

cli = typer.Typer(pretty_exceptions_enable=False, add_completion=False)


@cli.command()
def audit(data: Data = None) -> None:
    """Count anew the conversations and free places that arrivals go by; say whether what is kept agrees."""
    with transaction_or_fail(data) as connection:
        found = differences(connection)
    if found:
        fail(
            "what is kept differs from what is stored:\n" + "\n".join(found),
            "Workers still get an assignment, but a less balanced one. Report this with the lines above.",
        )
    console.print("The counts that arrivals go by agree with what is stored.")
