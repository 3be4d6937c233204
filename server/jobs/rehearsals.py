"""Rehearsals: simulated workers take part in a study, in a separate run, to forecast its results."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, assert_never

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Connection, func, select

from bots.serving import FittedRaterModel
from server.bots.opening import OpenRuns
from server.bots.planned_calls import BotCalls, Confirmation, by_bot, of_assignments
from server.clock import utc_now
from server.db.jobs import JobEntry, jobs_of
from server.db.runs.run_states import change_run, open_rehearsal, rehearsals_of
from server.db.runs.runs import RunEntry, find_run
from server.db.store import Store
from server.db.tables import AssignmentTable, ConversationTable
from server.errors import RehearsalRefused
from server.jobs.background import BackgroundJobs, Progress, Result
from server.jobs.child import ChildCommand, ChildFailed, ChildLimits, reading, run_child
from server.news import News
from server.study import Study, parse_study

LOOK_SECONDS = 1.0
_SERVED_LOOKS = 30  # checks until a new run is open here; the process opens new runs twice a second
_SPREAD = 0.2
_HONEST = 0.75


class RehearsalOptions(BaseModel):
    """Options of a rehearsal.

    `workers`: the number of simulated workers. `honest`: the share of them that rate by quality; the others
    rate at random and should fail the filter; the default is that of the `model`, or 0.75. `model`: how the
    workers of another run rate, as written by `candor plan workers --model`; systems of that run keep their
    quality there, regardless of `spread`. `spread`: the distance between the best and the worst system, on a
    scale from 0 to 1; the default is the study's `simulate` section, or 0.2 without one. `planned`: the
    number of people who will take part later. `pay`: the pay of an assignment; `fee`: the platform's fee as a
    share of it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    workers: int = Field(40, ge=5, le=1000, strict=True)
    honest: float | None = Field(None, ge=0.1, le=1, strict=True)
    model: FittedRaterModel | None = None
    spread: float | None = Field(None, ge=0, le=1, strict=True)
    planned: int | None = Field(None, ge=2, le=100_000, strict=True)
    pay: float | None = Field(None, ge=0, le=1_000_000, strict=True)
    fee: float = Field(0.0, ge=0, le=10, strict=True)
    seed: int = Field(1, ge=0, lt=2**53, strict=True)


@dataclass(frozen=True, slots=True)
class Crowd:
    """This server's local address, and a token, for simulated workers."""

    url: str
    token: str


