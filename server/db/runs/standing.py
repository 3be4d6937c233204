"""Load a run's progress against its rules: how many assignments and ratings it has."""

from collections.abc import Mapping
from decimal import Decimal
from typing import assert_never

from sqlalchemy import Connection, text

from server.db.recruiting.bonuses import bonus_cents
from server.db.recruiting.pay_decisions import shares_besides
from server.db.review.message_reports import count_left
from server.db.runs.analyses import find_analysis
from server.run_rules import Counts, RunRules, Standing, Target
from server.study import Study

_ASSIGNMENTS = text("""
    SELECT status, number FROM assignment_count WHERE run_id = :run AND simulated = :simulated""")
_RELEASED = text("SELECT count(*) FROM assignment WHERE run_id = :run AND NOT simulated AND released")
_RATED_OF_SYSTEMS = text("""
    SELECT system.name, coalesce(rated_count.number, 0)
    FROM run JOIN system ON system.study_id = run.study_id AND NOT system.is_qc
    LEFT JOIN rated_count
           ON rated_count.run_id = run.id AND rated_count.system_id = system.id AND NOT rated_count.simulated
    WHERE run.id = :run""")


def standing(connection: Connection, run_id: int, study: Study, rules: RunRules) -> Standing:
    """Return a run's progress with people; simulated workers do not count.

    Numbers that the target of `rules` does not need are left out.
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


def _met(study: Study, systems: Mapping[str, int]) -> dict[str, float]:
    """Return how many conversations with each system are rated per assignment, on average."""
    match study.task:
        case "chat":
            families = [spec.family for spec in study.systems]
            each = study.rate_share * study.systems_per_assignment / len(set(families))
            return {spec.name: each / families.count(spec.family) for spec in study.systems}
        case "transcripts":
            return dict.fromkeys(systems, study.per_assignment.ordinary / max(len(systems), 1))
        case "side_by_side":
            return dict.fromkeys(systems, 2 * study.pairs / max(len(systems), 1))
        case _:
            assert_never(study.task)


def _widest(connection: Connection, run_id: int) -> float | None:
    analysis = find_analysis(connection, run_id) or {}
    return analysis.get("widest")
