"""Change the state of an opened run: pause, resume, close, replicate."""

import itertools
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from sqlalchemy import Connection, insert, select, text, update

from server.clock import utc_now
from server.db.runs.run_rules import rules_of, standing
from server.db.runs.runs import RunEntry, RunStatus, find_run, has_run, open_run, raise_revision
from server.db.tables import ExcludedRunTable, RehearsalTable, RunTable, StudyTable
from server.errors import RunExists, RunHasEnough, RunRefused, WrongRunStatus
from server.run_decision import RunEnd, end_of
from server.study import parse_study

RunChange = Literal["pause", "resume", "close"]
# The statuses from which each change is allowed, and the new status. A run that has it already gets the new
# reason.
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
    """Pause, resume or close a run, and return its new state. Active workers can finish.

    Every process follows from the commit on, because arrivals read a run's state in their own transaction.

    Args:
        connection: A transaction.
        slug: The run's name.
        change: The change.
        reason: A sentence for the desk; workers never see it.

    Raises:
        RunNotFound: There is no such run.
        RunRefused: A rehearsal cannot be resumed.
        WrongRunStatus: The change is not allowed from the run's present status.
        RunHasEnough: A resumed run would stop again at once.
    """
    raise_revision(connection, "runs")
    run = find_run(connection, slug)
    before, after = _CHANGES[change]
    if run.status not in before:
        raise WrongRunStatus(f"“{slug}” is {run.status}: it cannot become {after}")
    if change == "resume" and run.kind == "rehearsal":
        raise RunRefused(
            f"“{slug}” is a rehearsal, which takes no people", "Rehearse the study once more instead."
        )
    if change == "resume":
        _require_more_wanted(connection, run)
    values: dict[str, object] = {"status": after, "cause": "researcher", "reason": reason}
    if after != run.status:
        values["closed_at"] = utc_now() if after == "closed" else None
    connection.execute(update(RunTable).where(RunTable.c.id == run.id).values(values))
    return find_run(connection, slug)


def stop_run(connection: Connection, run_id: int, end: RunEnd) -> bool:
    """Close a run that has ended by its rules; return False if it was closed already."""
    raise_revision(connection, "runs")
    values = {"status": "closed", "cause": end.cause, "reason": end.reason, "closed_at": utc_now()}
    stopped = update(RunTable).where(RunTable.c.id == run_id, RunTable.c.status != "closed").values(values)
    return connection.execute(stopped).rowcount == 1


def replicate_run(
    connection: Connection, slug: str, at: datetime, name: str | None = None, *, same_workers: bool = False
) -> RunEntry:
    """Open a run of exactly the same study as another run, with a seed of its own, and return it.

    In studies that rate items, the new run has the first run's items.

    Args:
        connection: A transaction.
        slug: The run to replicate.
        at: The time now.
        name: The new run's name; None: the first one's with the next free number.
        same_workers: Whether workers of the first run, and of the runs that it excludes, are admitted.

    Raises:
        RunNotFound: There is no run `slug`.
        RunExists: There is a run `name`.
        StudyInvalid: `name` is no valid name, or the study is invalid by today's rules.
    """
    raise_revision(connection, "runs")
    first = find_run(connection, slug)
    if name is not None and has_run(connection, name):
        raise RunExists(f"A run named “{name}” exists already")
    new = open_run(connection, first.yaml, name or _free_name(connection, slug), at)
    connection.execute(_COPY_ITEMS, {"new": new.id, "old": first.id})
    if not same_workers:
        others = [first.id, *excluded_runs(connection, first.id)]
        connection.execute(
            insert(ExcludedRunTable), [{"run_id": new.id, "other_id": other} for other in others]
        )
    return new


def excluded_runs(connection: Connection, run_id: int) -> list[int]:
    """Return the ids of the runs whose workers a run excludes, in order."""
    query = (
        select(ExcludedRunTable.c.other_id)
        .where(ExcludedRunTable.c.run_id == run_id)
        .order_by(ExcludedRunTable.c.other_id)
    )
    return list(connection.execute(query).scalars())


def end_foreseen(connection: Connection, run: RunEntry) -> RunEnd | None:
    """Return why an open run would stop at once by its rules; None if it would not."""
    rules = rules_of(connection, run.id)
    return end_of(rules, standing(connection, run.id, parse_study(run.yaml), rules))


def _require_more_wanted(connection: Connection, run: RunEntry) -> None:
    end = end_foreseen(connection, run)
    if end is not None:
        raise RunHasEnough(f"“{run.slug}” cannot continue. {end.reason}")


def _free_name(connection: Connection, slug: str) -> str:
    names = (f"{slug}-{number}" for number in itertools.count(2))
    return next(name for name in names if not has_run(connection, name))


def open_rehearsal(connection: Connection, text: str, quality: Mapping[str, float], at: datetime) -> RunEntry:
    """Open a run that admits simulated workers only, and return it.

    Args:
        connection: A transaction.
        text: The study file's text.
        quality: The simulated workers' opinion of each system, 0 to 1.
        at: The time now.

    Raises:
        StudyInvalid: The study has mistakes.
    """
    name = f"{parse_study(text).name}-rehearsal"[:90]
    names = (f"{name}-{number}" for number in itertools.count(1))
    slug = next(slug for slug in names if not has_run(connection, slug))
    entry = open_run(connection, text, slug, at, kind="rehearsal")
    connection.execute(insert(RehearsalTable).values(run_id=entry.id, quality=json.dumps(dict(quality))))
    return entry


def believed_quality(connection: Connection, run_id: int) -> Mapping[str, float] | None:
    """Return the opinion that a rehearsal's simulated workers have of each system; None for other runs."""
    query = select(RehearsalTable.c.quality).where(RehearsalTable.c.run_id == run_id)
    found = connection.execute(query).scalar_one_or_none()
    return None if found is None else dict(json.loads(found))


def rehearsals_of(connection: Connection, study: str) -> list[int]:
    """Return the ids of the rehearsals of a study, by its name."""
    query = select(RunTable.c.id).join(StudyTable, StudyTable.c.id == RunTable.c.study_id)
    return list(
        connection.execute(query.where(StudyTable.c.name == study, RunTable.c.kind == "rehearsal")).scalars()
    )