class Rehearsals:
    """Carries out rehearsals, one per study at a time.

    Args:
        store: the database.
        jobs: runs the jobs.
        served: the open runs of this process.
        news: announces new runs to other processes, so that they open them sooner.
        url: the database's URL, for the child process that computes the forecast.
        crowd: address and token for simulated workers.
        limits: the limits of each child process.
    """

    def __init__(
        self,
        store: Store,
        jobs: BackgroundJobs,
        served: OpenRuns,
        news: News,
        url: str,
        crowd: Crowd,
        limits: ChildLimits,
    ) -> None:
        self._store = store
        self._jobs = jobs
        self._served = served
        self._news = news
        self._url = url
        self._crowd = crowd
        self._limits = limits

    async def start(
        self,
        text: str,
        options: RehearsalOptions,
        note: Callable[[Connection], None],
        confirmation: Confirmation,
    ) -> JobEntry:
        """Start a rehearsal and return its job. `note` runs in the transaction that stores the job.

        Raises:
            StudyInvalid: the study has mistakes.
            RehearsalRefused: its workers do not chat or cannot be tested, or it has fewer slots than
                simulated workers.
            JobUnderWay: a rehearsal of this study is running.
            NeedsConfirmation: it may cost money, and that is not confirmed.
        """
        study = parse_study(text)
        _require_rehearsable(study, options.workers)
        calls = await self._store.read(lambda c: of_assignments(c, study, options.workers))
        confirmation.require(f"A rehearsal of “{study.name}” with {options.workers} simulated workers", calls)
        quality = _quality(study, options)
        opened: list[RunEntry] = []

        def prepare(connection: Connection) -> int:
            opened[:] = [open_rehearsal(connection, text, quality, utc_now())]
            note(connection)
            return opened[0].id

        async def work(progress: Progress) -> Result:
            try:
                return await self._rehearse(study, opened[0], options, progress)
            finally:
                await asyncio.shield(self._close(opened[0]))

        asked = options.model_dump() | {"quality": quality}
        entry = await self._jobs.start("rehearsal", study.name, asked, prepare, work)
        self._news.publish("runs", {})
        return entry

    async def planned(self, text: str, workers: int) -> list[BotCalls]:
        """Return the calls of each bot in a rehearsal, paid or not. Raises StudyInvalid, RehearsalRefused."""
        study = parse_study(text)
        _require_rehearsable(study, workers)
        return await self._store.read(lambda c: by_bot(c, study, workers))

    async def of_study(self, study: str) -> list[JobEntry]:
        """Return the rehearsals of a study, newest first."""
        return await self._store.read(lambda c: jobs_of(c, "rehearsal", rehearsals_of(c, study)))

    async def of_run(self, run: str) -> list[JobEntry]:
        """Return the rehearsals of a run's study, newest first. Raises RunNotFound."""
        entry = await self._store.read(lambda connection: find_run(connection, run))
        return await self.of_study(parse_study(entry.yaml).name)

    async def _rehearse(
        self, study: Study, run: RunEntry, options: RehearsalOptions, progress: Progress
    ) -> Result:
        total = options.workers * study.conversations
        progress.tell("Opening the chatbots", 0, total)
        await self._wait_until_served(run)
        watching = asyncio.get_running_loop().create_task(self._watch(run, progress, total))
        try:
            trouble = await self._send_crowd(run, options)
        finally:
            watching.cancel()
        progress.tell("Making the forecast", total, total)
        forecast = await self._forecast(study, run, options)
        return {"forecast": _with_model(forecast, study, options), "trouble": trouble}

    async def _wait_until_served(self, run: RunEntry) -> None:
        """Wait until the run admits workers. Raises ChildFailed if it does not."""
        for _ in range(_SERVED_LOOKS):
            if run.id in self._served or self._served.refusal(run.id) is not None:
                break
            await asyncio.sleep(LOOK_SECONDS)
        else:
            raise ChildFailed("the run of the rehearsal was not opened in time. Try again later.")
        if (refusal := self._served.refusal(run.id)) is not None:
            raise ChildFailed(refusal)

    async def _send_crowd(self, run: RunEntry, options: RehearsalOptions) -> str | None:
        """Run the simulated workers; return the error of those that failed, if any."""
        honest = _HONEST if options.honest is None and options.model is None else options.honest
        arguments = ["--url", f"{self._crowd.url}/w/{run.slug}", "--workers", str(options.workers)]
        arguments += ["--seed", str(options.seed), "--yes"]
        if honest is not None:
            arguments += ["--mix", f"honest={honest:g},random={1 - honest:g}"]
        said: list[str] = []
        variables = {"CANDOR_TOKEN": self._crowd.token, "COLUMNS": "1000"}
        try:
            with TemporaryDirectory() as folder:
                if options.model is not None:
                    model = Path(folder) / "model.json"
                    model.write_text(options.model.model_dump_json(), encoding="utf-8")
                    arguments += ["--model", str(model)]
                await run_child(ChildCommand("bots.crowd", arguments, variables), self._limits, said.append)
        except ChildFailed as error:
            # The crowd's summary has the errors of its workers.
            reason = next((line.strip() for line in said if " failed: " in line), str(error))
            if not await self._store.read(lambda connection: _submitted(connection, run)):
                raise ChildFailed(f"no simulated worker has finished; {reason}") from error
            return reason
        return None

    async def _watch(self, run: RunEntry, progress: Progress, total: int) -> None:
        while True:
            done = await self._store.read(lambda connection: _rated(connection, run))
            progress.tell("Simulated workers take part", min(done, total), total)
            await asyncio.sleep(LOOK_SECONDS)

    async def _forecast(self, study: Study, run: RunEntry, options: RehearsalOptions) -> Mapping[str, Any]:
        source, variables = reading(self._url)
        planned = options.planned or study.assignments or options.workers
        arguments = [source, "--run", run.slug, "--workers", str(planned)]
        arguments += ["--conversations", str(study.conversations), "--inputs", str(study.minimum_inputs)]
        arguments += ["--fee", f"{options.fee:g}"]
        if options.pay is not None:
            arguments += ["--pay", f"{options.pay:g}"]
        said: list[str] = []
        await run_child(ChildCommand("qc.planning.outlook", arguments, variables), self._limits, said.append)
        found: Mapping[str, Any] = json.loads(said[-1])
        return found

    async def _close(self, run: RunEntry) -> None:
        await self._store.submit(lambda c: change_run(c, run.slug, "close", "The rehearsal is over."))


