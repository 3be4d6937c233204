"""`candor audit`: check the database's file, and count anew what is counted as it changes."""

from collections import Counter

import typer
from sqlalchemy import Connection

from bots import console, fail
from server.cli.database import check_secrets, require_undamaged, transaction_or_fail
from server.cli.settings import Data, settings_from
from server.db.counts import pair_counts, plan_counts, run_counts, spending
from server.db.runs.runs import all_runs
from server.desk.runs.item_balance import item_balance
from server.errors import CandorError

cli = typer.Typer(pretty_exceptions_enable=False, add_completion=False)

_REFERENCES = (
    "The file was changed by another program, or pieced together from a damaged one. Restore your newest "
    "backup into another folder: `candor restore BACKUP --data FOLDER`."
)


@cli.command()
def audit(data: Data = None) -> None:
    """Check the database for damage and its secrets, and count anew what arrivals go by.

    Every page of an SQLite file is read, which takes a minute for some gigabytes. Of runs whose workers rate
    items, say how evenly these were given out.
    """
    settings = settings_from(data=data)
    try:
        require_undamaged(settings, whole=True)
    except CandorError as error:
        fail(error.message, error.hint)
    with transaction_or_fail(data) as connection:
        if broken := _broken_references(connection):
            fail(f"Rows refer to rows that are missing: {broken}", _REFERENCES)
        found = [
            *plan_counts.differences(connection),
            *pair_counts.differences(connection),
            *run_counts.differences(connection),
            *spending.differences(connection),
        ]
        if found:
            fail(
                "what is kept differs from what is stored:\n" + "\n".join(found),
                "Workers still get an assignment, but a less balanced one. Report this with the lines above.",
            )
        check_secrets(settings, connection)
        balances = {
            (run.slug, who): balance
            for run in all_runs(connection)
            for who, simulated in (("workers", False), ("simulated workers", True))
            if (balance := item_balance(connection, run, simulated=simulated)) is not None
        }
    console.print(
        "The database is sound, and the counts that arrivals go by agree with what is stored.", soft_wrap=True
    )
    for (run, who), balance in balances.items():
        console.print(
            f"{run}, {who}: {balance.judged} judgments; {_range(balance.items)} of an item, "
            f"{_range(balance.systems)} on average of an item of a system, "
            f"{_range(balance.positions)} of a system at a position.",
            soft_wrap=True,
        )


def _broken_references(connection: Connection) -> str:
    """Return how many rows of which table of an SQLite database refer to rows that are missing."""
    if connection.dialect.name != "sqlite":
        return ""  # PostgreSQL checks them at every commit
    rows = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
    counts = Counter(f"{table}, of {parent}" for table, _, parent, _ in rows)
    return "; ".join(f"{number} of {name}" for name, number in sorted(counts.items()))


def _range(ends: tuple[float, float]) -> str:
    low, high = (f"{end:.2f}".rstrip("0").rstrip(".") for end in ends)
    return low if low == high else f"{low} to {high}"
