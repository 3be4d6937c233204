"""Check a database: its file, its secrets, every stored count, and how items are balanced."""

from collections import Counter
from dataclasses import dataclass

import typer
from sqlalchemy import Connection

from candor.common.terminal import console, fail
from server.cli.database import check_secrets, require_undamaged, transaction_or_fail
from server.cli.settings import Data, settings_from
from server.db.counts import pair_counts, plan_counts, run_counts, spending
from server.db.runs.items import judgments, systems_of_items
from server.db.runs.runs import RunEntry, all_runs
from server.errors import CandorError


@dataclass(frozen=True, slots=True)
class ItemBalance:
    """Minimum and maximum of counts that should be equal, over the assigned slots of a run.

    `items`: judgments per ordinary item. `systems`: for each system, the mean judgments per item.
    `positions`: how often a system is shown at a position; 0 if none of its items was.
    """

    judged: int
    items: tuple[int, int]
    systems: tuple[float, float]
    positions: tuple[int, int]


def item_balance(connection: Connection, run: RunEntry, *, simulated: bool) -> ItemBalance | None:
    """Return how evenly a run's items are judged; None if it has no items, or none is assigned yet."""
    system_of = systems_of_items(connection, run.id)
    counts = judgments(connection, run.id, simulated=simulated)
    if not counts:
        return None
    numbers = [counts.get(name, 0) for name in system_of]
    systems = sorted(set(system_of.values()))
    means = []
    for system in systems:
        theirs = [counts.get(name, 0) for name, of in system_of.items() if of == system]
        means.append(sum(theirs) / len(theirs))
    stands = plan_counts.positions(connection, run.id, simulated=simulated)
    last = max(position for _, position in stands)
    cells = [stands.get((system, at), 0) for system in systems for at in range(1, last + 1)]
    return ItemBalance(
        judged=sum(numbers),
        items=(min(numbers), max(numbers)),
        systems=(min(means), max(means)),
        positions=(min(cells), max(cells)),
    )


cli = typer.Typer(pretty_exceptions_enable=False, add_completion=False)

_REFERENCES = (
    "Another program changed the file, or the file was recovered from a damaged one. Restore your newest "
    "backup into another folder: `candor data restore BACKUP --data FOLDER`."
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
