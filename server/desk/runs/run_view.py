"""View of a run for researchers: progress, workers, bots, limits, and what needs attention."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, func, select

from server.access.auth import Auth
from server.access.roles import Actor, Permission
from server.bots.opened_bots import OpenedBots
from server.clock import utc_now
from server.db.interventions import exclusions
from server.db.review import unseen_flags, unseen_reports
from server.db.runs.run_rules import rules_of, standing
from server.db.runs.runs import RunEntry, all_runs
from server.db.store import Store
from server.db.tables import AnalysisTable, AssignmentTable, ConversationTable, RunTable, SystemTable
from server.desk.runs.attention import DAMAGED, Unread, attention
from server.desk.runs.progress import funnel, minutes_to_go, place_of, systems
from server.desk.runs.replies import States, bot_replies, incidents
from server.desk.runs.responses import (
    AssignmentCounts,
    AssignmentRow,
    BotReplies,
    IncidentRow,
    RunAnalysis,
    RunDetail,
    RunLimits,
    RunSummary,
)
from server.desk.runs.workers import WorkerFacts, count_waiting, read_workers
from server.live.converse.sessions import LiveSessions
from server.run_decision import Standing, needed, slots_open
from server.run_rules import RunRules, in_words, is_open, next_opening
from server.session.plan import QC
from server.study import Study, parse_study


@dataclass(frozen=True, slots=True)
class RunStandingView:
    """Limits of a run, as the desk shows them; `wanted`: the planned number of assignments, if known."""

    shown: RunLimits
    wanted: int | None


def limits_of(connection: Connection, run: RunEntry, study: Study) -> RunStandingView:
    """Return how close a run is to its limits, from the counters that admission uses."""
    rules = rules_of(connection, run.id)
    stands = standing(connection, run.id, study, rules)
    budget = rules.budget
    shown = RunLimits(
        target=in_words(rules.target),
        places_open=slots_open(rules, stands) if run.status == "open" else 0,
        opens_at=_opens_at(rules) if run.status == "open" else None,
        spent=None if budget is None else float(stands.counts.spent(budget)),
        budget=None if budget is None else float(budget.total),
        retention="" if study.retention is None else study.retention.in_words(run.closed_at),
        currency="" if budget is None else budget.currency,
    )
    return RunStandingView(shown, _wanted(rules, stands))


def _opens_at(rules: RunRules) -> datetime | None:
    hours, now = rules.opening_hours, utc_now()
    return None if hours is None or is_open(hours, now) else next_opening(hours, now)


def _wanted(rules: RunRules, stands: Standing) -> int | None:
    more = needed(rules, stands)
    known = [] if more is None else [stands.counts.completed + more]
    if stands.slots is not None:
        known.append(stands.slots)
    if rules.budget is not None:
        affordable = rules.budget.assignments(stands.counts.besides(rules.budget))
        known.append(max(affordable - stands.counts.left_paid, 0))
    return min(known, default=None)


_HOUR = timedelta(hours=1)
_OVERLAP = timedelta(seconds=15)  # for differing clocks of processes, and late commits
_REPLIES_EVERY = timedelta(seconds=4)  # the statistic of replies reads every turn of the run
_ANEW_EVERY = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class RunViewContext:
    """The data for a view of a run that is not in the database.

    `away`: when the worker's page was closed, by assignment; None if it is open. `states`: the states of a
    registered bot's replicas. `down`: the systems of a run whose bots do not answer. `has_moderation`: there
    is a moderation service. `is_damaged`: the database was found damaged.
    """

    public_url: str
    auth: Auth
    away: Mapping[str, datetime | None]
    states: States
    down: Callable[[int], Collection[str]]
    has_moderation: bool
    is_damaged: bool


@dataclass
class RunReader:
    """Reads a run repeatedly, each time only what has changed. Not thread-safe."""

    _read_at: datetime | None = None
    _anew_at: datetime | None = None
    _replies_at: datetime | None = None
    _workers: dict[str, WorkerFacts] = field(default_factory=dict)
    _rows: dict[str, tuple[object, AssignmentRow]] = field(default_factory=dict)
    _replies: list[BotReplies] = field(default_factory=list)
    _incidents: list[IncidentRow] = field(default_factory=list)

    def read(self, connection: Connection, run: RunEntry, around: RunViewContext, now: datetime) -> RunDetail:
        """Return the current view of the run."""
        study = parse_study(run.yaml)
        limits = limits_of(connection, run, study)
        self._read_workers(connection, run, now)
        self._read_replies(connection, run, study, around, now)
        families = _families(connection, run)
        people = [worker for worker in self._workers.values() if not worker.simulated]
        simulated = [worker for worker in self._workers.values() if worker.simulated]
        analysis = _analysis(connection, run)
        p = {worker.worker: worker.p for worker in analysis.workers} if analysis else {}
        excluded = exclusions(connection, run.id)
        in_order = sorted(self._workers.values(), key=lambda worker: worker.created_at, reverse=True)
        rows = [
            self._row(worker, study, around, p.get(worker.worker), excluded.get(worker.assignment))
            for worker in in_order
        ]
        progress = systems(people, study, families, limits.wanted)
        waits = run.status == "open" and study.moderation == "classifier" and not around.has_moderation
        unread = Unread(unseen_reports(connection, run.id), unseen_flags(connection, run.id), waits)
        down = around.down(run.id) if run.status == "open" else ()
        return RunDetail(
            **dict(_summary(run, limits, _counted(self._workers.values(), now), around.public_url)),
            systems=progress,
            simulated_systems=systems(simulated, study, families, None) if simulated else [],
            funnel=funnel(people, study),
            simulated_funnel=funnel(simulated, study) if simulated else [],
            bots=self._replies,
            incidents=self._incidents,
            analysis=analysis,
            attention=[
                *([DAMAGED] if around.is_damaged else []),
                *attention(rows, progress, self._replies, unread, study, now, down),
            ],
            workers=rows,
        )

    def _row(
        self, worker: WorkerFacts, study: Study, around: RunViewContext, p: float | None, excluded: str | None
    ) -> AssignmentRow:
        """Return a worker's row, from a cache if nothing has changed: there may be thousands of rows."""
        active = worker.status == "active"
        away = around.away.get(worker.assignment, worker.active_at) if active else None
        made_of = (worker, p, excluded, away)
        known = self._rows.get(worker.assignment)
        if known is None or known[0] != made_of:
            known = made_of, _row(worker, study, around.auth, p, excluded, away)
            self._rows[worker.assignment] = known
        return known[1]

    def _read_workers(self, connection: Connection, run: RunEntry, now: datetime) -> None:
        anew = self._anew_at is None or now - self._anew_at > _ANEW_EVERY
        if anew:
            self._anew_at = now
        since = None if anew or self._read_at is None else self._read_at - _OVERLAP
        self._workers |= {worker.assignment: worker for worker in read_workers(connection, run.id, since)}
        self._read_at = now

    def _read_replies(
        self, connection: Connection, run: RunEntry, study: Study, around: RunViewContext, now: datetime
    ) -> None:
        if self._replies_at is None or now - self._replies_at > _REPLIES_EVERY:
            self._replies = bot_replies(connection, run, study, around.states)
            self._incidents = incidents(connection, run)
            self._replies_at = now


