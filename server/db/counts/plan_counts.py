"""Count how often each system stands at each position in a run's slots, as it changes.

An arrival reads these counts, so that it costs the same in a run of ten assignments and of a hundred
thousand. They change in the transaction that changes the counted rows, only in `db/sessions/write`. A slot is
held by an active or completed assignment. Its conversations count from when they are planned, unless they are
skipped. A failed one still counts for its system, or a broken bot would be drawn for everybody. `differences`
counts again from the rows.
"""

from collections.abc import Mapping

from sqlalchemy import Connection, Text, bindparam, cast, func, select, text

from server.db.engine.bulk import Bulk, Kind
from server.db.tables import PlanCountTable, SystemTable


def _counted(conversations: str) -> str:
    """Return the query that counts, by system and position, the conversations of the given rows."""
    return f"""
        SELECT assignment.run_id, assignment.simulated, conversation.system_id, conversation.position,
               count(*) AS number
        FROM {{rows}} AS given JOIN conversation ON {conversations}
        JOIN assignment ON assignment.id = conversation.assignment_id
        GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4"""  # noqa: S608


def _taken_off(conversations: str) -> str:
    return f"""
        UPDATE plan_count SET number = plan_count.number - gone.number
        FROM ({_counted(conversations)}) AS gone
        WHERE plan_count.run_id = gone.run_id AND plan_count.simulated = gone.simulated
          AND plan_count.system_id = gone.system_id AND plan_count.position = gone.position"""  # noqa: S608


# `key` is a planned conversation.
COUNT_PLANNED = Bulk(
    f"""
    INSERT INTO plan_count (run_id, simulated, system_id, position, number)
    SELECT * FROM ({_counted("conversation.id = given.key")}) AS planned WHERE true
    ON CONFLICT (run_id, simulated, system_id, position)
    DO UPDATE SET number = plan_count.number + excluded.number""",  # noqa: S608
    key=Kind.TEXT,
)

# `key` is a skipped conversation.
COUNT_SKIPPED = Bulk(_taken_off("conversation.id = given.key"), key=Kind.TEXT)

# `key` is an assignment that has lost its slot.
COUNT_LOST = Bulk(
    _taken_off("conversation.assignment_id = given.key AND conversation.status <> 'skipped'"), key=Kind.TEXT
)

# `key` is an assignment that has lost its slot, which nobody holds now.
FREE_PLACE = Bulk(
    """
    INSERT INTO free_place (run_id, simulated, place)
    SELECT assignment.run_id, assignment.simulated, assignment.place
    FROM {rows} AS given JOIN assignment ON assignment.id = given.key""",
    key=Kind.TEXT,
)

# All in one row, because reading each row releases the interpreter lock. No system's name contains a space.
COUNTS = select(
    func.aggregate_strings(
        SystemTable.c.name
        + ":"
        + cast(PlanCountTable.c.position, Text)
        + ":"
        + cast(PlanCountTable.c.number, Text),
        " ",
    )
).where(
    SystemTable.c.id == PlanCountTable.c.system_id,
    PlanCountTable.c.run_id == bindparam("run"),
    PlanCountTable.c.simulated == bindparam("simulated"),
)

_COUNTED_ANEW = """
    SELECT assignment.run_id, assignment.simulated, conversation.system_id, conversation.position, count(*)
    FROM conversation JOIN assignment ON assignment.id = conversation.assignment_id
    WHERE assignment.status IN ('active', 'completed') AND conversation.status <> 'skipped'
    GROUP BY assignment.run_id, assignment.simulated, conversation.system_id, conversation.position"""
_FREE_ANEW = """
    SELECT run_id, simulated, place FROM assignment
    EXCEPT
    SELECT run_id, simulated, place FROM assignment WHERE status IN ('active', 'completed')"""
# Fills these tables once in a database that was made before them; a migration runs it.
FILL = (
    f"INSERT INTO plan_count (run_id, simulated, system_id, position, number) {_COUNTED_ANEW}",
    f"INSERT INTO free_place (run_id, simulated, place) {_FREE_ANEW}",
)

_Place = tuple[int, bool, int]  # run, simulated, place


def positions(connection: Connection, run_id: int, *, simulated: bool) -> Mapping[tuple[str, int], int]:
    """Return how often the held slots of a run have each system, by name, at each position, from 1."""
    return positions_in(connection.execute(COUNTS, {"run": run_id, "simulated": simulated}).scalar_one())


def positions_in(counted: str | None) -> Mapping[tuple[str, int], int]:
    """Parse the result of `COUNTS`; return the same as `positions`."""
    each = (one.rsplit(":", 2) for one in (counted or "").split(" ") if one)  # a name may hold a colon
    return {(name, int(position)): int(number) for name, position, number in each}


def differences(connection: Connection) -> list[str]:
    """Count everything again; return sentences about wrong counts, none if all are right."""
    kept = _numbers(connection, "SELECT run_id, simulated, system_id, position, number FROM plan_count")
    anew = _numbers(connection, _COUNTED_ANEW)
    free = _places(connection, "SELECT run_id, simulated, place FROM free_place")
    free_anew = _places(connection, _FREE_ANEW)
    return [
        *(
            f"run {run}, {_who(simulated)}, system {system}, position {position}: "
            f"{_number(anew, key)} conversations, {_number(kept, key)} counted"
            for key in sorted(kept.keys() | anew.keys())
            if _number(kept, key) != _number(anew, key)
            for run, simulated, system, position in [key]
        ),
        *(
            f"run {run}, {_who(simulated)}, place {place}: "
            f"{'free, but not' if (run, simulated, place) in free_anew else 'not free, but'} kept as free"
            for run, simulated, place in sorted(free ^ free_anew)
        ),
    ]


def _numbers(connection: Connection, query: str) -> dict[tuple[int, bool, int, int], int]:
    rows = connection.execute(text(query))
    return {(run, bool(simulated), system, at): number for run, simulated, system, at, number in rows}


def _places(connection: Connection, query: str) -> set[_Place]:
    return {(run, bool(simulated), place) for run, simulated, place in connection.execute(text(query))}


def _number(counts: Mapping[tuple[int, bool, int, int], int], key: tuple[int, bool, int, int]) -> int:
    return counts.get(key, 0)


def _who(simulated: bool) -> str:
    return "simulated workers" if simulated else "workers"
