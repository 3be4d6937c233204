"""Draw the scenario of each conversation of a slot once, balanced over systems."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, bindparam, func, literal_column, select

from server.bots.lineup import OpenRun
from server.db.tables import AssignmentTable, ConversationTable, SystemTable
from server.live.arrive.admission import IN_RUN
from server.session.plan import derive_seed


def draw_scenarios(
    systems: Sequence[str], labels: Sequence[str], counts: Mapping[tuple[str, str], int], seed: int
) -> tuple[str, ...]:
    """Return the label of a scenario for each of `systems`, in their order. Pure.

    A system gets a scenario that it has had least often, so that its counts differ by at most one. Among
    these, it gets one that this worker has met least often, ties by seed.

    Args:
        systems: The systems of a slot, in the order in which the worker meets them.
        labels: The study's scenarios.
        counts: How often each system had each scenario in the held slots; missing means never.
        seed: The seed of the random choices.
    """
    rng = random.Random(seed)
    here: Counter[str] = Counter()
    drawn: dict[int, str] = {}
    for index in rng.sample(range(len(systems)), len(systems)):
        shuffled = rng.sample(list(labels), len(labels))
        label = min(shuffled, key=lambda one: (counts.get((systems[index], one), 0), here[one]))
        here[label] += 1
        drawn[index] = label
    return tuple(drawn[index] for index in range(len(systems)))


def scenarios_of_place(
    connection: Connection, run: OpenRun, place: int, systems: Sequence[str], *, simulated: bool
) -> tuple[str | None, ...]:
    """Return the scenario of each conversation of a slot: its last holder's, or newly drawn ones.

    In a study with scenarios this counts the conversations of the run, in time proportional to their number.
    """
    labels = tuple(run.rules.scenarios)
    if not labels:
        return (None,) * len(systems)
    here = {"run": run.id, "simulated": simulated}
    before = tuple(connection.execute(_EARLIER, {**here, "place": place}).scalars())
    if len(before) == len(systems):
        return before
    counts = {(row.name, row.scenario): row.number for row in connection.execute(_COUNTS, here)}
    seed = derive_seed(run.seed, "scenarios", "simulated" if simulated else "place", place)
    return draw_scenarios(systems, labels, counts, seed)


_LAST_HOLDER = (
    select(AssignmentTable.c.id)
    .where(*IN_RUN, AssignmentTable.c.place == bindparam("place"))
    .where(AssignmentTable.c.id.in_(select(ConversationTable.c.assignment_id)))
    .order_by(AssignmentTable.c.created_at.desc())
    .limit(1)
    .scalar_subquery()
)
_EARLIER = (
    select(ConversationTable.c.scenario)
    .where(ConversationTable.c.assignment_id == _LAST_HOLDER, ConversationTable.c.attempt == 1)
    .order_by(ConversationTable.c.position)
)
_COUNTS = (
    select(SystemTable.c.name, ConversationTable.c.scenario, func.count().label("number"))
    .select_from(ConversationTable)
    .join(AssignmentTable, AssignmentTable.c.id == ConversationTable.c.assignment_id)
    .join(SystemTable, SystemTable.c.id == ConversationTable.c.system_id)
    .where(*IN_RUN, AssignmentTable.c.status.in_([literal_column("'active'"), literal_column("'completed'")]))
    .where(ConversationTable.c.attempt == 1)
    .group_by(SystemTable.c.name, ConversationTable.c.scenario)
)