def run_summaries(connection: Connection, public_url: str, now: datetime) -> list[RunSummary]:
    """Return summaries of all runs except rehearsals, newest first."""
    found = reversed(all_runs(connection))
    return [run_summary(connection, run, public_url, now) for run in found if run.kind == "study"]


def run_summary(connection: Connection, run: RunEntry, public_url: str, now: datetime) -> RunSummary:
    """Return the summary of a run, without reading its conversations."""
    rated = _rated(connection, run)
    counted = _Counted(
        people=_by_status(connection, run, simulated=False),
        simulated=_by_status(connection, run, simulated=True),
        rated=rated.get(False, 0),
        rated_simulated=rated.get(True, 0),
        lately=_lately(connection, run, now),
        waiting=count_waiting(connection, run.id),
    )
    return _summary(run, limits_of(connection, run, parse_study(run.yaml)), counted, public_url)


@dataclass(frozen=True, slots=True)
class _Counted:
    """Counts of a run's workers.

    `rated`: conversations of people. `lately`: how many minutes ago people submitted, within the last hour.
    `waiting`: conversations whose bot has failed to reply.
    """

    people: AssignmentCounts
    simulated: AssignmentCounts
    rated: int
    rated_simulated: int
    lately: Sequence[float]
    waiting: int


def _summary(run: RunEntry, limits: RunStandingView, counted: _Counted, public_url: str) -> RunSummary:
    study = parse_study(run.yaml)
    return RunSummary(
        run=run.slug,
        study=study.name,
        title=study.title,
        status=run.status,
        cause=run.cause,
        reason=run.reason,
        created_at=run.created_at,
        worker_link=f"{public_url}/w/{run.slug}",
        assignments=counted.people,
        conversations_rated=counted.rated,
        simulated=counted.simulated,
        simulated_conversations_rated=counted.rated_simulated,
        places=limits.wanted,
        minutes_to_go=minutes_to_go(limits.wanted, counted.people.completed, counted.lately),
        waiting=counted.waiting,
        limits=limits.shown,
    )


