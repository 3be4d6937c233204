"""Read and change the rules of runs, also while a run goes on."""

from collections.abc import Collection

from sqlalchemy import Connection, delete, insert, select, update

from server.db.engine.bulk import Bulk, Kind
from server.db.recruiting.recruitments import recruitment_of
from server.db.runs.runs import RunEntry, find_run, raise_revision
from server.db.tables import ExcludedRunTable, ExcludedWorkerTable, RunTable
from server.db.worker_ids import external_id
from server.errors import OtherCurrency, RulesInvalid, RunNotFound
from server.recruiters.arrival import IdCipher
from server.recruiters.recruiter import title_of
from server.run_rules import RunRules, read_rules

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
            f"`excluded_runs` names `{slug}`, which is the run itself",
            "Leave it out: nobody takes part in a run twice.",
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
            f"The budget is in {rules.budget.currency}, and {title} pays the study of `{run.slug}` "
            f"in {found.currency}",
            f"Write the budget in {found.currency}.",
        )


def _other(connection: Connection, name: str) -> int:
    try:
        return find_run(connection, name).id
    except RunNotFound as error:
        raise RunNotFound(
            f"`excluded_runs`: {error.message}", "`candor run list` shows every run."
        ) from error
