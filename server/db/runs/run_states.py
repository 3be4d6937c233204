"""Change the state of an opened run: pause, resume, close, replicate."""

import itertools
from datetime import datetime
from typing import Literal

from sqlalchemy import Connection, insert, select, text, update

from server.clock import utc_now
from server.db.runs.revisions import raise_revision
from server.db.runs.run_rules import rules_of
from server.db.runs.runs import RunEntry, RunStatus, find_run, has_run, open_run
from server.db.runs.standing import standing
from server.db.tables import ExcludedRun, Run
from server.errors import RunExists, RunHasEnough, RunRefused, WrongRunStatus
from server.run_rules import End, end_of
from server.study import parse_study

RunChange = Literal["pause", "resume", "close"]
# From which states a change leads, and where to. What has it already keeps it, with the new reason.
_CHANGES: dict[RunChange, tuple[frozenset[RunStatus], RunStatus]] = {
    "pause": (frozenset({"open", "paused"}), "paused"),
    "resume": (frozenset({"paused", "closed", "open"}), "open"),
    "close": (frozenset({"open", "paused", "closed"}), "closed"),
}
_COPY_ITEMS = text("""
    INSERT INTO item (run_id, name, form, system_id, source, source_conversation_id, content)
    SELECT :new, name, form, system_id, source, source_conversation_id, content
    FROM item WHERE run_id = :old""")


def change_run(connection: Connection, slug: str, change: RunChange, reason: str = "") -> RunEntry:
    """Pause, resume or close a run, and return it as it is then. Workers who are under way can finish.

    Every process goes by it from the commit on: arrivals read a run's state in their own transaction.

    Args:
        connection: a transaction.
        slug: the run's name.
        change: what is to become of it.
        reason: a sentence why, which the desk shows; workers never see it.

    Raises:
        RunNotFound: there is no such run.
        RunRefused: a rehearsal would be resumed.
        WrongRunStatus: the change does not lead from the state that the run has.
        RunHasEnough: it would be resumed, and stop again at once.
    """
    raise_revision(connection, "runs")
    run = find_run(connection, slug)
    before, after = _CHANGES[change]
    if run.status not in before:
        raise WrongRunStatus(f"`{slug}` is {run.status}: it cannot become {after}")
    if change == "resume" and run.kind == "rehearsal":
        raise RunRefused(
            f"`{slug}` is a rehearsal, which takes no people", "Rehearse the study once more instead."
        )
    if change == "resume":
        _require_more_wanted(connection, run)
    values: dict[str, object] = {"status": after, "cause": "researcher", "reason": reason}
    if after != run.status:
        values["closed_at"] = utc_now() if after == "closed" else None
    connection.execute(update(Run).where(Run.c.id == run.id).values(values))
    return find_run(connection, slug)


def stop_run(connection: Connection, run_id: int, end: End) -> bool:
    """Close a run because it has come to its end; return whether it was not closed already."""
    raise_revision(connection, "runs")
    values = {"status": "closed", "cause": end.cause, "reason": end.reason, "closed_at": utc_now()}
    stopped = update(Run).where(Run.c.id == run_id, Run.c.status != "closed").values(values)
    return connection.execute(stopped).rowcount == 1


def replicate_run(
    connection: Connection, slug: str, at: datetime, name: str | None = None, *, same_workers: bool = False
) -> RunEntry:
    """Open a run of the very study of another one, with a seed of its own, and return it.

    What workers rate, where they do not chat, is what it was in the first run.

    Args:
        connection: a transaction.
        slug: the run that is replicated.
        at: now.
        name: the new run's name; None: the first one's with a number that no run has yet.
        same_workers: whether workers of the first run, and of the runs that it excludes, may come.

    Raises:
        RunNotFound: there is no run `slug`.
        RunExists: there is a run `name`.
        StudyInvalid: `name` cannot be a run's, or the study is none by the rules of today.
    """
    raise_revision(connection, "runs")
    first = find_run(connection, slug)
    if name is not None and has_run(connection, name):
        raise RunExists(f"there is a run named `{name}` already")
    new = open_run(connection, first.yaml, name or _free_name(connection, slug), at)
    connection.execute(_COPY_ITEMS, {"new": new.id, "old": first.id})
    if not same_workers:
        others = [first.id, *excluded_runs(connection, first.id)]
        connection.execute(insert(ExcludedRun), [{"run_id": new.id, "other_id": other} for other in others])
    return new


def excluded_runs(connection: Connection, run_id: int) -> list[int]:
    """Return the ids of the runs whose workers may not come to a run, in order."""
    query = (
        select(ExcludedRun.c.other_id).where(ExcludedRun.c.run_id == run_id).order_by(ExcludedRun.c.other_id)
    )
    return list(connection.execute(query).scalars())


def end_foreseen(connection: Connection, run: RunEntry) -> End | None:
    """Return why a run would stop at once by the rules that it has, were it open; None if it would not."""
    rules = rules_of(connection, run.id)
    return end_of(rules, standing(connection, run.id, parse_study(run.yaml), rules))


def _require_more_wanted(connection: Connection, run: RunEntry) -> None:
    end = end_foreseen(connection, run)
    if end is not None:
        raise RunHasEnough(f"`{run.slug}` cannot go on. {end.reason}")


def _free_name(connection: Connection, slug: str) -> str:
    names = (f"{slug}-{number}" for number in itertools.count(2))
    return next(name for name in names if not has_run(connection, name))