def _with_model(forecast: Mapping[str, Any], study: Study, options: RehearsalOptions) -> Mapping[str, Any]:
    """Return the forecast with a sentence about the model of raters, if there is one."""
    if options.model is None:
        return forecast
    strangers = [spec.name for spec in study.systems if spec.name not in options.model.systems]
    said = "Workers rate as those of the run that the model was fitted to"
    said += f", which did not have {', '.join(strangers)}." if strangers else "."
    return {**forecast, "assumed": [*forecast["assumed"], said]}


def _require_rehearsable(study: Study, workers: int) -> None:
    match study.task:
        case "chat":
            work = None
        case "side_by_side":
            work = "compare two chatbots"
        case "transcripts":
            work = "rate what others have said"
        case _:
            assert_never(study.task)
    if work is not None:
        raise RehearsalRefused(
            f"Workers of this study {work}, but a forecast needs ratings of single chats",
            "Set the qualities of simulated workers, open a run, and send them there: candor crowd --url.",
        )
    if not study.qc_per_assignment:
        raise RehearsalRefused(
            "Workers of this study cannot be tested, but a forecast needs workers who pass",
            "Add a conversation with the quality-control bot to each assignment.",
        )
    if study.assignments is not None and study.assignments < workers:
        raise RehearsalRefused(
            f"{workers} simulated workers need a slot each, but the study has {study.assignments}",
            "Rehearse with fewer simulated workers. The forecast can be for more people than are simulated.",
        )


def _quality(study: Study, options: RehearsalOptions) -> dict[str, float]:
    """Return each system's quality for simulated workers, 0 to 1: as in the study, or evenly spaced."""
    if options.spread is None and study.simulate is not None:
        return dict(study.simulate.quality)
    spread, last = _SPREAD if options.spread is None else options.spread, max(len(study.systems) - 1, 1)
    return {spec.name: 0.5 + spread * (0.5 - place / last) for place, spec in enumerate(study.systems)}


def _rated(connection: Connection, run: RunEntry) -> int:
    query = (
        select(func.count())
        .select_from(ConversationTable)
        .join(AssignmentTable, AssignmentTable.c.id == ConversationTable.c.assignment_id)
    )
    over = ConversationTable.c.status.in_(("rated", "unrated", "skipped"))
    return int(connection.execute(query.where(AssignmentTable.c.run_id == run.id, over)).scalar_one())


def _submitted(connection: Connection, run: RunEntry) -> int:
    query = select(func.count()).select_from(AssignmentTable)
    return int(
        connection.execute(
            query.where(AssignmentTable.c.run_id == run.id, AssignmentTable.c.status == "completed")
        ).scalar_one()
    )
