"""Balance of a run's items and of its systems over positions."""

from dataclasses import dataclass

from sqlalchemy import Connection

from server.db.counts import plan_counts
from server.db.runs.items import judgments, systems_of_items
from server.db.runs.runs import RunEntry


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
