"""`candor audit`: check the database for damage and verify its counters."""

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
    "Another program changed the file, or the file was recovered from a damaged one. Restore your newest "
    "backup into another folder: `candor restore BACKUP --data FOLDER`."
)


@cli.command()
def audit(data: Data = None) -> None:
    """Check the database for damage, its secrets, and the counters that assign workers.

    The command reads every page of an SQLite file, which takes about a minute for a few gigabytes. For runs
    in which workers rate items, it also prints how evenly the items were assigned.
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
                "Some counters differ from the stored data:\n" + "\n".join(found),
                "Workers still get assignments, but less balanced ones. Report this with the lines above.",
            )
        check_secrets(settings, connection)
        balances = {
            (run.slug, who): balance
            for run in all_runs(connection)
            for who, simulated in (("workers", False), ("simulated workers", True))
            if (balance := item_balance(connection, run, simulated=simulated)) is not None
        }
    console.print("The database is sound, and all counters agree with the stored data.", soft_wrap=True)
    for (run, who), balance in balances.items():
        console.print(
            f"{run}, {who}: {balance.judged} judgments: {_range(balance.items)} per item, "
            f"{_range(balance.systems)} per item on average for each system, "
            f"{_range(balance.positions)} per system and position.",
            soft_wrap=True,
        )


def _broken_references(connection: Connection) -> str:
    """Return the number of rows, by table, whose foreign keys point to missing rows; "" if there are none.

    Only SQLite is checked.
    """
    if connection.dialect.name != "sqlite":
        return ""  # PostgreSQL checks them at every commit
    rows = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
    counts = Counter(f"{table}, of {parent}" for table, _, parent, _ in rows)
    return "; ".join(f"{number} of {name}" for name, number in sorted(counts.items()))


def _range(ends: tuple[float, float]) -> str:
    low, high = (f"{end:.2f}".rstrip("0").rstrip(".") for end in ends)
    return low if low == high else f"{low} to {high}"
