"""The rules of runs in the database: read, and changed while a run goes on."""

from collections.abc import Collection

from sqlalchemy import Connection, delete, insert, select, update

from server.db.engine.bulk import Bulk, Kind
from server.db.recruiting.recruitments import recruitment_of
from server.db.runs.revisions import raise_revision
from server.db.runs.runs import RunEntry, find_run
from server.db.tables import ExcludedRun, ExcludedWorker, Run
from server.db.worker_ids import external_id
from server.errors import OtherCurrency, RulesInvalid, RunNotFound
from server.recruiters.id_cipher import IdCipher
from server.run_rules import RunRules, read_rules

_LOOKED_UP = {"excluded_runs", "excluded_workers"}
_EXCLUDE = Bulk(
    "INSERT INTO excluded_worker ({columns}) SELECT {columns} FROM {rows} AS given",
    run_id=Kind.NUMBER,
    external_id=Kind.TEXT,
)


def rules_of(connection: Connection, run_id: int) -> RunRules:
    """Return the rules of a run, without who may not come: that is looked up worker by worker."""
    return read_rules(connection.execute(select(Run.c.rules).where(Run.c.id == run_id)).scalar_one())


def all_rules_of(connection: Connection, run_id: int, ids: IdCipher) -> RunRules:
    """Return all the rules of a run, with everybody who may not come; `ids` reads who that is."""
    runs = (
        select(Run.c.slug)
        .join(ExcludedRun, ExcludedRun.c.other_id == Run.c.id)
        .where(ExcludedRun.c.run_id == run_id)
        .order_by(Run.c.id)
    )
    workers = select(ExcludedWorker.c.external_id).where(ExcludedWorker.c.run_id == run_id)
    named = (external_id(kept, ids) for kept in connection.execute(workers).scalars())
    excluded = {
        "excluded_runs": tuple(connection.execute(runs).scalars()),
        "excluded_workers": tuple(sorted(name for name in named if name is not None)),
    }
    return rules_of(connection, run_id).model_copy(update=excluded)


def encrypted_workers(rules: RunRules, ids: IdCipher) -> list[str]:
    """Return the workers whom `rules` exclude as the database keeps them, each once, in its order.

    100,000 of them take most of a second: that is for before a transaction, and beside an event loop.
    """
    return sorted({ids.encrypted(worker) for worker in rules.excluded_workers})


def set_rules(
    connection: Connection, slug: str, rules: RunRules, excluded_workers: Collection[str]
) -> RunEntry:
    """Have a run go by other rules from now on, in the place of those that it had.

    Args:
        connection: a transaction.
        slug: of the run.
        rules: all of them.
        excluded_workers: those of `rules`, as `encrypted_workers` returns them; in any other order they
            take several times as long to write.

    Raises:
        RunNotFound: there is no run `slug`, or one that `rules` excludes.
        RulesInvalid: `rules` exclude the run itself, to which nobody could come twice anyway.
        OtherCurrency: the platform pays the run's study in another currency than the budget's.
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
    connection.execute(update(Run).where(Run.c.id == run.id).values(rules=text))
    connection.execute(delete(ExcludedRun).where(ExcludedRun.c.run_id == run.id))
    connection.execute(delete(ExcludedWorker).where(ExcludedWorker.c.run_id == run.id))
    if others:
        connection.execute(insert(ExcludedRun), [{"run_id": run.id, "other_id": other} for other in others])
    if excluded_workers:
        _EXCLUDE.execute(connection, [(run.id, worker) for worker in excluded_workers])
    return run


def _check_currency(connection: Connection, run: RunEntry, rules: RunRules) -> None:
    found = recruitment_of(connection, run.id)
    if rules.budget is not None and found is not None and rules.budget.is_in_another(found.currency):
        raise OtherCurrency(
            f"The budget is in {rules.budget.currency}, and Prolific pays the study of `{run.slug}` "
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
