"""What the held places of a run have, counted as it changes: how often each system stands at each position.

A worker's arrival looks at these counts, so that it costs the same in a run of ten assignments and of a
hundred thousand. They change in the transaction that changes what they count: `rows.write` does so, and
nobody else. A place is held by an assignment that is under way or completed; its conversations count from
when they are planned, unless they are skipped. One that failed counts for the system that failed, or a broken
bot would be drawn for everybody. `differences` counts anew.
"""

from collections.abc import Mapping

from sqlalchemy import Connection, text

_OF_THE_CONVERSATION = """
    SELECT assignment.run_id, assignment.simulated, conversation.system_id, conversation.position
    FROM conversation JOIN assignment ON assignment.id = conversation.assignment_id
    WHERE conversation.id = :key"""

# `key` is a conversation that was planned.
COUNT_PLANNED = text(f"""
    INSERT INTO plan_count (run_id, simulated, system_id, position, number)
    SELECT counted.*, 1 FROM ({_OF_THE_CONVERSATION}) AS counted WHERE true
    ON CONFLICT (run_id, simulated, system_id, position) DO UPDATE SET number = plan_count.number + 1""")  # noqa: S608

# `key` is a conversation that was skipped.
COUNT_SKIPPED = text(f"""
    UPDATE plan_count SET number = number - 1
    WHERE (run_id, simulated, system_id, position) = ({_OF_THE_CONVERSATION})""")  # noqa: S608

# `key` is an assignment that has lost its place.
COUNT_LOST = text("""
    UPDATE plan_count SET number = number - (
        SELECT count(*) FROM conversation
        WHERE conversation.assignment_id = :key AND conversation.status <> 'skipped'
          AND conversation.system_id = plan_count.system_id AND conversation.position = plan_count.position)
    WHERE (run_id, simulated) = (SELECT run_id, simulated FROM assignment WHERE id = :key)""")

# `key` is an assignment that has lost its place, which is nobody's now.
FREE_PLACE = text("""
    INSERT INTO free_place (run_id, simulated, place)
    SELECT run_id, simulated, place FROM assignment WHERE id = :key""")

_COUNTS = text("""
    SELECT system.name, plan_count.position, plan_count.number
    FROM plan_count JOIN system ON system.id = plan_count.system_id
    WHERE plan_count.run_id = :run AND plan_count.simulated = :simulated""")

_COUNTED_ANEW = """
    SELECT assignment.run_id, assignment.simulated, conversation.system_id, conversation.position, count(*)
    FROM conversation JOIN assignment ON assignment.id = conversation.assignment_id
    WHERE assignment.status IN ('active', 'completed') AND conversation.status <> 'skipped'
    GROUP BY assignment.run_id, assignment.simulated, conversation.system_id, conversation.position"""
_FREE_ANEW = """
    SELECT run_id, simulated, place FROM assignment
    EXCEPT
    SELECT run_id, simulated, place FROM assignment WHERE status IN ('active', 'completed')"""
# What a database that was made before these tables needs once; a step of the migrations runs it.
FILL = (
    f"INSERT INTO plan_count (run_id, simulated, system_id, position, number) {_COUNTED_ANEW}",
    f"INSERT INTO free_place (run_id, simulated, place) {_FREE_ANEW}",
)

_Place = tuple[int, bool, int]  # run, simulated, place


def positions(connection: Connection, run_id: int, *, simulated: bool) -> Mapping[tuple[str, int], int]:
    """Return how often the held places of a run have each system, by name, at each position, from 1."""
    found = connection.execute(_COUNTS, {"run": run_id, "simulated": simulated})
    return {(name, position): number for name, position, number in found}


def differences(connection: Connection) -> list[str]:
    """Count everything anew; return in words where what is kept differs, nothing where it agrees."""
    kept = _counted(connection, "SELECT run_id, simulated, system_id, position, number FROM plan_count")
    anew = _counted(connection, _COUNTED_ANEW)
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


def _counted(connection: Connection, query: str) -> dict[tuple[int, bool, int, int], int]:
    rows = connection.execute(text(query))
    return {(run, bool(simulated), system, at): number for run, simulated, system, at, number in rows}


def _places(connection: Connection, query: str) -> set[_Place]:
    return {(run, bool(simulated), place) for run, simulated, place in connection.execute(text(query))}


def _number(counts: Mapping[tuple[int, bool, int, int], int], key: tuple[int, bool, int, int]) -> int:
    return counts.get(key, 0)


def _who(simulated: bool) -> str:
    return "simulated workers" if simulated else "workers"
