"""Count a run's assignments by status, and its rated conversations by system, as they change.

Arrivals and the end of a run go by these counts, so that both cost the same in a run of any size. Assignments
are counted in the transaction that changes them: `rows` begins and ends them. A rated
conversation counts once its assignment is completed, as reports do; of items only those that are ordinary.
`differences` counts anew.
"""

from collections.abc import Mapping
from decimal import Decimal

from sqlalchemy import Connection, text

from server.db.analyses import find_analysis
from server.db.bonuses import bonus_cents
from server.db.bulk import Bulk, Kind
from server.db.message_reports import count_left
from server.db.pay_decisions import shares_besides
from server.run_rules import Counts, RunRules, Standing, Target
from server.study import Study

# Of a run, an assignment that begins: `simulated` is 1 or 0.
COUNT_BEGUN = Bulk(
    """
    INSERT INTO assignment_count (run_id, simulated, status, number)
    SELECT given.run, given.simulated = 1, 'active', 1 FROM {rows} AS given WHERE true
    ON CONFLICT (run_id, simulated, status) DO UPDATE SET number = assignment_count.number + 1""",
    run=Kind.NUMBER,
    simulated=Kind.NUMBER,
)

# `key` is an assignment, and `status` what it has become from being active.
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

_ASSIGNMENTS = text("""
    SELECT status, number FROM assignment_count WHERE run_id = :run AND simulated = :simulated""")
_RELEASED = text("SELECT count(*) FROM assignment WHERE run_id = :run AND NOT simulated AND released")
_RATED_OF_SYSTEMS = text("""
    SELECT system.name, coalesce(rated_count.number, 0)
    FROM run JOIN system ON system.study_id = run.study_id AND NOT system.is_qc
    LEFT JOIN rated_count
           ON rated_count.run_id = run.id AND rated_count.system_id = system.id AND NOT rated_count.simulated
    WHERE run.id = :run""")

_ASSIGNMENTS_ANEW = """
    SELECT run_id, simulated, status, count(*) FROM assignment GROUP BY run_id, simulated, status"""
_RATED_ANEW = _RATED.format(assignments="assignment", where="AND assignment.status = 'completed'")
# What a database that was made before these tables needs once; a step of the migrations runs it.
FILL = (
    f"INSERT INTO assignment_count (run_id, simulated, status, number) {_ASSIGNMENTS_ANEW}",
    f"INSERT INTO rated_count (run_id, simulated, system_id, number) {_RATED_ANEW}",
)

_Key = tuple[int, bool, str | int]  # run, simulated; a status or a system


def standing(connection: Connection, run_id: int, study: Study, rules: RunRules) -> Standing:
    """Return how a run stands with people; what simulated workers did in it counts for nothing.

    What the target of `rules` does not ask for is left out.
    """
    found = connection.execute(_ASSIGNMENTS, {"run": run_id, "simulated": False})
    by_status = {status: int(number) for status, number in found}
    released = int(connection.execute(_RELEASED, {"run": run_id}).scalar_one())
    paid = rules.budget is not None
    counts = Counts(
        under_way=by_status.get("active", 0),
        completed=by_status.get("completed", 0),
        dropped=by_status.get("returned", 0) + by_status.get("expired", 0) - released,
        left_paid=count_left(connection, run_id) if paid else 0,
        part_paid=Decimal(shares_besides(connection, run_id)) / 100 if paid else Decimal(0),
        bonuses=Decimal(bonus_cents(connection, run_id)) / 100 if paid else Decimal(0),
    )
    target = rules.target or Target(assignments=1)
    rated: dict[str, int] = {}
    if target.conversations_per_system is not None:
        found = connection.execute(_RATED_OF_SYSTEMS, {"run": run_id})
        rated = {name: int(number) for name, number in found}
    widest = None if target.widest_interval is None else _widest(connection, run_id)
    return Standing(counts, rated, _met(study, rated), widest, study.assignments)


def differences(connection: Connection) -> list[str]:
    """Count everything anew; return in words where what is kept differs, nothing where it agrees."""
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


def _met(study: Study, systems: Mapping[str, int]) -> dict[str, float]:
    """Return how many conversations with each system are rated in an assignment, on average."""
    if study.task == "transcripts":
        return dict.fromkeys(systems, study.per_assignment.ordinary / max(len(systems), 1))
    if study.comparison is not None:
        return dict.fromkeys(systems, 2 * study.comparison.pairs / max(len(systems), 1))
    families = [spec.family for spec in study.systems]
    each = study.rate_share * study.systems_per_assignment / len(set(families))
    return {spec.name: each / families.count(spec.family) for spec in study.systems}


def _widest(connection: Connection, run_id: int) -> float | None:
    analysis = find_analysis(connection, run_id) or {}
    return analysis.get("widest")
