"""Endpoints of runs: show, open, pause, resume, close and replicate them."""

import re
from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import StrictBool, StringConstraints, model_validator
from sqlalchemy import Connection

from server.access.actor import Allowed, Caller, RequestBody, require_in_runs
from server.access.parts import Database, PublicUrl, Secrets, part
from server.bots.opening import NewRun, RunChanges
from server.bots.planned_calls import Confirmation
from server.clock import utc_now
from server.db.runs.run_rules import all_rules_of
from server.db.runs.runs import RunEntry, find_run
from server.db.runs.studies import find_study
from server.db.store import Store
from server.desk.runs.responses import RunDetail, RunList, RunSummary
from server.desk.runs.run_view import RunReader, RunViewSources, run_summaries, run_summary, seen_by
from server.run_rules import RunRules
from server.study import in_thread, parse_study

RunName = Annotated[str, StringConstraints(min_length=1, max_length=100)]
RULES_PATH = re.compile(r"/api/desk/runs(/[^/]+/rules)?")
RULES_MOST_BYTES = 3_000_000  # of a request: about 100,000 ids of excluded workers
Reason = Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)]


class RunToOpen(RequestBody):
    """A run to open, of a study's text (`yaml`) or of the newest version of a stored study (`study`).

    `confirmed`: the caller accepts that it may cost money.
    """

    run: RunName
    yaml: Annotated[str, StringConstraints(max_length=60_000)] | None = None
    study: Annotated[str, StringConstraints(max_length=100)] | None = None
    despite_failing_bots: bool = False
    rules: RunRules = RunRules()
    confirmed: StrictBool = False

    @model_validator(mode="after")
    def _one_study(self) -> "RunToOpen":
        if (self.yaml is None) == (self.study is None):
            raise ValueError("Give either a study's text or its name")
        return self


class Why(RequestBody):
    """The reason for pausing, resuming or closing a run. The desk shows it; workers do not see it."""

    reason: Reason = ""


class NewReplication(RequestBody):
    """A replication of a run. Without `run`, its name is the first run's with a number.

    `same_workers`: admit workers of the first run, too. `confirmed`: the caller accepts that it may cost
    money.
    """

    run: RunName | None = None
    same_workers: StrictBool = False
    confirmed: StrictBool = False


async def _summaries(store: Database, public_url: PublicUrl) -> Callable[[RunEntry], Awaitable[RunSummary]]:
    async def summary(entry: RunEntry) -> RunSummary:
        now = utc_now()
        return await store.read(lambda c: run_summary(c, entry, public_url, now))

    return summary


Summaries = Annotated[Callable[[RunEntry], Awaitable[RunSummary]], Depends(_summaries)]
Changes = Annotated[RunChanges, part(RunChanges)]
Sources = Annotated[RunViewSources, part(RunViewSources)]
router = APIRouter(prefix="/api/desk/runs", tags=["runs"])
_SEE = [Depends(Allowed("see_runs"))]
_CHANGE = [Depends(Allowed("change_runs"))]


@router.get("", dependencies=_SEE)
async def list_runs(actor: Caller, store: Database, sources: Sources) -> RunList:
    """List summaries of the runs that the caller may see, newest first, without rehearsals."""
    url, now = sources.public_url, utc_now()
    found = await store.read(lambda connection: run_summaries(connection, url, now))
    return RunList(runs=[run for run in found if actor.may("see_runs", run.study)])


@router.get("/{run}", dependencies=_SEE)
async def show_run(run: str, actor: Caller, store: Database, sources: Sources) -> RunDetail:
    """Return one run: progress per system, assignments, bots, and what needs attention."""
    around = sources.run_view_context()

    def read(connection: Connection) -> RunDetail:
        return RunReader().read(connection, find_run(connection, run), around, utc_now())

    return seen_by(actor, await store.read(read))


@router.post("", status_code=201, dependencies=_CHANGE)
async def open_run(
    body: RunToOpen, actor: Caller, store: Database, auth: Secrets, changes: Changes, summary: Summaries
) -> RunSummary:
    """Open a run. This can take a while, because the study's own bots are checked first."""
    if body.study is not None:  # before an error could reveal something about another's study
        actor.require("change_runs", body.study)
    text = await _text(store, body)
    study = await in_thread(lambda: parse_study(text))
    actor.require("change_runs", body.study or study.name)
    if study.items is not None and study.items.run is not None:
        await require_in_runs(auth, actor, "read_transcripts", [study.items.run])
    await require_in_runs(auth, actor, "see_worker_ids", body.rules.excluded_runs)
    confirmation = Confirmation(body.confirmed, actor.may("change_bots"))
    new = NewRun(body.run, text, body.rules, confirmation, body.despite_failing_bots)
    return await summary(await changes.open(new, actor))


@router.get("/{run}/rules", dependencies=_CHANGE)
async def show_rules(run: str, store: Database, auth: Secrets) -> RunRules:
    """Return a run's rules: target, budget, opening hours and excluded workers."""
    return await store.read(lambda c: all_rules_of(c, find_run(c, run).id, auth.ids))


@router.put("/{run}/rules", dependencies=_CHANGE)
async def set_rules(
    run: str,
    actor: Caller,
    body: RunRules,
    store: Database,
    auth: Secrets,
    changes: Changes,
    summary: Summaries,
) -> RunSummary:
    """Replace a run's rules."""
    if body.excluded_runs and not actor.may_in_all("see_worker_ids"):
        before = await show_rules(run, store, auth)
        named = [each for each in body.excluded_runs if each not in before.excluded_runs]
        await require_in_runs(auth, actor, "see_worker_ids", named)
    return await summary(await changes.set_rules(run, body, actor))


@router.post("/{run}/pause", dependencies=_CHANGE)
async def pause_run(
    run: str, actor: Caller, changes: Changes, summary: Summaries, body: Why | None = None
) -> RunSummary:
    """Pause a run: it admits no new workers until it is resumed, and active ones can finish."""
    return await summary(await changes.change(run, "pause", (body or Why()).reason, actor))


@router.post("/{run}/resume", dependencies=_CHANGE)
async def resume_run(
    run: str, actor: Caller, changes: Changes, summary: Summaries, body: Why | None = None
) -> RunSummary:
    """Resume a run: it admits workers again."""
    return await summary(await changes.change(run, "resume", (body or Why()).reason, actor))


@router.post("/{run}/close", dependencies=_CHANGE)
async def close_run(
    run: str, actor: Caller, changes: Changes, summary: Summaries, body: Why | None = None
) -> RunSummary:
    """Close a run: it admits no new workers, and active ones can finish."""
    return await summary(await changes.change(run, "close", (body or Why()).reason, actor))


@router.post("/{run}/replicate", status_code=201, dependencies=_CHANGE)
async def replicate_run(
    run: str, actor: Caller, changes: Changes, summary: Summaries, body: NewReplication | None = None
) -> RunSummary:
    """Open a run of the same study with another seed. It excludes the first run's workers by default."""
    wanted = body or NewReplication()
    confirmation = Confirmation(wanted.confirmed, actor.may("change_bots"))
    entry = await changes.replicate(run, wanted.run, actor, confirmation, same_workers=wanted.same_workers)
    return await summary(entry)


async def _text(store: Store, body: RunToOpen) -> str:
    name = body.study
    if name is None:
        return body.yaml or ""
    return await store.read(lambda connection: find_study(connection, name).newest.yaml)
