"""Read and change the rules of runs, also while a run goes on, and load a run's progress against them."""

from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import assert_never

from sqlalchemy import Connection, delete, insert, select, text, update

from server.db.bulk import Bulk, Kind
from server.db.recruiting.bonuses import bonus_cents
from server.db.recruiting.pay_decisions import shares_besides
from server.db.recruiting.recruitments import recruitment_of
from server.db.review import count_left
from server.db.runs.analyses import find_analysis
from server.db.runs.runs import RunEntry, find_run, raise_revision
from server.db.secrets import external_id
from server.db.tables import ExcludedRunTable, ExcludedWorkerTable, RunTable
from server.errors import OtherCurrency, RulesInvalid, RunNotFound
from server.recruiters.arrival import IdCipher
from server.recruiters.recruiter import title_of
from server.run_decision import Counts, Standing
from server.run_rules import RunRules, Target, read_rules
from server.study import Study

_LOOKED_UP = {"excluded_runs", "excluded_workers"}
_EXCLUDE = Bulk(
    "INSERT INTO excluded_worker ({columns}) SELECT {columns} FROM {rows} AS given",
    run_id=Kind.NUMBER,
    external_id=Kind.TEXT,
)


def rules_of(connection: Connection, run_id: int) -> RunRules:
    """Return a run's rules without its excluded workers, who are looked up one by one."""
    return read_rules(
        connection.execute(select(RunTable.c.rules).where(RunTable.c.id == run_id)).scalar_one()
    )


def all_rules_of(connection: Connection, run_id: int, ids: IdCipher) -> RunRules:
    """Return all of a run's rules, with its excluded workers and runs; `ids` decrypts the workers' ids."""
    runs = (
        select(RunTable.c.slug)
        .join(ExcludedRunTable, ExcludedRunTable.c.other_id == RunTable.c.id)
        .where(ExcludedRunTable.c.run_id == run_id)
        .order_by(RunTable.c.id)
    )
    workers = select(ExcludedWorkerTable.c.external_id).where(ExcludedWorkerTable.c.run_id == run_id)
    named = (external_id(kept, ids) for kept in connection.execute(workers).scalars())
    excluded = {
        "excluded_runs": tuple(connection.execute(runs).scalars()),
        "excluded_workers": tuple(sorted(name for name in named if name is not None)),
    }
    return rules_of(connection, run_id).model_copy(update=excluded)


def encrypted_workers(rules: RunRules, ids: IdCipher) -> list[str]:
    """Return the excluded workers of `rules` in their stored form, each once, in the table's order.

    100,000 workers take most of a second: call this before a transaction, and not on an event loop.
    """
    return sorted({ids.encrypted(worker) for worker in rules.excluded_workers})


def set_rules(
    connection: Connection, slug: str, rules: RunRules, excluded_workers: Collection[str]
) -> RunEntry:
    """Replace a run's rules from now on.

    Args:
        connection: A transaction.
        slug: The run's name.
        rules: All of the new rules.
        excluded_workers: Those of `rules`, as returned by `encrypted_workers`; in any other order they take
            several times as long to write.

    Raises:
        RunNotFound: There is no run `slug`, or one that `rules` excludes.
        RulesInvalid: `rules` exclude the run itself, although nobody can take part in a run twice anyway.
        OtherCurrency: The platform pays the run's study in another currency than the budget's.
    """
    raise_revision(connection, "runs")
    run = find_run(connection, slug)
    if slug in rules.excluded_runs:
        raise RulesInvalid(
            f"The runs whose workers are excluded include “{slug}”, the run itself",
            "Remove it: nobody takes part in a run twice.",
        )
    _check_currency(connection, run, rules)
    others = {_other(connection, name) for name in rules.excluded_runs}
    text = rules.model_dump_json(exclude=_LOOKED_UP, exclude_none=True)
    connection.execute(update(RunTable).where(RunTable.c.id == run.id).values(rules=text))
    connection.execute(delete(ExcludedRunTable).where(ExcludedRunTable.c.run_id == run.id))
    connection.execute(delete(ExcludedWorkerTable).where(ExcludedWorkerTable.c.run_id == run.id))
    if others:
        connection.execute(
            insert(ExcludedRunTable), [{"run_id": run.id, "other_id": other} for other in others]
        )
    if excluded_workers:
        _EXCLUDE.execute(connection, [(run.id, worker) for worker in excluded_workers])
    return run


def _check_currency(connection: Connection, run: RunEntry, rules: RunRules) -> None:
    found = recruitment_of(connection, run.id)
    if rules.budget is not None and found is not None and rules.budget.is_in_another(found.currency):
        title = title_of(found.platform)
        raise OtherCurrency(
            f"The budget is in {rules.budget.currency}, and {title} pays the study of “{run.slug}” "
            f"in {found.currency}",
            f"Write the budget in {found.currency}.",
        )


def _other(connection: Connection, name: str) -> int:
    try:
        return find_run(connection, name).id
    except RunNotFound as error:
        raise RunNotFound(
            f"The runs whose workers are excluded: {error.message}", "Check the name in the list of runs."
        ) from error


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
