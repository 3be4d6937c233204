"""Count a run's assignments by status, and its rated conversations by system, as they change.

Arrivals and the end of a run use these counts, so that both cost the same in a run of any size. They change
in the transaction that changes the counted rows, only in `db/sessions/write`. A rated conversation counts
once its assignment is completed, as in reports; of items, only ordinary ones count. `differences` counts
again from the rows.
"""

from sqlalchemy import Connection, text

from server.db.engine.bulk import Bulk, Kind

# For a new assignment: its run, and `simulated`, which is 1 or 0.
COUNT_BEGUN = Bulk(
    """
    INSERT INTO assignment_count (run_id, simulated, status, number)
    SELECT given.run, given.simulated = 1, 'active', 1 FROM {rows} AS given WHERE true
    ON CONFLICT (run_id, simulated, status) DO UPDATE SET number = assignment_count.number + 1""",
    run=Kind.NUMBER,
    simulated=Kind.NUMBER,
)

# `key` is an assignment, and `status` its new status after being active.
COUNT_ENDED = Bulk(
    """
    INSERT INTO assignment_count (run_id, simulated, status, number)
    SELECT run_id, simulated, status, sum(number) FROM (
        SELECT assignment.run_id, assignment.simulated, given.status, 1 AS number
        FROM {rows} AS given JOIN assignment ON assignment.id = given.key
        UNION ALL
        SELECT assignment.run_id, assignment.simulated, 'active', -1
        FROM {rows} AS given JOIN assignment ON assignment.id = given.key
    ) AS moved WHERE true GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ON CONFLICT (run_id, simulated, status)
    DO UPDATE SET number = assignment_count.number + excluded.number""",
    key=Kind.TEXT,
    status=Kind.TEXT,
)

_RATED = """
    SELECT assignment.run_id, assignment.simulated, conversation.system_id, count(*) AS number
    FROM {assignments} JOIN conversation ON conversation.assignment_id = assignment.id
    LEFT JOIN shown_item ON shown_item.conversation_id = conversation.id
    WHERE conversation.status = 'rated' AND coalesce(shown_item.kind, 'ordinary') = 'ordinary' {where}
    GROUP BY 1, 2, 3"""
_OF_THOSE_GIVEN = _RATED.format(
    assignments="{rows} AS given JOIN assignment ON assignment.id = given.key", where=""
)
# `key` is an assignment that has been completed.
COUNT_RATED = Bulk(
    f"""
    INSERT INTO rated_count (run_id, simulated, system_id, number)
    SELECT * FROM ({_OF_THOSE_GIVEN} ORDER BY 1, 2, 3) AS rated WHERE true
    ON CONFLICT (run_id, simulated, system_id)
    DO UPDATE SET number = rated_count.number + excluded.number""",  # noqa: S608
    key=Kind.TEXT,
)

_ASSIGNMENTS_ANEW = """
    SELECT run_id, simulated, status, count(*) FROM assignment GROUP BY run_id, simulated, status"""
_RATED_ANEW = _RATED.format(assignments="assignment", where="AND assignment.status = 'completed'")
# Fills these tables once in a database that was made before them; a migration runs it.
FILL = (
    f"INSERT INTO assignment_count (run_id, simulated, status, number) {_ASSIGNMENTS_ANEW}",
    f"INSERT INTO rated_count (run_id, simulated, system_id, number) {_RATED_ANEW}",
)

_Key = tuple[int, bool, str | int]  # run, simulated; a status or a system


def differences(connection: Connection) -> list[str]:
    """Count everything again; return sentences about wrong counts, none if all are right."""
    return [
        f"run {run}, {'simulated workers' if simulated else 'workers'}, {what}: "
        f"{anew.get(key, 0)} {things}, {kept.get(key, 0)} counted"
        for table, column, query, things in (
            ("assignment_count", "status", _ASSIGNMENTS_ANEW, "assignments"),
            ("rated_count", "system_id", _RATED_ANEW, "rated conversations"),
        )
        for kept in [_numbers(connection, f"SELECT run_id, simulated, {column}, number FROM {table}")]  # noqa: S608
        for anew in [_numbers(connection, query)]
        for key in sorted(kept.keys() | anew.keys())
        if anew.get(key, 0) != kept.get(key, 0)
        for run, simulated, what in [key]
    ]


def _numbers(connection: Connection, query: str) -> dict[_Key, int]:
    rows = connection.execute(text(query))
    return {(run, bool(simulated), what): int(number) for run, simulated, what, number in rows}