def _counted(workers: Collection[WorkerFacts], now: datetime) -> _Counted:

    def counts(*, simulated: bool) -> AssignmentCounts:
        ours = Counter(worker.status for worker in workers if worker.simulated == simulated)
        return AssignmentCounts(
            active=ours["active"],
            completed=ours["completed"],
            returned=ours["returned"],
            expired=ours["expired"],
        )

    def rated(*, simulated: bool) -> int:
        return sum(worker.count("rated") for worker in workers if worker.simulated == simulated)

    ended = (w.ended_at for w in workers if w.status == "completed" and not w.simulated)
    return _Counted(
        people=counts(simulated=False),
        simulated=counts(simulated=True),
        rated=rated(simulated=False),
        rated_simulated=rated(simulated=True),
        lately=[_ago(at, now) for at in ended if at and now - at < _HOUR],
        waiting=sum(held.failed_tries > 0 for worker in workers for held in worker.conversations),
    )


def _by_status(connection: Connection, run: RunEntry, *, simulated: bool) -> AssignmentCounts:
    query = (
        select(AssignmentTable.c.status, func.count())
        .where(AssignmentTable.c.run_id == run.id, AssignmentTable.c.simulated == simulated)
        .group_by(AssignmentTable.c.status)
    )
    counts = {status: int(k) for status, k in connection.execute(query)}
    return AssignmentCounts(**{status: counts.get(status, 0) for status in AssignmentCounts.model_fields})


def _rated(connection: Connection, run: RunEntry) -> dict[bool, int]:
    query = (
        select(AssignmentTable.c.simulated, func.count())
        .select_from(ConversationTable)
        .join(AssignmentTable, AssignmentTable.c.id == ConversationTable.c.assignment_id)
        .where(AssignmentTable.c.run_id == run.id, ConversationTable.c.status == "rated")
        .group_by(AssignmentTable.c.simulated)
    )
    return {bool(simulated): int(k) for simulated, k in connection.execute(query)}


def _lately(connection: Connection, run: RunEntry, now: datetime) -> list[float]:
    """Return how many minutes ago people submitted their assignments, within the last hour."""
    query = select(AssignmentTable.c.ended_at).where(
        AssignmentTable.c.run_id == run.id,
        AssignmentTable.c.simulated.is_(False),
        AssignmentTable.c.status == "completed",
        AssignmentTable.c.ended_at >= now - _HOUR,
    )
    return [_ago(at, now) for at in connection.execute(query).scalars()]


def _ago(at: datetime, now: datetime) -> float:
    return (now - at).total_seconds() / 60


def _families(connection: Connection, run: RunEntry) -> dict[str, str]:
    """Return the family of every system, in the study's order, with the QC bot last."""
    query = (
        select(SystemTable.c.name, SystemTable.c.family)
        .join(RunTable, RunTable.c.study_id == SystemTable.c.study_id)
        .where(RunTable.c.id == run.id)
        .order_by(SystemTable.c.name == QC, SystemTable.c.id)
    )
    return {row.name: row.family for row in connection.execute(query)}


def _analysis(connection: Connection, run: RunEntry) -> RunAnalysis | None:
    """Return the latest analysis of the run; None if there is none."""
    query = select(AnalysisTable.c.content).where(AnalysisTable.c.run_id == run.id)
    found = connection.execute(query).scalar_one_or_none()
    return None if found is None else RunAnalysis.model_validate_json(found)


def _row(
    worker: WorkerFacts,
    study: Study,
    auth: Auth,
    p: float | None,
    excluded: str | None,
    away: datetime | None,
) -> AssignmentRow:
    step, position = place_of(worker, study)
    here = worker.current if position is not None else None
    active = worker.status == "active"
    # A platform's completion code is the same for all workers, so it is not shown.
    earned = worker.status == "completed" or worker.left_with_report
    has_own_code = earned and study.recruiter is None
    return AssignmentRow(
        assignment=worker.assignment,
        worker=worker.worker,
        simulated=worker.simulated,
        status=worker.status,
        step=step,
        position=position,
        system=here.system if here else None,
        conversations_rated=worker.count("rated"),
        inputs=sum(held.inputs for held in worker.conversations),
        inputs_here=here.inputs if here else 0,
        p=p,
        failed_tries=here.failed_tries if here and active else 0,
        started_at=worker.agreed_at,
        active_at=worker.active_at,
        ended_at=worker.ended_at,
        away_since=away,
        excluded=excluded,
        left_with_report=worker.left_with_report,
        completion_code=auth.completion_code(worker.assignment) if has_own_code else None,
    )


@dataclass(frozen=True, slots=True)
class RunViewSources:
    """The parts of this process from which views of runs are made.

    `live` knows whose page is open, and `opened_bots` knows the states of bots' replicas.
    """

    store: Store
    auth: Auth
    live: LiveSessions
    opened_bots: OpenedBots
    public_url: str

    def run_view_context(self) -> RunViewContext:
        """Return the context of a view of a run at this moment."""
        live, bots = self.live, self.opened_bots
        return RunViewContext(
            self.public_url,
            self.auth,
            live.presence.away,
            bots.states,
            live.down,
            has_moderation=bots.moderation is not None,
            is_damaged=self.store.is_damaged,
        )


def seen_by(actor: Actor, run: RunDetail) -> RunDetail:
    """Return a run without the parts that `actor` may not see.

    Scores need the permission `analyse`, incidents need `read_transcripts`.
    """
    hidden = hidden_from(actor, run.study)
    changes: dict[str, Any] = {"workers": rows_for(hidden, run.workers)}
    if "analysis" in hidden:
        changes["analysis"] = None
    if "incidents" in hidden:
        changes["incidents"] = []
    return run.model_copy(update=changes)


def hidden_from(actor: Actor, study: str) -> set[str]:
    """Return the parts of a run that `actor` may not see."""
    needed: dict[str, Permission] = {"analysis": "analyse", "incidents": "read_transcripts"}
    return {part for part, permission in needed.items() if not actor.may(permission, study)}


def rows_for(hidden: set[str], rows: Iterable[AssignmentRow]) -> list[AssignmentRow]:
    """Return the rows of workers, without p values if `hidden` has the analysis."""
    return [row.model_copy(update={"p": None}) for row in rows] if "analysis" in hidden else list(rows)
